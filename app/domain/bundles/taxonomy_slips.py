"""Slips in the tree of a bundle's taxonomy: where a level or an attribute is left out for a problem, what the site has
under its id stays, so that a slip costs no product a value. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from app.domain.taxonomy.stored_tree import stored_records
from app.domain.taxonomy.validation.level_drafts import StructureProblem
from app.domain.taxonomy.validation.structure import CheckedStructure, check_structure, ids_of, patterns_of

Levels = Sequence[Mapping[str, Any]]


def check_over_stored(
    raw: Sequence[Any], root_levels: Levels, pointer: str
) -> tuple[CheckedStructure, list[StructureProblem]]:
    """Check a tree that is to replace the stored `root_levels`, and return it with every problem. The stored records
    stand in it for those that are left out; where even these do not fit, nothing does."""
    first = check_structure(raw, pointer=pointer)
    problems = [*first.problems, *first.further]
    if not problems or not root_levels or any(problem.record == "#" for problem in problems):
        return first, problems
    mended = _StandIns({problem.record for problem in problems}, root_levels).levels(raw, pointer)
    again = check_structure(mended, ids_of(root_levels), pointer, known_patterns=patterns_of(root_levels))
    return again, list(dict.fromkeys([*problems, *again.problems, *again.further]))


class _StandIns:
    """The stored records that stand in for the `refused` ones, by the pointers to these."""

    def __init__(self, refused: Collection[str], root_levels: Levels) -> None:
        self._refused = refused
        self._stored = {level["levelId"]: level for level in stored_records(root_levels)}

    def levels(self, raw: Sequence[Any], at: str) -> list[Any]:
        return [self._level(level, f"{at}/{place}") for place, level in enumerate(raw)]

    def _level(self, raw: Any, at: str) -> Any:
        stored = self._stored.get(_id_of(raw, "levelId"))
        if at in self._refused:
            return raw if stored is None else _without_place(stored)
        if not isinstance(raw, dict):
            return raw
        known = {found["attributeId"]: found for found in (stored or {}).get("attributes") or ()}
        attributes = [
            known.get(_id_of(attribute, "attributeId"), attribute)
            if f"{at}/attributes/{place}" in self._refused
            else attribute
            for place, attribute in enumerate(raw.get("attributes") or ())
        ]
        return raw | {"attributes": attributes, "children": self.levels(raw.get("children") or (), f"{at}/children")}


def _id_of(raw: Any, name: str) -> str:
    found = raw.get(name) if isinstance(raw, dict) else None
    return found if isinstance(found, str) else ""


def _without_place(level: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored level without its place, which in the bundle may be another."""
    return {name: value for name, value in level.items() if name not in ("parentLevelId", "displayOrder")}
