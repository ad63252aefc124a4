"""The category trees of a site: add, rename and delete them, choose the one that shoppers browse, change their filters;
their list, their outline in the admin and their list for programs, each in two statements at most. Call the writing
functions within a transaction."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from sqlalchemy import func, select

from app.domain.merchandising.arrangement import Place, version_of
from app.domain.merchandising.facets import clean_facets
from app.domain.merchandising.models import Node, Placement, Tree
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Invalid, Problem
from app.domain.shared.records import existing, find_record, flush_or_conflict
from app.domain.shared.text import line_problems, one_line
from app.domain.sites import activity
from app.extensions import db

LONGEST_NAME = 200
MOST_TREES = 50
TREES_CHANGED = "Another user changed the trees at the same moment. Nothing was saved."
MISSING = "There is no such category tree on this site."


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A tree in the list. The primary one is what shoppers browse; without a chosen one that is the oldest."""

    id: int
    name: str
    is_primary: bool
    categories: int
    placements: int
    updated_at: datetime


def tree_list(site_id: int) -> list[TreeRow]:
    """Return the trees of a site, the primary one first, in one statement."""
    of_tree = Node.tree_id == Tree.id
    categories = select(func.count(Node.id)).where(of_tree).scalar_subquery()
    placements = select(func.count()).select_from(Placement).join(Node).where(of_tree).scalar_subquery()
    query = select(Tree.id, Tree.name, Tree.updated_at, categories, placements).where(Tree.site_id == site_id)
    rows = db.session.execute(query.order_by(Tree.primary.desc(), Tree.id)).all()
    return [
        TreeRow(row[0], row[1], index == 0, categories=row[3], placements=row[4], updated_at=row[2])
        for index, row in enumerate(rows)
    ]


def has_categories(site_id: int) -> bool:
    """Whether any tree of the site has a category."""
    return db.session.scalar(select(Node.id).where(Node.site_id == site_id).limit(1)) is not None


def tree_of(site_id: int, tree_id: int, to_change: bool = False) -> Tree:
    """Return a tree. `to_change` locks it, and with it the order and the addresses of its categories. Raises
    NotFound."""
    return existing(find_record(Tree, site_id, tree_id, to_change), MISSING)


def is_primary(tree: Tree) -> bool:
    return tree.id == primary_tree_id(tree.site_id)


def primary_tree_id(site_id: int) -> int | None:
    """Return the id of the tree that shoppers browse: the primary one, else the oldest; None without any."""
    first = select(Tree.id).where(Tree.site_id == site_id).order_by(Tree.primary.desc(), Tree.id).limit(1)
    return db.session.scalar(first)


def category_labels(site_id: int) -> dict[str, str]:
    """Return the labels of all categories of the primary tree by their paths, as in "Garden › Tools", in the order in
    which their paths sort."""
    query = select(Node.path, Node.name).where(Node.tree_id == primary_tree_id(site_id)).order_by(Node.path)
    labels: dict[str, str] = {}
    for path, name in sorted(db.session.execute(query).all(), key=lambda row: row.path.split("/")):
        above = labels.get(path.rpartition("/")[0])
        labels[path] = f"{above} › {name}" if above else name
    return labels


def create(author: Author, name: str) -> Tree:
    """Add a tree; the first one of a site is its primary one. Raises Invalid, Conflict."""
    name = _clean_name(author.site_id, name, None)
    trees = db.session.scalar(select(func.count(Tree.id)).where(Tree.site_id == author.site_id)) or 0
    if trees >= MOST_TREES:
        raise Invalid.one("too_many", f"A site has at most {MOST_TREES} category trees.", "#/name")
    tree = Tree(site_id=author.site_id, name=name, primary=not trees, updated_at=author.now())
    db.session.add(tree)
    flush_or_conflict(TREES_CHANGED)
    _note_change(author, tree, "create", f"Added the category tree {name}")
    return tree


def rename(author: Author, tree_id: int, name: str) -> Tree:
    """Rename a tree. Raises NotFound, Invalid, Conflict."""
    tree = tree_of(author.site_id, tree_id, to_change=True)
    before, name = tree.name, _clean_name(author.site_id, name, tree_id)
    if name != before:
        tree.name, tree.updated_at = name, author.now()
        flush_or_conflict(TREES_CHANGED)
        summary = f"Renamed the category tree {before} to {name}"
        _note_change(author, tree, "rename", summary, {"name": before}, {"name": name})
    return tree


