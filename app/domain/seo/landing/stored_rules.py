"""The landing rules of trees and categories as they are stored: read and saved, the same for every surface. Call what
writes within a transaction."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from app.domain.merchandising import nodes, trees
from app.domain.merchandising.models import Node, Tree
from app.domain.merchandising.shop import load_tree
from app.domain.merchandising.tree import Display, Facet
from app.domain.seo.landing.rules import LandingMode, Rule, clean_rules, effective_rules, mode_of
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Invalid
from app.domain.sites import activity
from app.domain.taxonomy.taxonomies import active_tree
from app.extensions import db

RULES = "#/rules"
CHANGED_MEANWHILE = "Another user changed these landing rules while you were editing them."
SUMMARIES: Mapping[LandingMode, str] = {
    LandingMode.INHERIT: "Took the tree’s landing rules for the category",
    LandingMode.OFF: "Switched off the landing pages of the category",
    LandingMode.OWN: "Changed the landing rules of the category",
}


@dataclass(frozen=True, slots=True)
class NodeRules:
    """The landing rules of a category: its mode, its own rules, its tree's default, and the effective ones."""

    node: Node
    mode: LandingMode
    own: Sequence[Rule] | None
    default: Sequence[Rule]
    effective: Sequence[Rule]


def rules_fingerprint(rules: Sequence[Rule] | None) -> str:
    """Return a fingerprint, the same for the same rules: an editor sends it, so that no user overwrites unseen
    rules."""
    return hashlib.sha256(json.dumps(rules, sort_keys=True).encode()).hexdigest()[:16]


def tree_of(site_id: int, tree_id: int, to_change: bool = False) -> Tree:
    """Return a tree. Raises NotFound, also for another site's."""
    return trees.tree_of(site_id, tree_id, to_change)


def node_of(site_id: int, node_id: int, to_change: bool = False) -> Node:
    """Return a category. Raises NotFound, also for another site's."""
    return nodes.node_of(site_id, node_id, to_change)


def node_rules(site_id: int, node_id: int) -> NodeRules:
    """Return the landing rules of a category. Raises NotFound."""
    node = node_of(site_id, node_id)
    default = tree_of(site_id, node.tree_id).default_landing_rules
    own = node.landing_rules
    return NodeRules(node, mode_of(own), own, default, effective_rules(own, default))


def set_tree_rules(author: Author, tree_id: int, raw: Sequence[Any], seen: str | None = None) -> Tree:
    """Save the rules that hold for every category of a tree without rules of its own; an empty list removes them.
    `seen` is the fingerprint of the rules that were shown. Raises NotFound, Invalid with every problem, Conflict."""
    tree = tree_of(author.site_id, tree_id, to_change=True)
    _check_seen(seen, tree.default_landing_rules)
    rules = _clean_for_site(author.site_id, raw, map(Facet.read, tree.facets))
    if rules == tree.default_landing_rules:
        return tree
    before, tree.default_landing_rules, tree.updated_at = tree.default_landing_rules, rules, author.now()
    summary = f"Changed the landing rules of the tree {tree.name}"
    activity.record(author, "tree.landing_rules", ("tree", str(tree.id)), summary, _entry(before), _entry(rules))
    return tree


def set_node_rules(author: Author, node_id: int, raw: Sequence[Any] | None, seen: str | None = None) -> Node:
    """Save a category's own rules; an empty list switches landing pages off there, None takes the tree's. `seen` is the
    fingerprint of the rules that were shown. Raises NotFound, Invalid with every problem, Conflict."""
    node = node_of(author.site_id, node_id, to_change=True)
    _check_seen(seen, node.landing_rules)
    rules = None if raw is None else _clean_for_site(author.site_id, raw, load_tree(author.site_id).facets(node.id))
    if rules == node.landing_rules:
        return node
    before, node.landing_rules, node.updated_at = node.landing_rules, rules, author.now()
    summary = f"{SUMMARIES[mode_of(rules)]} {node.name}"
    activity.record(
        author, "category.landing_rules", ("category", str(node.id)), summary, _entry(before), _entry(rules)
    )
    return node


def _clean_for_site(site_id: int, raw: Sequence[Any], facets: Iterable[Facet]) -> list[Rule]:
    """Return the rules, trimmed. Raises Invalid: nothing is saved of a list in which one rule is refused."""
    ranges = {facet.facet_id for facet in facets if facet.display is Display.RANGE}
    rules, problems = clean_rules(raw, active_tree(site_id).attributes_by_id(), ranges, RULES)
    if problems:
        raise Invalid(problems)
    return rules


def _check_seen(seen: str | None, stored: Sequence[Rule] | None) -> None:
    if seen is not None and seen != rules_fingerprint(stored):
        raise Conflict(CHANGED_MEANWHILE)


def _entry(rules: Sequence[Rule] | None) -> dict[str, Any]:
    return {"landingRules": rules}


@dataclass(frozen=True, slots=True)
class ExceptedCategory:
    """A category that does not inherit its landing rules. `rules` counts its own; none switch landing pages off."""

    id: int
    name: str
    path: str
    mode: LandingMode
    rules: int


def categories_with_own_rules(tree_id: int) -> list[ExceptedCategory]:
    """Return the categories with rules of their own or none, by their address."""
    query = select(Node.id, Node.name, Node.path, Node.landing_rules).where(Node.tree_id == tree_id)
    rows = db.session.execute(query.where(Node.landing_rules.is_not(None)).order_by(Node.path)).all()
    return [ExceptedCategory(id, name, path, mode_of(rules), len(rules or ())) for id, name, path, rules in rows]
