"""Normalisation of a tree: ids of new records, outer spaces, duplicate values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from app.domain.shared.addresses import slug
from app.domain.taxonomy.validation.reserved import is_reserved
from app.domain.taxonomy.validation.sent import AttributeDraft, LevelDraft, every_level

LONGEST_GENERATED_ID = 50
NEW = "new-"
InUse = Mapping[str, Collection[str]]  # By the id of a level that products may name, the attribute ids they may hold.
NOTHING_IN_USE: InUse = {}


def normalise(
    levels: list[LevelDraft], existing_ids: Collection[str] = (), in_use: InUse = NOTHING_IN_USE
) -> dict[str, str]:
    """Normalise the levels: blank and `new-…` ids that are not existing ones become slugs of the names; allowed values
    and other names are trimmed and kept once each. No new record gets the id of one that is left out and that products
    still name. Returns the new ids by the ids they replace."""
    existing, every = frozenset(existing_ids), list(every_level(levels))
    sent = {level.id for level in every}.union(attribute.id for level in every for attribute in level.attributes)
    are_new = any(_is_new(record_id, existing) for record_id in sent)
    ids = _name_records(levels, every, existing, in_use) if are_new else {}
    for level in every:
        level.other_names = _trimmed_once(level.other_names)
        for attribute in level.attributes:
            attribute.allowed_values = _trimmed_once(attribute.allowed_values)
    return ids


def _name_records(
    levels: list[LevelDraft], every: list[LevelDraft], existing: frozenset[str], in_use: InUse
) -> dict[str, str]:
    """Give the new records their ids; return these by the ids they replace."""
    ids: dict[str, str] = {}
    taken = _TakenIds({level.id for level in every} | in_use.keys())
    for level in every:
        if _is_new(level.id, existing):
            _name_level(level, taken.fresh(level.name, "level"), ids)
    known = _Known(existing, _left_behind(levels, existing, in_use) if in_use else {})
    for level in levels:
        _name_attributes_of_branch(level, _Above(), known, ids)
    return ids


def _left_behind(levels: list[LevelDraft], existing: frozenset[str], in_use: InUse) -> dict[str, set[str]]:
    """Return, by the id of each level, the attribute ids that products of it or of a level below may hold values of,
    and that nothing defines there any more."""
    found: dict[str, set[str]] = {}

    def look(level: LevelDraft, above: frozenset[str]) -> set[str]:
        here = above | {attribute.id for attribute in level.attributes if not _is_new(attribute.id, existing)}
        left = set(in_use.get(level.id, ())) - here
        for child in level.children:
            left |= look(child, here)
        found[level.id] = left
        return left

    for level in levels:
        look(level, frozenset())
    return found


def _is_new(record_id: str, existing: Collection[str]) -> bool:
    return not record_id or (record_id.startswith(NEW) and record_id not in existing)


def _name_level(level: LevelDraft, fresh: str, ids: dict[str, str]) -> None:
    """Give a level its new id. Levels below may call it by the id it was sent with."""
    for child in level.children:
        if level.id and child.parent_id == level.id:
            child.parent_id = fresh
    if level.id:
        ids[level.id] = fresh
    level.id = fresh


class _TakenIds:
    """Ids that new records cannot get. A generated one never begins like the id of a new record."""

    def __init__(self, taken: Collection[str], avoids_reserved: bool = False) -> None:
        self.all = set(taken)
        self._avoids_reserved = avoids_reserved
        self._numbers: dict[str, int] = {}

    def fresh(self, name: str, fallback: str) -> str:
        """The name as an id, with the first number that makes it a free one."""
        wanted = slug(name, fallback)[:LONGEST_GENERATED_ID].rstrip("-")
        if wanted.startswith(NEW):
            wanted = "new_" + wanted.removeprefix(NEW)
        number = self._numbers.get(wanted, 1)
        joint = "_" if f"{wanted}-" == NEW else "-"
        while self._is_taken(found := wanted if number == 1 else f"{wanted}{joint}{number}"):
            number += 1
        self._numbers[wanted] = number
        self.all.add(found)
        return found

    def _is_taken(self, record_id: str) -> bool:
        return record_id in self.all or (self._avoids_reserved and is_reserved(record_id))


class _Known(NamedTuple):
    """`existing` ids are no new ones whatever their form. `left_behind` are attribute ids by level, as `_left_behind`
    gives them."""

    existing: frozenset[str]
    left_behind: Mapping[str, Collection[str]]


class _Above:
    """The attribute ids of the levels above, and those of new attributes among them by the `new-…` ids that they
    replaced."""

    def __init__(self, ids: Collection[str] = (), replaced: Mapping[str, str] | None = None) -> None:
        self.ids = frozenset(ids)
        self.replaced = replaced or {}


def _name_attributes_of_branch(level: LevelDraft, above: _Above, known: _Known, ids: dict[str, str]) -> None:
    if level.attributes:
        above = _name_attributes(level, above, known)
        ids.update(above.replaced)
    for child in level.children:
        _name_attributes_of_branch(child, above, known, ids)


def _name_attributes(level: LevelDraft, above: _Above, known: _Known) -> _Above:
    """Give the new attributes of a level their ids, and return the ids for the levels below. One that was sent with the
    same id as a new attribute above overrides that."""
    own = {attribute.id for attribute in level.attributes if not _is_new(attribute.id, known.existing)}
    taken = _TakenIds(above.ids.union(own, known.left_behind.get(level.id, ())), avoids_reserved=True)
    replaced: dict[str, str] = {}
    for attribute in level.attributes:
        if _is_new(attribute.id, known.existing):
            _name_attribute(attribute, above, own, taken, replaced)
    return _Above(above.ids | own, {**above.replaced, **replaced})


def _name_attribute(
    attribute: AttributeDraft, above: _Above, own: set[str], taken: _TakenIds, replaced: dict[str, str]
) -> None:
    sent = attribute.id
    overridden = above.replaced.get(sent)
    if overridden is None or overridden in own:
        attribute.id = taken.fresh(attribute.name, "attribute")
    else:
        attribute.id = overridden
    own.add(attribute.id)
    if sent:
        replaced[sent] = attribute.id


def _are_trimmed_once(texts: list[Any]) -> bool:
    """Whether nothing is to be done, as is the case with nearly all lists."""
    try:
        return len(set(texts)) == len(texts) and [*map(str.strip, texts)] == texts
    except TypeError:
        return False


def _trimmed_once(values: dict[int, Any]) -> dict[int, Any]:
    """Return the texts trimmed and once each, by place. Values that are no texts stay, for validation to report."""
    texts = list(values.values())
    if _are_trimmed_once(texts):
        return values
    seen: set[str] = set()
    kept: dict[int, Any] = {}
    for place, value in values.items():
        if isinstance(value, str):
            value = value.strip()
            if value in seen:
                continue
            seen.add(value)
        kept[place] = value
    return kept
