"""The arrangement of a tree's categories: their order, their parents and, from these, their addresses. Pure.

Every change makes a new arrangement of the old one, so that the caller can store what differs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from app.domain.merchandising.category_rules import DEEPEST, count_problems, depth_of, depth_problems, path_of
from app.domain.shared.problems import Invalid

NEW = 0  # The id of a category that is not stored yet; several count down from it.


@dataclass(frozen=True, slots=True)
class Place:
    """The place of one category. `position` counts among its siblings; `path` is the slugs from the root."""

    id: int
    parent_id: int | None
    position: int
    slug: str
    path: str


Arrangement = Mapping[int, Place]


class Direction(StrEnum):
    UP = "up"
    DOWN = "down"
    IN = "in"
    OUT = "out"


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a move: below a parent (None: at the top), before or behind a sibling there; without one as the
    last."""

    parent_id: int | None
    before_id: int | None = None
    after_id: int | None = None


def siblings(places: Arrangement, parent_id: int | None) -> list[int]:
    """Return the ids directly below a category, None for the top, in display order."""
    below = [place for place in places.values() if place.parent_id == parent_id]
    return [place.id for place in sorted(below, key=lambda place: (place.position, place.id))]


def branch(places: Arrangement, node_id: int) -> list[int]:
    """Return a category and all below it, parents first."""
    children: dict[int | None, list[int]] = {}
    for place in places.values():
        children.setdefault(place.parent_id, []).append(place.id)
    found = [node_id]
    for one in found:
        found += children.get(one, ())
    return found


def above(places: Arrangement, node_id: int | None) -> Iterator[int]:
    """Yield the ids from a category itself up to its root."""
    while node_id is not None:
        yield node_id
        node_id = places[node_id].parent_id


def target_of(places: Arrangement, node_id: int, direction: Direction) -> Target:
    """Return the target of a step: past a neighbour, to the end of the categories below the one before, or out, behind
    the parent. Raises Invalid where there is no way."""
    parent_id = places[node_id].parent_id
    beside = siblings(places, parent_id)
    place = beside.index(node_id)
    if direction is Direction.OUT:
        if parent_id is None:
            raise _no_way("It is already at the top level.")
        return Target(places[parent_id].parent_id, after_id=parent_id)
    if direction is Direction.DOWN:
        if place == len(beside) - 1:
            raise _no_way("It is already the last one.")
        return Target(parent_id, after_id=beside[place + 1])
    if place == 0:
        raise _no_way("It is already the first one.")
    before = beside[place - 1]
    return Target(before) if direction is Direction.IN else Target(parent_id, before_id=before)


def move_node(places: Arrangement, node_id: int, target: Target) -> dict[int, Place]:
    """Return the arrangement with a category moved, and all below it. Raises Invalid: below itself, too deep, an
    address that is taken, a target that is gone."""
    if target.parent_id is not None:
        _check_known(places, target.parent_id)
        if node_id in above(places, target.parent_id):
            raise Invalid.one("moved_below_itself", "A category cannot be moved below itself.", "#/parent")
    old_parent = places[node_id].parent_id
    arranged = dict(places)
    arranged[node_id] = replace(places[node_id], parent_id=target.parent_id)
    beside = [found for found in siblings(places, target.parent_id) if found != node_id]
    beside.insert(_position(beside, target), node_id)
    _renumber(arranged, beside)
    if old_parent != target.parent_id:
        _renumber(arranged, [found for found in siblings(places, old_parent) if found != node_id])
        _address(arranged, node_id)
    return arranged


def add_node(places: Arrangement, slug: str, target: Target, node_id: int = NEW) -> dict[int, Place]:
    """Return the arrangement with a new category. Raises Invalid as `move_node` does, and for one too many."""
    if problems := count_problems(len(places) + 1, "#"):
        raise Invalid(problems)
    if target.parent_id is not None:
        _check_known(places, target.parent_id)
    beside = siblings(places, target.parent_id)
    beside.insert(_position(beside, target), node_id)
    arranged = dict(places)
    arranged[node_id] = Place(node_id, target.parent_id, 0, slug, "")
    _renumber(arranged, beside)
    _address(arranged, node_id)
    return arranged


