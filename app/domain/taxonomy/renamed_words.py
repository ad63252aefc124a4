"""Other words for values: what the saves of a taxonomy renamed, by the definition that offers the values. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Renames = Mapping[tuple[str, str], Mapping[str, str]]  # Other words by value, by (level id, attribute id).


def by_definition(renames: Iterable[Mapping[str, str]]) -> dict[tuple[str, str], dict[str, str]]:
    """`renames` as a task of the kind RENAME_VALUES has them in its parameters."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for rename in renames:
        words = found.setdefault((rename["levelId"], rename["attributeId"]), {})
        words[rename["value"]] = rename["renamed"]
    return found


def one_after_another(saves: Iterable[Iterable[Mapping[str, str]]]) -> dict[tuple[str, str], dict[str, str]]:
    """What the words of the first save became by the last, and those of every save between. The renames of one save
    happen at once, so two words can change places; of a word that was given anew and renamed again the last counts."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for renames in saves:
        for definition, words in by_definition(renames).items():
            earlier = found.get(definition, {})
            found[definition] = {value: words.get(word, word) for value, word in earlier.items()} | words
    return found


def in_other_words(value: Any, words: Mapping[str, str]) -> Any:
    """A list keeps its order and tells nothing twice."""
    if isinstance(value, list):
        return list(dict.fromkeys(words.get(item, item) if isinstance(item, str) else item for item in value))
    return words.get(value, value) if isinstance(value, str) else value
