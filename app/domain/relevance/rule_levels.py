"""The levels and categories that rules name: the names by which searches name them; and what an editor offers for
these and for groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import ColumnElement, Text, cast, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from app.domain.merchandising.facets import shared_definition
from app.domain.merchandising.shop import load_tree
from app.domain.merchandising.tree import ShopTree
from app.domain.merchandising.trees import category_labels
from app.domain.relevance.models import SearchRule
from app.domain.search.serving import configuration
from app.domain.search.serving.product_groups import GroupNames
from app.domain.search.serving.rules import Rule
from app.domain.sites.sites import currency_of
from app.domain.taxonomy.choices import distinct_names, level_paths, meant_id
from app.domain.taxonomy.taxonomies import active_tree
from app.domain.taxonomy.tree import Attribute, AttributeType, TaxonomyTree
from app.extensions import db


def with_names(site_id: int, rules: Iterable[Rule]) -> list[Rule]:
    """Return the rules with the names of their levels and categories and of those below, as the active taxonomy and the
    primary tree have them. Hidden categories have none."""
    rules = list(rules)
    names = _names_of(site_id, [(rule.levels, rule.categories) for rule in rules])
    return [replace(rule, names=of) if rule.is_narrowed else rule for rule, of in zip(rules, names, strict=True)]


def _names_of(site_id: int, named: Sequence[tuple[Sequence[str], Sequence[str]]]) -> list[tuple[str, ...]]:
    """Return the names for the levels and categories of each rule."""
    taxonomy = active_tree(site_id) if any(levels for levels, _ in named) else TaxonomyTree()
    shop = load_tree(site_id) if any(paths for _, paths in named) else ShopTree((), {}, None)
    names = ((*_level_names(taxonomy, levels), *_shown(shop, paths)) for levels, paths in named)
    return [tuple(dict.fromkeys(each)) for each in names]


def _shown(tree: ShopTree, paths: Iterable[str]) -> Iterator[str]:
    """Yield the names of categories that shoppers see, and of those below them."""
    for node in filter(None, map(tree.at, paths)):
        yield node.name
        yield from (below.name for below in tree.shown(node.id))


def _level_names(tree: TaxonomyTree, level_ids: Iterable[str]) -> tuple[str, ...]:
    known = (id for id in level_ids if id in tree.levels)
    ids = dict.fromkeys(below for id in known for below in (id, *tree.below(id)))
    return tuple(dict.fromkeys(name for id in ids for name in tree.levels[id].names))


def with_values(tree: TaxonomyTree) -> dict[str, str]:
    """Return the names of the attributes by whose values groups can be filled, by their ids. Numbers are none."""
    return {one.id: one.name for one in _definitions(tree) if one.type is not AttributeType.NUMBER}


def with_numbers(tree: TaxonomyTree) -> dict[str, Attribute]:
    """Return the attributes by whose numbers groups can be filled, by their ids."""
    return {one.id: one for one in _definitions(tree) if one.type is AttributeType.NUMBER}


def _definitions(tree: TaxonomyTree) -> Iterator[Attribute]:
    yield from (shared_definition(found) for found in tree.attributes_by_id().values() if found)


@dataclass(frozen=True, slots=True)
class RuleChoices:
    """What an editor of rules offers: levels by their labels, attributes with values and those that are numbers by
    their names, each by its id, the units of numbers, the currency of prices, and categories by their labels, each by
    its path."""

    levels: Mapping[str, str] = field(default_factory=dict)
    attributes: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    currency: str = "gbp"
    categories: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, tree: TaxonomyTree, currency: str, categories: Mapping[str, str]) -> RuleChoices:
        numbers = with_numbers(tree)
        return cls(
            levels=level_paths(tree),
            attributes=distinct_names(tree, with_values(tree)),
            numbers=distinct_names(tree, {id: one.name for id, one in numbers.items()}),
            units={id: one.unit for id, one in numbers.items() if one.unit},
            currency=currency,
            categories=categories,
        )

    @property
    def names(self) -> GroupNames:
        return GroupNames(self.levels, {**self.numbers, **self.attributes}, self.units, self.currency)

    def level_label(self, level_id: str) -> str:
        return _label_of(self.levels, level_id)

    def level_id(self, label: str) -> str:
        return _id_of(self.levels, label)

    def category_label(self, path: str) -> str:
        return _label_of(self.categories, path)

    def category_path(self, label: str) -> str:
        return _id_of(self.categories, label)

    def attribute_label(self, attribute_id: str) -> str:
        return _label_of(self.attributes, attribute_id)

    def attribute_id(self, label: str) -> str:
        return _id_of(self.attributes, label)

    def number_label(self, attribute_id: str) -> str:
        return _label_of(self.numbers, attribute_id)

    def number_id(self, label: str) -> str:
        return _id_of(self.numbers, label)


def _label_of(labels: Mapping[str, str], id: str) -> str:
    """Return the label of an id; the id itself where no label, or one of several ids, would not lead back to it."""
    label = labels.get(id, id)
    return label if "=" not in label and _id_of(labels, label) == id else id


def _id_of(labels: Mapping[str, str], text: str) -> str:
    """Return the id that a text means, as the id or as the label of one alone; the text itself where it means none."""
    return meant_id(labels, text) or text


def rule_choices(site_id: int) -> RuleChoices:
    return RuleChoices.of(active_tree(site_id), currency_of(site_id), category_labels(site_id))


def republish_names(site_id: int) -> None:
    """Have rules published anew after the taxonomy or the categories changed, where some name levels or categories that
    are not served under their present names. Call it in a transaction."""
    columns = select(SearchRule.id, SearchRule.levels, SearchRule.categories).where(SearchRule.site_id == site_id)
    narrowed = or_(names_some(SearchRule.levels), names_some(SearchRule.categories))
    rows = db.session.execute(columns.where(narrowed)).all()
    if not rows:
        return
    served = configuration.served_names(site_id)
    names = _names_of(site_id, [(row.levels, row.categories) for row in rows])
    if any(served.get(row.id) != of for row, of in zip(rows, names, strict=True)):
        configuration.raise_version(site_id)


def names_some(column: InstrumentedAttribute[list[str]]) -> ColumnElement[bool]:
    """Return the condition that a list of a rule is not empty: a shop may have thousands of rules, few of which name a
    level or a category."""
    return cast(column, Text) != "[]"
