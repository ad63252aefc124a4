"""The trees of a site with their categories, nested as they stand in the shop."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import select

from app.domain.merchandising.models import Node, Tree
from app.extensions import db


@dataclass(slots=True)
class ListedNode:
    """A category in a list for programs. `id` is a text, as programs know it."""

    id: str
    name: str
    path: str
    visible: bool
    children: list[ListedNode] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ListedTree:
    """A tree in a list for programs. `primary` is the tree that shoppers browse: where none was chosen, the oldest."""

    id: str
    name: str
    primary: bool
    nodes: Sequence[ListedNode]


def listed_trees(site_id: int) -> list[ListedTree]:
    """Return the trees of a site, the primary one first, in two statements whatever their size."""
    query = select(Tree.id, Tree.name).where(Tree.site_id == site_id).order_by(Tree.primary.desc(), Tree.id)
    nodes = _nodes_by_tree(site_id)
    trees = db.session.execute(query).all()
    return [ListedTree(str(tree.id), tree.name, place == 0, nodes[tree.id]) for place, tree in enumerate(trees)]


def _nodes_by_tree(site_id: int) -> defaultdict[int, list[ListedNode]]:
    """The categories at the top of each tree, with all below them."""
    columns = Node.id, Node.tree_id, Node.parent_id, Node.name, Node.path, Node.visible
    query = select(*columns).where(Node.site_id == site_id).order_by(Node.position, Node.id)
    rows = db.session.execute(query).all()
    known = {row.id: ListedNode(str(row.id), row.name, row.path, row.visible) for row in rows}
    top: defaultdict[int, list[ListedNode]] = defaultdict(list)
    for row in rows:
        siblings = top[row.tree_id] if row.parent_id is None else known[row.parent_id].children
        siblings.append(known[row.id])
    return top