def make_primary(author: Author, tree_id: int) -> Tree:
    """Make a tree the one that shoppers browse; addresses that only the former one has are not found any more. Raises
    NotFound, Conflict."""
    tree = tree_of(author.site_id, tree_id, to_change=True)
    if tree.primary:
        return tree
    others = select(Tree).where(Tree.site_id == author.site_id, Tree.primary).with_for_update()
    for other in db.session.scalars(others):
        other.primary, other.updated_at = False, author.now()
    flush_or_conflict(TREES_CHANGED)  # No more than one tree is primary at any moment.
    tree.primary, tree.updated_at = True, author.now()
    flush_or_conflict(TREES_CHANGED)
    _note_change(author, tree, "primary", f"Made {tree.name} the category tree that shoppers browse")
    return tree


def facets_version(tree: Tree) -> str:
    """Return a version, which differs whenever the filters of a tree do."""
    return hashlib.blake2b(json.dumps(tree.facets).encode(), digest_size=8).hexdigest()


def change_facets(author: Author, tree_id: int, facets: Sequence[Mapping[str, Any]], version: str) -> bool:
    """Change the filters of a tree, those of every category that neither has nor inherits others; return whether they
    differ. `version` is that of the filters that the author saw. Raises NotFound, Conflict, Invalid."""
    tree = tree_of(author.site_id, tree_id, to_change=True)
    if version != facets_version(tree):
        raise Conflict("Another user saved the filters of this tree while you worked on them.")
    kept, problems = clean_facets(facets, "#/facets")
    if problems:
        raise Invalid(problems)
    before = tree.facets
    if kept == before:
        return False
    tree.facets, tree.updated_at = kept, author.now()
    _note_change(author, tree, "filters", f"Changed the filters of the category tree {tree.name}", before, kept)
    return True


def delete(author: Author, tree_id: int) -> str:
    """Remove a tree with its categories; products stay. Return its name. Raises NotFound, and Conflict for the
    primary one."""
    tree = tree_of(author.site_id, tree_id, to_change=True)
    name = tree.name
    if is_primary(tree):
        raise Conflict("Shoppers browse this tree. Make another one primary first.")
    nodes = db.session.scalars(select(Node).where(Node.tree_id == tree.id).order_by(Node.id)).all()
    note_deleted(author, nodes, f" of the category tree {name}")
    db.session.delete(tree)
    db.session.flush()
    _note_change(author, tree, "delete", f"Deleted the category tree {name}")
    return name


def note_deleted(author: Author, nodes: Iterable[Node], reason: str) -> None:
    """Log categories that go with something else, each by an entry of its own: SQLite may give its id to another, which
    must not be undone in its place."""
    for node in nodes:
        summary = f"Deleted the category {node.name}{reason}"
        activity.record(author, "category.delete", ("category", str(node.id)), summary, {"path": node.path})


def _clean_name(site_id: int, name: str, own_id: int | None) -> str:
    tidy = one_line(name)
    problems = line_problems(tidy, "The name", LONGEST_NAME, "#/name", required=True)
    query = select(Tree.id).where(Tree.site_id == site_id, Tree.name == tidy)
    if db.session.scalars(query).one_or_none() not in (None, own_id):
        problems.append(Problem("taken", f"Another tree is called “{tidy[:80]}”.", "#/name"))
    if problems:
        raise Invalid(problems)
    return tidy


def _note_change(author: Author, tree: Tree, act: str, summary: str, before: Any = None, after: Any = None) -> None:
    activity.record(author, f"tree.{act}", ("tree", str(tree.id)), summary, before, after)


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
        row.id: OutlineRow(Place(*row[:5]), row.name, row.visible, row.revision, _landing_mark(row.landing_rules))
        for row in db.session.execute(query.where(Node.tree_id == tree_id))
    }
    return TreeOutline(tree, is_primary(tree), rows)


def _landing_mark(rules: Sequence[object] | None) -> str:
    if rules is None:
        return ""
    return "own" if rules else "off"


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


def nested_trees(site_id: int) -> list[ListedTree]:
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
