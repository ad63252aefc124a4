"""The levels that rules and their groups name: the names by which searches name them, and what an editor offers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sqlalchemy import select

from app.domain.relevance.models import SearchRule
from app.domain.search.serving import configuration
from app.domain.search.serving.rules import Rule
from app.domain.taxonomy.products.panel import path_label
from app.domain.taxonomy.taxonomies import active_tree
from app.domain.taxonomy.tree import AttributeType, TaxonomyTree
from app.extensions import db


def with_level_names(site_id: int, rules: Iterable[Rule]) -> list[Rule]:
    """Return the rules with the names of their levels and of those below, as the active taxonomy has them."""
    rules = list(rules)
    if not any(rule.levels for rule in rules):
        return rules
    tree = active_tree(site_id)
    return [replace(rule, level_names=_names(tree, rule.levels)) if rule.levels else rule for rule in rules]


def _names(tree: TaxonomyTree, level_ids: Iterable[str]) -> tuple[str, ...]:
    known = (id for id in level_ids if id in tree.levels)
    ids = dict.fromkeys(below for id in known for below in (id, *tree.below(id)))
    return tuple(dict.fromkeys(name for id in ids for name in tree.levels[id].names))


def with_values(tree: TaxonomyTree) -> dict[str, str]:
    """Return the names of the attributes by whose values groups can be filled, by their ids. Numbers are none."""
    definitions = ((id, found[0]) for id, found in tree.attributes_by_id().items() if found)
    return {id: first.name for id, first in definitions if first.type is not AttributeType.NUMBER}


def level_labels(tree: TaxonomyTree) -> dict[str, str]:
    """Return the way to each level, as in "Garden › Tools", by its id."""
    return {id: path_label(tree, id) for id in tree.levels}


def republish_names(site_id: int) -> None:
    """Have rules published anew after the taxonomy changed, where some name levels. Call it in a transaction."""
    levels = db.session.scalars(select(SearchRule.levels).where(SearchRule.site_id == site_id))
    if any(levels):
        configuration.raise_version(site_id)
