"""A taxonomy as the shop queries it: levels by id, the path to each, and the attributes that hold there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from app.domain.taxonomy.levels.attribute import Attribute
from app.domain.taxonomy.levels.renamed_words import Renames
from app.domain.taxonomy.levels.stored_levels import made_once


@dataclass(frozen=True, slots=True)
class Level:
    """A kind of product. `attributes` are its own; those of the levels above hold as well. `other_names` are what else
    people call it."""

    id: str
    name: str
    parent_id: str | None = None
    description: str = ""
    attributes: tuple[Attribute, ...] = ()
    children: tuple[Level, ...] = ()
    display_order: int = 0
    other_names: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Every name, its own first."""
        return self.name, *self.other_names


class TaxonomyTree:
    """The tree of a taxonomy. `levels` come in tree order, every level before those below it. `former_words` are by the
    ids of a product's level and of an attribute."""

    def __init__(self, roots: Sequence[Level] = (), former_words: Renames | None = None) -> None:
        self.roots = tuple(roots)
        self.levels: dict[str, Level] = {level.id: level for root in roots for level in _with_those_below(root)}
        self._applicable: dict[str, Mapping[str, Attribute]] = {}
        self._former_words = former_words or {}

    @staticmethod
    def parse(root_levels: Sequence[Mapping[str, Any]]) -> TaxonomyTree:
        """Parse a tree from the stored form, which app/domain/taxonomy/validation/structure.py has checked."""
        return _tree(root_levels)

    def knowing(self, former_words: Renames) -> TaxonomyTree:
        """The same tree, whose attributes know these former words of their values and no others."""
        return TaxonomyTree(self.roots, former_words)

    def path(self, level_id: str) -> list[Level]:
        """The levels from the root down to this one; empty for an unknown level."""
        found: list[Level] = []
        level = self.levels.get(level_id)
        while level is not None:
            found.append(level)
            level = self.levels.get(level.parent_id) if level.parent_id is not None else None
        return found[::-1]

    def path_ids(self, level_id: str) -> list[str]:
        return [level.id for level in self.path(level_id)]

    def below(self, level_id: str) -> list[str]:
        """The ids of a level and of all below it; empty for an unknown level."""
        level = self.levels.get(level_id)
        return [] if level is None else [found.id for found in _with_those_below(level)]

    def applicable_attributes(self, level_id: str) -> Mapping[str, Attribute]:
        """Return the attributes by id, those of every level from the root down; the nearest definition of an id wins
        and takes its place in the order. Empty for an unknown level."""
        known = self._applicable.get(level_id)
        if known is None:
            nearest = {attribute.id: attribute for level in self.path(level_id) for attribute in level.attributes}
            known = {key: self._at(level_id, attribute) for key, attribute in nearest.items()}
            self._applicable[level_id] = known
        return known

    def rolled_up(self, direct: Mapping[str, int] | Mapping[str | None, int]) -> dict[str, int]:
        """Return for each level the sum of its own number and those of all levels below; numbers of unknown levels do
        not count."""
        sums = {level_id: direct.get(level_id, 0) for level_id in self.levels}
        for level in reversed(self.levels.values()):
            if level.parent_id is not None:
                sums[level.parent_id] += sums[level.id]
        return sums

    def attributes_by_id(self) -> Mapping[str, Sequence[Attribute]]:
        """Every definition of every attribute id, in tree order: the same id on several levels is one facet."""
        return self._definitions

    @cached_property
    def _definitions(self) -> Mapping[str, Sequence[Attribute]]:
        found: dict[str, list[Attribute]] = {}
        for level in self.levels.values():
            for attribute in level.attributes:
                found.setdefault(attribute.id, []).append(self._at(level.id, attribute))
        return found

    def governed(self, level_id: str, attribute_id: str) -> list[str]:
        """The ids of the levels for which the definition on one level is the nearest; empty for an unknown level."""
        found: list[str] = []
        waiting = [self.levels[level_id]] if level_id in self.levels else []
        while waiting:
            level = waiting.pop()
            found.append(level.id)
            waiting += [child for child in level.children if all(own.id != attribute_id for own in child.attributes)]
        return found

    def _at(self, level_id: str, attribute: Attribute) -> Attribute:
        words = self._former_words.get((level_id, attribute.id))
        return replace(attribute, former=words) if words else attribute


@made_once
def _tree(root_levels: Sequence[Mapping[str, Any]]) -> TaxonomyTree:
    return TaxonomyTree([_level(stored, None, order) for order, stored in enumerate(root_levels)])


def _level(stored: Mapping[str, Any], parent_id: str | None, order: int) -> Level:
    level_id = stored["levelId"]
    return Level(
        id=level_id,
        name=stored["name"],
        parent_id=parent_id,
        description=stored.get("description") or "",
        attributes=tuple(Attribute.read(attribute) for attribute in stored.get("attributes") or ()),
        children=tuple(_level(child, level_id, place) for place, child in enumerate(stored.get("children") or ())),
        display_order=order,
        other_names=tuple(stored.get("otherNames") or ()),
    )


def _with_those_below(level: Level) -> Iterator[Level]:
    yield level
    for child in level.children:
        yield from _with_those_below(child)
