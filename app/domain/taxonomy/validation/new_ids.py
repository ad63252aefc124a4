"""The ids of new records: blank ones and `new-…` become slugs of the names.

No new record gets the id of one that is left out and that products still name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from app.domain.shared.addresses import slug
from app.domain.taxonomy.tree import Attribute, Level, TaxonomyTree

PARAMETERS = ("p", "q", "sort", "pageSizeOverride", "price_min", "price_max")
BUILT_IN_FACETS = ("manufacturer", "price", "rating", "onSale", "inStock", "featured")
INDEX_NAMES = ("category", "level", "collection", "sku", "createdAt")
TRACKING = ("gclid", "gbraid", "wbraid", "dclid", "fbclid", "msclkid", "mc_cid", "mc_eid", "_gl", "_ga")
RESERVED = frozenset(name.casefold() for name in (*PARAMETERS, *BUILT_IN_FACETS, *INDEX_NAMES, *TRACKING))
LONGEST_GENERATED_ID = 50
NEW = "new-"
InUse = Mapping[str, Collection[str]]  # By the id of a level that products may name, the attribute ids they may hold.
NOTHING_IN_USE: InUse = {}


def is_reserved(attribute_id: str) -> bool:
    """Whether an attribute cannot have the id, since addresses and the index use it for something else."""
    folded = attribute_id.casefold()
    return folded in RESERVED or folded.startswith("utm_")


@dataclass(frozen=True, slots=True)
class NewIds:
    """The ids that new records of a sent tree get: of levels by their places, of attributes by the place of their level
    and their number on it. `replaced` are the new ids by the `new-…` ids that they replace."""

    levels: Mapping[str, str] = field(default_factory=dict)
    attributes: Mapping[tuple[str, int], str] = field(default_factory=dict)
    replaced: Mapping[str, str] = field(default_factory=dict)

    def of_level(self, place: str, level: Level) -> str:
        return self.levels.get(place, level.id)

    def of_attribute(self, level_place: str, number: int, attribute: Attribute) -> str:
        return self.attributes.get((level_place, number), attribute.id)


NO_NEW_IDS = NewIds()


def new_ids(tree: TaxonomyTree, existing: frozenset[str], in_use: InUse = NOTHING_IN_USE) -> NewIds:
    """Return the ids of the new records of a tree whose levels go by their places. `existing` ids are no new ones,
    whatever their form."""
    every = tree.levels.values()
    sent = {level.id for level in every}.union(attribute.id for level in every for attribute in level.attributes)
    if not any(_is_new(record_id, existing) for record_id in sent):
        return NO_NEW_IDS
    return _Naming(tree, existing, in_use).run()


def _is_new(record_id: str, existing: Collection[str]) -> bool:
    return not record_id or (record_id.startswith(NEW) and record_id not in existing)


class _TakenIds:
    """Ids that new records cannot get. A generated one never begins like the id of a new record."""

    def __init__(self, taken: Collection[str], avoids_reserved: bool = False) -> None:
        self._all = set(taken)
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
        self._all.add(found)
        return found

    def _is_taken(self, record_id: str) -> bool:
        return record_id in self._all or (self._avoids_reserved and is_reserved(record_id))


@dataclass(frozen=True, slots=True)
class _IdsAbove:
    """The attribute ids of the levels above, and those of new attributes among them by the `new-…` ids that they
    replaced."""

    ids: frozenset[str] = frozenset()
    replaced: Mapping[str, str] = field(default_factory=dict)


class _Naming:
    def __init__(self, tree: TaxonomyTree, existing: frozenset[str], in_use: InUse) -> None:
        self._tree = tree
        self._existing = existing
        self._in_use = in_use
        self._levels: dict[str, str] = {}
        self._attributes: dict[tuple[str, int], str] = {}
        self._replaced: dict[str, str] = {}
        self._left_behind: dict[str, set[str]] = {}

    def run(self) -> NewIds:
        taken = _TakenIds({level.id for level in self._tree.levels.values()} | self._in_use.keys())
        for place, level in self._tree.levels.items():
            if _is_new(level.id, self._existing):
                self._levels[place] = fresh = taken.fresh(level.name, "level")
                if level.id:
                    self._replaced[level.id] = fresh
        roots = self._tree.siblings(None)
        for place in roots if self._in_use else ():
            self._find_left_behind(place, frozenset())
        for place in roots:
            self._name_attributes_of_branch(place, _IdsAbove())
        return NewIds(self._levels, self._attributes, self._replaced)

    def _find_left_behind(self, place: str, above: frozenset[str]) -> set[str]:
        """Note, for a level and those below it, the attribute ids that products there may hold values of and that
        nothing defines there any more."""
        level = self._tree.levels[place]
        here = above | {one.id for one in level.attributes if not _is_new(one.id, self._existing)}
        left = set(self._in_use.get(self._levels.get(place, level.id), ())) - here
        for child in self._tree.siblings(place):
            left |= self._find_left_behind(child, here)
        self._left_behind[place] = left
        return left

    def _name_attributes_of_branch(self, place: str, above: _IdsAbove) -> None:
        if self._tree.levels[place].attributes:
            above = self._name_attributes(place, above)
            self._replaced.update(above.replaced)
        for child in self._tree.siblings(place):
            self._name_attributes_of_branch(child, above)

    def _name_attributes(self, place: str, above: _IdsAbove) -> _IdsAbove:
        """Give the new attributes of a level their ids, and return the ids for the levels below. One that was sent with
        the same id as a new attribute above overrides that."""
        attributes = self._tree.levels[place].attributes
        own = {attribute.id for attribute in attributes if not _is_new(attribute.id, self._existing)}
        taken = _TakenIds(above.ids.union(own, self._left_behind.get(place, ())), avoids_reserved=True)
        replaced: dict[str, str] = {}
        for number, attribute in enumerate(attributes):
            if not _is_new(attribute.id, self._existing):
                continue
            named = above.replaced.get(attribute.id)
            if named is None or named in own:
                named = taken.fresh(attribute.name, "attribute")
            own.add(named)
            self._attributes[place, number] = named
            if attribute.id:
                replaced[attribute.id] = named
        return _IdsAbove(above.ids | own, {**above.replaced, **replaced})