def change_slug(places: Arrangement, node_id: int, slug: str) -> dict[int, Place]:
    """Return the arrangement with a category under another last part of its address. Raises Invalid where a sibling has
    it."""
    arranged = dict(places)
    if places[node_id].slug != slug:
        arranged[node_id] = replace(places[node_id], slug=slug)
        _address(arranged, node_id)
    return arranged


def remove_node(places: Arrangement, node_id: int) -> dict[int, Place]:
    """Return the arrangement without a category and all below it."""
    gone = set(branch(places, node_id))
    arranged = {id: place for id, place in places.items() if id not in gone}
    _renumber(arranged, siblings(arranged, places[node_id].parent_id))
    return arranged


def changed_addresses(before: Arrangement, after: Arrangement) -> list[tuple[str, str]]:
    """Return the addresses that change, old and new, the shortest first."""
    changed = ((before[id].path, place.path) for id, place in after.items() if id in before)
    return sorted((pair for pair in changed if pair[0] != pair[1]), key=lambda pair: (pair[0].count("/"), pair))


def room_for(places: Arrangement, node_id: int) -> list[int]:
    """Return the ids of the categories below which one can move, in no order: not of its own branch, not its parent,
    none so deep that its branch would not fit, and none with a child of its slug."""
    own = set(branch(places, node_id))
    node = places[node_id]
    height = max(depth_of(places[id].path) for id in own) - depth_of(node.path) + 1
    taken = {place.parent_id for place in places.values() if place.slug == node.slug and place.id != node_id}
    return [
        id
        for id, place in places.items()
        if id not in own and id not in taken and id != node.parent_id and depth_of(place.path) + height <= DEEPEST
    ]


def version_of(places: Arrangement) -> str:
    """Return a version that differs whenever a category is moved, added or removed, or its slug changes."""
    standing = sorted((place.id, place.parent_id or 0, place.position, place.slug) for place in places.values())
    return hashlib.blake2b(repr(standing).encode(), digest_size=8).hexdigest()


def _position(beside: Sequence[int], target: Target) -> int:
    """Return the position of a target among the siblings. Raises Invalid where the neighbour stands elsewhere by
    now."""
    neighbour = target.before_id if target.before_id is not None else target.after_id
    if neighbour is None:
        return len(beside)
    if neighbour not in beside:
        raise Invalid.one("moved_meanwhile", "The category next to that place is elsewhere now. Try again.", "#/parent")
    return beside.index(neighbour) + (target.before_id is None)


def _renumber(arranged: dict[int, Place], ids: Sequence[int]) -> None:
    for position, id in enumerate(ids):
        if arranged[id].position != position:
            arranged[id] = replace(arranged[id], position=position)


def _address(arranged: dict[int, Place], node_id: int) -> None:
    """Compute the paths of a branch anew, in place. Raises Invalid for one that is taken, too deep or too long."""
    own = arranged[node_id]
    if any(
        other.slug == own.slug and other.parent_id == own.parent_id and other.id != own.id
        for other in arranged.values()
    ):
        message = f"Another category there has the slug “{own.slug}” already. Change the slug of one of them first."
        raise Invalid.one("duplicate_slug", message, "#/slug")
    for id in branch(arranged, node_id):
        place = arranged[id]
        parent_path = "" if place.parent_id is None else arranged[place.parent_id].path
        path = path_of(parent_path, place.slug)
        if problems := depth_problems(path, "#/parent"):
            raise Invalid(problems)
        arranged[id] = replace(place, path=path)


def _check_known(places: Arrangement, node_id: int) -> None:
    if node_id not in places:
        raise Invalid.one("unknown_category", "This category is no longer in this tree.", "#/parent")


def _no_way(message: str) -> Invalid:
    return Invalid.one("stuck", message)
