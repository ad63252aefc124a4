"""Changes of merchandising trees: their names, filters and landing rules, and the places of categories in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from app.domain.changes.kinds import RecordKind, State, Undo, states_by_id, whole_record
from app.domain.merchandising import nodes, trees
from app.domain.merchandising.arrangement import Target, siblings
from app.domain.merchandising.models import Node, Tree
from app.domain.seo.landing import stored_rules
from app.domain.sites.models import AuditEntry
from app.extensions import db

FILTERS, RULES = "filters", "landingRules"


def _trees(site_id: int, ids: list[int]) -> list[Tree]:
    return list(db.session.scalars(select(Tree).where(Tree.site_id == site_id, Tree.id.in_(ids))))


def _nodes(site_id: int, ids: list[int]) -> list[Node]:
    return list(db.session.scalars(select(Node).where(Node.site_id == site_id, Node.id.in_(ids))))


def _names(site_id: int, ids: list[int]) -> Mapping[str, State]:
    return {str(tree.id): {"name": tree.name} for tree in _trees(site_id, ids)}


def _rename(undo: Undo, tree_id: str, before: State) -> None:
    trees.rename(undo.author, int(tree_id), str((before or {})["name"]))


def _filters(site_id: int, ids: list[int]) -> Mapping[str, State]:
    return {str(tree.id): {FILTERS: tree.facets} for tree in _trees(site_id, ids)}


def _change_filters(undo: Undo, tree_id: str, before: State) -> None:
    tree = trees.tree_of(undo.author.site_id, int(tree_id), to_change=True)
    trees.change_facets(undo.author, tree.id, (before or {})[FILTERS], trees.facets_version(tree))


def _named_filters(stored: Any) -> State:
    return {FILTERS: stored} if isinstance(stored, list) else None


def _tree_rules(site_id: int, ids: list[int]) -> Mapping[str, State]:
    return {str(tree.id): {RULES: tree.default_landing_rules} for tree in _trees(site_id, ids)}


def _change_tree_rules(undo: Undo, tree_id: str, before: State) -> None:
    stored_rules.set_tree_rules(undo.author, int(tree_id), (before or {})[RULES])


def _category_rules(site_id: int, ids: list[int]) -> Mapping[str, State]:
    return {str(node.id): {RULES: node.landing_rules} for node in _nodes(site_id, ids)}


def _change_category_rules(undo: Undo, node_id: str, before: State) -> None:
    stored_rules.set_node_rules(undo.author, int(node_id), (before or {})[RULES])


def _places(site_id: int, ids: list[int]) -> Mapping[str, State]:
    return {str(node.id): nodes.logged_place(node) for node in _nodes(site_id, ids)}


def _move_back(undo: Undo, node_id: str, before: State) -> None:
    """Move a category back below its former parent, before the sibling that stands at its former place now."""
    place = before or {}
    node = nodes.node_of(undo.author.site_id, int(node_id))
    others = [id for id in siblings(nodes.arrangement_of(node.tree_id), place["parent"]) if id != node.id]
    follower = others[place["position"]] if place["position"] < len(others) else None
    nodes.move(undo.author, node.id, Target(place["parent"], before_id=follower))


def _whole_place(stored: Any) -> State:
    """Return the place of a category; entries of older releases have only its path."""
    place = whole_record(stored)
    return place if place is not None and {"parent", "position"} <= place.keys() else None


def _lock_tree(site_id: int, tree_id: str) -> None:
    trees.tree_of(site_id, int(tree_id), to_change=True)


def _lock_tree_of(site_id: int, node_id: str) -> None:
    """Lock the tree of a category, with it the places of all, and the category."""
    trees.tree_of(site_id, nodes.node_of(site_id, int(node_id)).tree_id, to_change=True)
    nodes.node_of(site_id, int(node_id), to_change=True)


MERCHANDISING_KINDS = (
    RecordKind(
        "tree_name",
        "Merchandising trees",
        AuditEntry.action == "tree.rename",
        states_by_id(_names),
        _rename,
        lock=_lock_tree,
    ),
    RecordKind(
        "tree_filters",
        "Filters",
        AuditEntry.action == "tree.filters",
        states_by_id(_filters),
        _change_filters,
        read=_named_filters,
        lock=_lock_tree,
    ),
    RecordKind(
        "tree_landing_rules",
        "Landing rules",
        AuditEntry.action == "tree.landing_rules",
        states_by_id(_tree_rules),
        _change_tree_rules,
        lock=_lock_tree,
    ),
    RecordKind(
        "category_landing_rules",
        "Landing rules",
        AuditEntry.action == "category.landing_rules",
        states_by_id(_category_rules),
        _change_category_rules,
        lock=_lock_tree_of,
    ),
    RecordKind(
        "category_place",
        "Places of categories",
        AuditEntry.action == "category.move",
        states_by_id(_places),
        _move_back,
        read=_whole_place,
        lock=_lock_tree_of,
    ),
)
