"""The products that categories show, as conditions of the database; `ShopTree.categories_of` does the same for one
product."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from sqlalchemy import ColumnElement, and_, false, func, or_, select

from app.domain.catalogue.models import Product
from app.domain.merchandising.category_rules import SourceRule
from app.domain.merchandising.models import Placement
from app.domain.taxonomy.tree import TaxonomyTree
from app.extensions import db

SIDE_BY_SIDE = 50  # Conditions in one OR: SQLite takes an OR of a thousand for an expression that nests too deep.


def shown_by(
    site_id: int, node_ids: Collection[int], rules: Iterable[SourceRule], taxonomy: TaxonomyTree
) -> list[ColumnElement[bool]]:
    """Conditions of which any holds for a product that is placed by hand in one of the categories, or taken by one of
    the rules. Rules for the same manufacturers are one condition."""
    placed = select(Placement.product_id).where(Placement.node_id.in_(node_ids))
    by_hand = [Product.id.in_(placed)] if node_ids else []
    return [*by_hand, *_taken(_levels_by_makers(site_id, rules, taxonomy))]


def any_of(conditions: Sequence[ColumnElement[bool]]) -> ColumnElement[bool]:
    """Join conditions by OR, however many there are. Each part is wrapped in a function, since SQLAlchemy would flatten
    nested ORs into one."""
    if len(conditions) <= SIDE_BY_SIDE:
        return or_(false(), *conditions)
    parts = [conditions[start : start + SIDE_BY_SIDE] for start in range(0, len(conditions), SIDE_BY_SIDE)]
    return any_of([func.coalesce(any_of(part), false()) for part in parts])


Makers = frozenset[str]
ANY_MAKER: Makers = frozenset()


def _levels_by_makers(
    site_id: int, rules: Iterable[SourceRule], taxonomy: TaxonomyTree
) -> Mapping[Makers, set[str] | None]:
    """Return the levels that rules take, those below them included, by set of manufacturers; None is any level. The
    names are those that the products have: case does not matter in any alphabet, and databases fold it differently."""
    rules = [rule for rule in rules if rule != SourceRule()]
    known = _makers(site_id) if any(rule.manufacturers for rule in rules) else {}
    found: dict[Makers, set[str] | None] = {}
    for rule in rules:
        makers = frozenset(name for maker in rule.manufacturers for name in known.get(maker.casefold(), ()))
        if rule.manufacturers and not makers:
            continue
        levels = {level_id for source in rule.levels for level_id in taxonomy.below(source)} if rule.levels else None
        before = found.get(makers, set())
        found[makers] = None if levels is None or before is None else before | levels
    return found


def _taken(levels_by_makers: Mapping[Makers, set[str] | None]) -> Iterator[ColumnElement[bool]]:
    of_any_level = sorted({name for makers, levels in levels_by_makers.items() if levels is None for name in makers})
    if of_any_level:
        yield Product.manufacturer.in_(of_any_level)
    for makers, levels in levels_by_makers.items():
        if levels:
            is_of_level = Product.taxonomy_level_id.in_(sorted(levels))
            yield is_of_level if makers == ANY_MAKER else and_(is_of_level, Product.manufacturer.in_(sorted(makers)))


def _makers(site_id: int) -> Mapping[str, list[str]]:
    """The names of manufacturers as products have them, by their folded form."""
    found: dict[str, list[str]] = {}
    for name in db.session.scalars(select(Product.manufacturer).where(Product.site_id == site_id).distinct()):
        found.setdefault(name.casefold(), []).append(name)
    return found
