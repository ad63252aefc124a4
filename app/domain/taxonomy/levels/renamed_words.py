"""Other words for values: what the saves of a taxonomy renamed, by the levels whose products are concerned. Pure.

The parameters of a task of the kind RENAME_VALUES have `renames`, a list of `levelId`, `attributeId`, `value` and
`renamed` that names definitions; and `governed`, which says for each of these, as `levelIds`, for which levels it was
the nearest when it was saved. A structure that is saved later does not change what the products' words meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Words = Mapping[str, str]  # Other words by value.
Renames = Mapping[tuple[str, str], Words]  # By the id of a product's level and that of an attribute.


def by_level(parameters: Mapping[str, Any]) -> dict[tuple[str, str], Words]:
    """Return the renamed values of one save, by the ids of level and attribute."""
    definitions: dict[tuple[str, str], dict[str, str]] = {}
    for rename in parameters["renames"]:
        words = definitions.setdefault((rename["levelId"], rename["attributeId"]), {})
        words[rename["value"]] = rename["renamed"]
    return {
        (level_id, found["attributeId"]): definitions[found["levelId"], found["attributeId"]]
        for found in parameters["governed"]
        for level_id in found["levelIds"]
    }


def one_after_another(saves: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], Words]:
    """Return the last words for the words of the first save and of every save between. The renames of one save happen
    at once, so two words can change places; of a word that was given anew and renamed again the last counts."""
    found: dict[tuple[str, str], Words] = {}
    made: dict[tuple[int, int], Words] = {}  # Most levels share their words.
    for parameters in saves:
        for key, words in by_level(parameters).items():
            earlier = found.get(key, words)
            known = id(earlier), id(words)
            if known not in made:
                moved = {value: words.get(word, word) for value, word in earlier.items()}
                made[known] = words if earlier is words else {**moved, **words}
            found[key] = made[known]
    return found


def in_other_words(value: Any, words: Mapping[str, str]) -> Any:
    """Return the value in its new words; a list keeps its order and repeats nothing."""
    if isinstance(value, list):
        return list(dict.fromkeys(words.get(item, item) if isinstance(item, str) else item for item in value))
    return words.get(value, value) if isinstance(value, str) else value
