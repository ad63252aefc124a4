"""The categories of a tree and their places. Call the writing functions within a transaction; those that change a place
lock the tree, so that two of them cannot cross."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select

from app.domain.catalogue.revisions import check_revision
from app.domain.merchandising import arrangement
from app.domain.merchandising.arrangement import NEW, Arrangement, Direction, Place, Target
from app.domain.merchandising.category_rules import name_problems, slug_from
from app.domain.merchandising.models import Node, Placement, Tree
from app.domain.merchandising.trees import is_primary, note_deleted, tree_of
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Invalid
from app.domain.shared.records import existing, find_record, flush_or_conflict
from app.domain.shared.text import one_line
from app.domain.sites import activity
from app.extensions import db

ADDRESS_TAKEN = "Another user took this address at the same moment. Nothing was saved."
MISSING = "There is no such category on this site."


class StaleTree(Conflict):
    """The error that the categories are arranged otherwise than on the page that requests a move."""

    code = "stale_tree"

    def __init__(self) -> None:
        super().__init__("Someone else moved categories. The tree is now up to date; your change was not made.")


@dataclass(frozen=True, slots=True)
class PlannedMove:
    """A move that is not made yet. `addresses` are those that change, as (old, new), none where shoppers do not browse
    the tree."""

    tree_id: int
    name: str
    target: Target
    addresses: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Removal:
    """The records that go with a category: those below it, and placements of products by hand, its own included.
    `is_seen` says whether its tree is the one that shoppers browse."""

    tree_id: int
    name: str
    path: str
    categories: int
    placements: int
    is_seen: bool


def node_of(site_id: int, node_id: int, to_change: bool = False) -> Node:
    """Return a category. Raises NotFound."""
    return existing(find_record(Node, site_id, node_id, to_change), MISSING)


def arrangement_of(tree_id: int) -> dict[int, Place]:
    """Return the places of all categories of a tree, in one statement."""
    query = select(Node.id, Node.parent_id, Node.position, Node.slug, Node.path).where(Node.tree_id == tree_id)
    return {row.id: Place(*row) for row in db.session.execute(query)}


def add_all(author: Author, tree_id: int, names: Sequence[str], target: Target) -> list[Node]:
    """Add categories, one behind the other. The slugs are made from the names. Raises NotFound, Invalid, Conflict."""
    tree = tree_of(author.site_id, tree_id, to_change=True)
    names = [_clean_name(name) for name in names]
    before = arrangement_of(tree_id)
    after = dict(before)
    for number, name in enumerate(names):
        taken = {after[id].slug for id in arrangement.siblings(after, target.parent_id)}
        after = arrangement.add_node(after, slug_from(name, taken), target, NEW - number)
        target = Target(target.parent_id, after_id=NEW - number)
    added = [_new_node(author, tree, name, after.pop(NEW - number)) for number, name in enumerate(names)]
    db.session.add_all(added)
    store_arrangement(author, tree, before, after)
    for node in added:
        note_change(author, node, "create", f"Added the category {node.name}")
    return added


def rename(author: Author, node_id: int, revision: int, name: str) -> Node:
    """Rename a category; its address stays. Raises NotFound, StaleRevision, Invalid."""
    node = node_of(author.site_id, node_id, to_change=True)
    check_revision(author.site_id, ("category", node.id), node.revision, revision)
    before, name = node.name, _clean_name(name)
    if name != before:
        node.name = name
        mark_changed(author, node)
        note_change(
            author, node, "rename", f"Renamed the category {before} to {name}", {"name": before}, {"name": name}
        )
    return node


def show(author: Author, node_id: int, visible: bool) -> Node:
    """Show a category to shoppers, or hide it with all below. Raises NotFound."""
    node = node_of(author.site_id, node_id, to_change=True)
    if node.visible != visible:
        node.visible = visible
        mark_changed(author, node)
        act, verb = ("show", "Showed") if visible else ("hide", "Hid")
        values = {"enabled": not visible}, {"enabled": visible}
        note_change(author, node, act, f"{verb} the category {node.name}", *values)
    return node


def plan_move(site_id: int, node_id: int, where: Direction | Target, version: str | None = None) -> PlannedMove:
    """Return the changes that a move would make. Raises NotFound, Invalid, StaleTree."""
    node = node_of(site_id, node_id)
    target, before, after = _arrange_move(node, where, version)
    is_seen = is_primary(tree_of(site_id, node.tree_id))
    addresses = arrangement.changed_addresses(before, after) if is_seen else []
    return PlannedMove(node.tree_id, node.name, target, addresses)


def move(author: Author, node_id: int, where: Direction | Target, version: str | None = None) -> Node:
    """Move a category with all below it, whose addresses change with it. `version` is that of the arrangement that the
    author saw. Raises NotFound, Invalid, StaleTree, Conflict."""
    node = node_of(author.site_id, node_id)
    tree = tree_of(author.site_id, node.tree_id, to_change=True)
    node = node_of(author.site_id, node_id, to_change=True)
    _, before, after = _arrange_move(node, where, version)
    if before == after:
        return node
    old = logged_place(node)
    store_arrangement(author, tree, before, after)
    summary = f"Moved the category {node.name} among its siblings"
    if node.path != old["path"]:
        mark_changed(author, node)
        summary = f"Moved the category {node.name} from {old['path']} to {node.path}"
    note_change(author, node, "move", summary, old, logged_place(node))
    return node


def logged_place(node: Node) -> dict[str, Any]:
    """Return the place of a category as the activity log has it."""
    return {"path": node.path, "parent": node.parent_id, "position": node.position}


def removal(site_id: int, node_id: int) -> Removal:
    """Return what deleting a category would remove. Raises NotFound."""
    node = node_of(site_id, node_id)
    ids = arrangement.branch(arrangement_of(node.tree_id), node_id)
    placements = select(func.count()).select_from(Placement).where(Placement.node_id.in_(ids))
    is_seen = is_primary(tree_of(site_id, node.tree_id))
    return Removal(node.tree_id, node.name, node.path, len(ids) - 1, db.session.scalar(placements) or 0, is_seen)


def delete(author: Author, node_id: int) -> Removal:
    """Delete a category with all below it and what is placed there; the products stay. Raises NotFound."""
    node = node_of(author.site_id, node_id)
    tree = tree_of(author.site_id, node.tree_id, to_change=True)
    node = node_of(author.site_id, node_id, to_change=True)
    gone = removal(author.site_id, node_id)
    before = arrangement_of(tree.id)
    below_it = select(Node).where(Node.id.in_(arrangement.branch(before, node_id)), Node.id != node_id)
    note_deleted(author, db.session.scalars(below_it.order_by(Node.id)).all(), f" below {gone.name}")
    db.session.delete(node)
    db.session.flush()
    store_arrangement(author, tree, before, arrangement.remove_node(before, node_id))
    below = f" with {gone.categories:,} below it" if gone.categories else ""
    note_change(author, node, "delete", f"Deleted the category {gone.name}{below}", {"path": gone.path})
    return gone


def store_arrangement(author: Author, tree: Tree, before: Arrangement, after: Arrangement) -> None:
    """Store the places that differ. A category whose address changes counts as changed; one that only makes room does
    not. Raises Conflict."""
    changed = [id for id, place in after.items() if place != before.get(id)]
    for node in db.session.scalars(select(Node).where(Node.id.in_(changed))):
        place = after[node.id]
        if node.path != place.path:
            node.updated_at = author.now()
        node.parent_id, node.position, node.slug, node.path = place.parent_id, place.position, place.slug, place.path
    tree.updated_at = author.now()
    flush_or_conflict(ADDRESS_TAKEN)


def mark_changed(author: Author, node: Node) -> None:
    """Date a change, so that cached copies are stale, and raise the revision, so that a save from an editor opened
    before is refused."""
    node.updated_at = author.now()
    node.revision += 1


def note_change(author: Author, node: Node, act: str, summary: str, before: Any = None, after: Any = None) -> None:
    activity.record(author, f"category.{act}", ("category", str(node.id)), summary, before, after)


def _new_node(author: Author, tree: Tree, name: str, place: Place) -> Node:
    return Node(
        site_id=author.site_id,
        tree_id=tree.id,
        parent_id=place.parent_id,
        position=place.position,
        name=name,
        slug=place.slug,
        path=place.path,
        updated_at=author.now(),
    )


def _arrange_move(
    node: Node, where: Direction | Target, version: str | None
) -> tuple[Target, dict[int, Place], dict[int, Place]]:
    """Return the target of a move and the places before and after it. Raises Invalid, StaleTree."""
    before = arrangement_of(node.tree_id)
    if version and version != arrangement.version_of(before):
        raise StaleTree
    target = arrangement.target_of(before, node.id, where) if isinstance(where, Direction) else where
    return target, before, arrangement.move_node(before, node.id, target)


def _clean_name(name: str) -> str:
    tidy = one_line(name)
    if problems := name_problems(tidy, "#/name"):
        raise Invalid(problems)
    return tidy
