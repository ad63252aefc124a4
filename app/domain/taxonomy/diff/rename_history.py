"""Renames of allowed values between two revisions of a taxonomy, by the renames that every save between them recorded.
Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from app.domain.taxonomy.levels.flat import FlatLevels, attribute_of, path
from app.domain.taxonomy.levels.renames import ValueRename

Definition = tuple[str, str]  # The ids of a level and of an attribute that it defines.
Words = Mapping[Definition, Mapping[str, str]]  # Later words by earlier ones.
Saves = Iterable[Iterable[ValueRename]]  # The renames of each save, the oldest first.


def renames_on(saves: Saves, earlier: FlatLevels, later: FlatLevels) -> list[ValueRename]:
    """Return the renames that lead from the tree `earlier` to the tree `later`, by the definitions of the later one."""
    words = _followed(saves)
    return [
        ValueRename(*definition, was, became)
        for definition, offered, before in _definitions(words, later, earlier)
        for was, became in words[before].items()
        if was != became and was in _offered(earlier, before) and became in offered
    ]


def renames_back(saves: Saves, earlier: FlatLevels, later: FlatLevels) -> list[ValueRename]:
    """Return the renames that lead from the tree `later` back to the tree `earlier`, by the definitions of the earlier
    one. Where two values became one, that becomes the first of them again; a value that was merged into an existing one
    stays merged."""
    words = _followed(saves)
    found: dict[tuple[Definition, str], ValueRename] = {}
    for definition, offered, after in _definitions(words, earlier, later):
        became_of = words[after]
        now = _offered(later, after)
        for was in offered:
            became = became_of.get(was, was)
            stayed = became in offered and became_of.get(became, became) == became
            if became != was and became in now and not stayed:
                found.setdefault((definition, became), ValueRename(*definition, became, was))
    return list(found.values())


def _followed(saves: Saves) -> Words:
    """Return the last word for each first word, followed through the saves. A word that was renamed and then given to a
    new value is not followed for that value. All renames of one save happen at once, so two words can change places."""
    found: dict[Definition, dict[str, str]] = {}
    for renames in saves:
        for definition, words in _by_definition(renames).items():
            known = found.get(definition, {})
            moved = {was: words.get(word, word) for was, word in known.items()}
            found[definition] = {was: became for was, became in words.items() if was not in known} | moved
    return found


def _by_definition(renames: Iterable[ValueRename]) -> dict[Definition, dict[str, str]]:
    found: dict[Definition, dict[str, str]] = {}
    for rename in renames:
        found.setdefault((rename.level_id, rename.attribute_id), {})[rename.value] = rename.renamed
    return found


def _definitions(
    words: Words, wanted: FlatLevels, other: FlatLevels
) -> Iterator[tuple[Definition, list[Any], Definition]]:
    """Yield the definitions of the tree `wanted` whose products had values renamed: each with the values that it
    offers, and the definition that holds for the same products in the tree `other`, which may stand on a level
    above."""
    attribute_ids = {attribute_id for _, attribute_id in words}
    for level_id, level in wanted.items() if attribute_ids else ():
        for attribute in level["attributes"]:
            attribute_id = attribute["attributeId"]
            if attribute_id not in attribute_ids:
                continue
            way = reversed(path(other, level_id)) if level_id in other else ()
            there = (next((above for above in way if attribute_of(other[above], attribute_id)), ""), attribute_id)
            if there in words:
                yield (level_id, attribute_id), attribute.get("allowedValues") or [], there


def _offered(levels: FlatLevels, definition: Definition) -> list[Any]:
    level_id, attribute_id = definition
    attribute = attribute_of(levels[level_id], attribute_id) if level_id in levels else None
    return (attribute or {}).get("allowedValues") or []
