"""A tree of categories as its page in the admin shows it: a row for each, in two statements whatever its size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlalchemy import select

from app.domain.merchandising.arrangement import Place, version_of
from app.domain.merchandising.models import Node, Tree
from app.domain.merchandising.trees import is_primary, tree_of
from app.extensions import db

MANY_ROWS = 60  # A tree with more opens with its branches closed.


@dataclass(frozen=True, slots=True)
class OutlineRow:
    """A category in the outline of its tree. `landing` is "own" or "off" where the category has landing rules of its
    own, or none; else empty."""

    place: Place
    name: str
    visible: bool
    revision: int
    landing: str

    @property
    def id(self) -> int:
        return self.place.id

    @property
    def path(self) -> str:
        return self.place.path


@dataclass(frozen=True)
class TreeOutline:
    """The outline of a tree. `children` are the ids below each category in display order, None standing for the top."""

    tree: Tree
    is_primary: bool
    rows: Mapping[int, OutlineRow]

    @cached_property
    def children(self) -> Mapping[int | None, Sequence[int]]:
        found: dict[int | None, list[int]] = {}
        for row in sorted(self.rows.values(), key=lambda row: (row.place.position, row.id)):
            found.setdefault(row.place.parent_id, []).append(row.id)
        return found

    @cached_property
    def version(self) -> str:
        return version_of({id: row.place for id, row in self.rows.items()})

    @property
    def is_large(self) -> bool:
        return len(self.rows) > MANY_ROWS

    def above(self, node_id: int | None) -> list[OutlineRow]:
        """The categories above one, the root first."""
        found: list[OutlineRow] = []
        chosen = self.rows.get(node_id) if node_id is not None else None
        parent_id = chosen.place.parent_id if chosen else None
        while parent_id is not None:
            found.insert(0, self.rows[parent_id])
            parent_id = self.rows[parent_id].place.parent_id
        return found


def outline_of(site_id: int, tree_id: int) -> TreeOutline:
    """Return the outline of a tree. Raises NotFound."""
    tree = tree_of(site_id, tree_id)
    query = select(
        Node.id, Node.parent_id, Node.position, Node.slug, Node.path,
        Node.name, Node.visible, Node.revision, Node.landing_rules,
    )  # fmt: skip
    rows = {
        row.id: OutlineRow(Place(*row[:5]), row.name, row.visible, row.revision, _landing(row.landing_rules))
        for row in db.session.execute(query.where(Node.tree_id == tree_id))
    }
    return TreeOutline(tree, is_primary(tree), rows)


def _landing(rules: Sequence[object] | None) -> str:
    if rules is None:
        return ""
    return "own" if rules else "off"
