"""Allowed values that got another name or were merged into another, which products follow. Pure.

A draft carries renames in its attributes: `renamed_values` maps the new value to the stored one, `merged_values` the
stored one to the value that it becomes.

The parameters of a task of the kind RENAME_VALUES have `renames`, a list of `levelId`, `attributeId`, `value` and
`renamed` that names definitions; and `governed`, which says for each of these, as `levelIds`, for which levels it was
the nearest when it was saved. A structure that is saved later does not change what the products' words meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.domain.taxonomy.tree import Level, TaxonomyTree, Words

Definition = tuple[str, str]  # The ids of a level and of an attribute that it defines.
LastWords = Mapping[Definition, Mapping[str, str]]  # Later words by earlier ones.


@dataclass(frozen=True, slots=True)
class ValueRename:
    """The rename of an allowed value. `value` is the stored one, `renamed` the one that products are to hold from now
    on."""

    level_id: str
    attribute_id: str
    value: str
    renamed: str

    def as_json(self) -> dict[str, str]:
        place = {"levelId": self.level_id, "attributeId": self.attribute_id}
        return place | {"value": self.value, "renamed": self.renamed}

    @classmethod
    def read(cls, stored: Mapping[str, str]) -> ValueRename:
        return cls(stored["levelId"], stored["attributeId"], stored["value"], stored["renamed"])


def draft_renames(levels: Iterable[Level]) -> list[ValueRename]:
    """Return the renames that levels of a draft carry."""
    return [
        ValueRename(level.id, attribute.id, value, renamed)
        for level in levels
        for attribute in level.attributes
        for value, renamed in (
            *((value, renamed) for renamed, value in attribute.renamed_values.items()),
            *attribute.merged_values.items(),
        )
    ]


def without_renames(tree: TaxonomyTree) -> TaxonomyTree:
    """Return the tree of a draft as a save would store it, without the renames that it carries."""
    return TaxonomyTree.of(
        replace(level, attributes=tuple(replace(one, renamed_values={}, merged_values={}) for one in level.attributes))
        if any(one.renamed_values or one.merged_values for one in level.attributes)
        else level
        for level in tree.levels.values()
    )


def words_of_save(parameters: Mapping[str, Any]) -> dict[tuple[str, str], Words]:
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


def words_of_saves(saves: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], Words]:
    """Return the last words for the words of the first save and of every save between. The renames of one save happen
    at once, so two words can change places; of a word that was given anew and renamed again the last counts."""
    found: dict[tuple[str, str], Words] = {}
    made: dict[tuple[int, int], Words] = {}  # Most levels share their words.
    for parameters in saves:
        for key, words in words_of_save(parameters).items():
            earlier = found.get(key, words)
            known = id(earlier), id(words)
            if known not in made:
                moved = {value: words.get(word, word) for value, word in earlier.items()}
                made[known] = words if earlier is words else {**moved, **words}
            found[key] = made[known]
    return found


def replace_words(value: Any, words: Mapping[str, str]) -> Any:
    """Return the value in its new words; a list keeps its order and repeats nothing."""
    if isinstance(value, list):
        return list(dict.fromkeys(words.get(item, item) if isinstance(item, str) else item for item in value))
    return words.get(value, value) if isinstance(value, str) else value


Saves = Iterable[Iterable[ValueRename]]  # The renames of each save, the oldest first.


def renames_on(saves: Saves, earlier: TaxonomyTree, later: TaxonomyTree) -> list[ValueRename]:
    """Return the renames that lead from the tree `earlier` to the tree `later`, by the definitions of the later one."""
    words = _last_words(saves)
    return [
        ValueRename(*definition, was, became)
        for definition, offered, before in _definitions(words, later, earlier)
        for was, became in words[before].items()
        if was != became and was in earlier.offered_values(*before) and became in offered
    ]


def renames_back(saves: Saves, earlier: TaxonomyTree, later: TaxonomyTree) -> list[ValueRename]:
    """Return the renames that lead from the tree `later` back to the tree `earlier`, by the definitions of the earlier
    one. Where two values became one, that becomes the first of them again; a value that was merged into an existing one
    stays merged."""
    words = _last_words(saves)
    found: dict[tuple[Definition, str], ValueRename] = {}
    for definition, offered, after in _definitions(words, earlier, later):
        became_of = words[after]
        now = later.offered_values(*after)
        for was in offered:
            became = became_of.get(was, was)
            stayed = became in offered and became_of.get(became, became) == became
            if became != was and became in now and not stayed:
                found.setdefault((definition, became), ValueRename(*definition, became, was))
    return list(found.values())


def _last_words(saves: Saves) -> LastWords:
    """Return the last word for each first word, followed through the saves. A word that was renamed and then given to a
    new value is not followed for that value. All renames of one save happen at once, so two words can change places."""
    found: dict[Definition, dict[str, str]] = {}
    for renames in saves:
        for definition, words in words_by_definition(renames).items():
            known = found.get(definition, {})
            moved = {was: words.get(word, word) for was, word in known.items()}
            found[definition] = {was: became for was, became in words.items() if was not in known} | moved
    return found


def words_by_definition(renames: Iterable[ValueRename]) -> dict[Definition, dict[str, str]]:
    """Return the other words of the values of each definition."""
    found: dict[Definition, dict[str, str]] = {}
    for rename in renames:
        found.setdefault((rename.level_id, rename.attribute_id), {})[rename.value] = rename.renamed
    return found


def _definitions(
    words: LastWords, wanted: TaxonomyTree, other: TaxonomyTree
) -> Iterator[tuple[Definition, Sequence[str], Definition]]:
    """Yield the definitions of the tree `wanted` whose products had values renamed: each with the values that it
    offers, and the definition that holds for the same products in the tree `other`, which may stand on a level
    above."""
    attribute_ids = {attribute_id for _, attribute_id in words}
    for level in wanted.levels.values() if attribute_ids else ():
        for attribute in level.attributes:
            if attribute.id not in attribute_ids:
                continue
            way = reversed(other.path(level.id))
            there = (next((above.id for above in way if above.attribute(attribute.id)), ""), attribute.id)
            if there in words:
                yield (level.id, attribute.id), attribute.allowed_values, there
