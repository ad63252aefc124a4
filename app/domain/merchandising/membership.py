"""The products that categories show: placed by hand in an order of their own, and taken by rules; and which of them
stand last. As conditions of the database, and as counts for the taxonomy as it is or as it might be;
`ShopTree.categories_of` does the same for one product."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, false, func, or_, select

from app.domain.catalogue.models import Product
from app.domain.merchandising.category_rules import MOST_BURIED, SourceRule
from app.domain.merchandising.models import Burial, Placement
from app.domain.merchandising.tree import ShopTree
from app.domain.shared.paging import batched
from app.domain.shared.records import distinct_values
from app.domain.taxonomy.tree import TaxonomyTree
from app.extensions import db

SIDE_BY_SIDE = 50  # Conditions in one OR: SQLite takes an OR of a thousand for an expression that nests too deep.


def shown_by(
    site_id: int, node_ids: Collection[int], rules: Iterable[SourceRule], taxonomy: TaxonomyTree
) -> list[ColumnElement[bool]]:
    """Return conditions of which any holds for a product that is placed by hand in one of the categories, or taken by
    one of the rules. Rules for the same manufacturers are one condition."""
    placed = select(Placement.product_id).where(Placement.node_id.in_(node_ids))
    by_hand = [Product.id.in_(placed)] if node_ids else []
    return [*by_hand, *_rule_conditions(_levels_by_makers(site_id, rules, taxonomy))]


def any_of(conditions: Sequence[ColumnElement[bool]]) -> ColumnElement[bool]:
    """Join conditions by OR, however many there are. Each part is wrapped in a function, since SQLAlchemy would flatten
    nested ORs into one."""
    if len(conditions) <= SIDE_BY_SIDE:
        return or_(false(), *conditions)
    return any_of([func.coalesce(any_of(part), false()) for part in batched(conditions, SIDE_BY_SIDE)])


Makers = frozenset[str]
ANY_MAKER: Makers = frozenset()


def _levels_by_makers(
    site_id: int, rules: Iterable[SourceRule], taxonomy: TaxonomyTree
) -> Mapping[Makers, set[str] | None]:
    """Return the levels that rules take, those below them included, by set of manufacturers; None is any level. The
    names are those that the products have: case does not matter in any alphabet, and databases fold it differently."""
    rules = [rule for rule in rules if rule != SourceRule()]
    known = _makers_by_folded_name(site_id) if any(rule.manufacturers for rule in rules) else {}
    found: dict[Makers, set[str] | None] = {}
    for rule in rules:
        makers = frozenset(name for maker in rule.manufacturers for name in known.get(maker.casefold(), ()))
        if rule.manufacturers and not makers:
            continue
        levels = {level_id for source in rule.levels for level_id in taxonomy.below(source)} if rule.levels else None
        before = found.get(makers, set())
        found[makers] = None if levels is None or before is None else before | levels
    return found


def _rule_conditions(levels_by_makers: Mapping[Makers, set[str] | None]) -> Iterator[ColumnElement[bool]]:
    of_any_level = sorted({name for makers, levels in levels_by_makers.items() if levels is None for name in makers})
    if of_any_level:
        yield Product.manufacturer.in_(of_any_level)
    for makers, levels in levels_by_makers.items():
        if levels:
            is_of_level = Product.taxonomy_level_id.in_(sorted(levels))
            yield is_of_level if makers == ANY_MAKER else and_(is_of_level, Product.manufacturer.in_(sorted(makers)))


def _makers_by_folded_name(site_id: int) -> Mapping[str, list[str]]:
    """Return the names of manufacturers as products have them, by their folded form."""
    found: dict[str, list[str]] = {}
    for name in db.session.scalars(distinct_values(Product.manufacturer, Product.site_id == site_id)):
        found.setdefault(name.casefold(), []).append(name)
    return found


ORDERED_BY_HAND = 500  # Products of a category whose hand-made order is kept; the rest follow.


def hand_made_order(site_id: int, node_id: int) -> list[int]:
    """Return the ids of the products placed in a category by hand, in its own order, those that it buries last."""
    is_same = and_(Burial.node_id == Placement.node_id, Burial.product_id == Placement.product_id)
    return list(
        db.session.scalars(
            select(Placement.product_id)
            .outerjoin(Burial, is_same)
            .where(Placement.site_id == site_id, Placement.node_id == node_id)
            .order_by(Burial.product_id.is_not(None), Placement.position, Placement.product_id)
            .limit(ORDERED_BY_HAND)
        )
    )


def buried_in(site_id: int, node_id: int) -> list[int]:
    """Return the ids of the products that a category buries; some may not be in it at the time."""
    query = select(Burial.product_id).where(Burial.site_id == site_id, Burial.node_id == node_id)
    return list(db.session.scalars(query.order_by(Burial.product_id).limit(MOST_BURIED)))


def buried_products(site_id: int) -> dict[int, tuple[int, ...]]:
    """Return the ids of the products that each category of a site buries, in one statement."""
    query = select(Burial.node_id, Burial.product_id).where(Burial.site_id == site_id)
    found: defaultdict[int, list[int]] = defaultdict(list)
    for node_id, product_id in db.session.execute(query.order_by(Burial.product_id)):
        found[node_id].append(product_id)
    return {node_id: tuple(ids) for node_id, ids in found.items()}


def placed_in(site_id: int, product_id: int) -> list[int]:
    """Return the ids of the categories in which a product is placed by hand."""
    return list(
        db.session.scalars(
            select(Placement.node_id).where(Placement.site_id == site_id, Placement.product_id == product_id)
        )
    )


@dataclass(frozen=True, slots=True)
class ProductGroup:
    """Products that every category takes alike: of one level and manufacturer, placed by hand in the same ones."""

    level_id: str
    manufacturer: str
    placed_in: tuple[int, ...]
    products: int


def product_groups(site_id: int) -> list[ProductGroup]:
    """Return the products that shoppers see as groups, in two statements."""
    return [*_placed_groups(site_id), *_other_groups(site_id)]


def count_by_maker(groups: list[ProductGroup], tree: ShopTree, taxonomy: TaxonomyTree) -> Counter[tuple[int, str]]:
    """Return the number of products by the id of the category and the manufacturer; a level that the taxonomy lacks
    counts as none."""
    counted: Counter[tuple[int, str]] = Counter()
    for group in groups:
        path = taxonomy.path_ids(group.level_id)
        for node_id in tree.categories_of(path, group.manufacturer, group.placed_in):
            counted[node_id, group.manufacturer] += group.products
    return counted


def count_by_category(by_maker: Counter[tuple[int, str]]) -> Counter[int]:
    """Return the number of products by the id of the category."""
    counted: Counter[int] = Counter()
    for (node_id, _), products in by_maker.items():
        counted[node_id] += products
    return counted


def _other_groups(site_id: int) -> Iterator[ProductGroup]:
    level_id, manufacturer = Product.taxonomy_level_id, Product.manufacturer
    placed = select(Placement.product_id).where(Placement.site_id == site_id)
    query = select(level_id, manufacturer, func.count()).where(Product.site_id == site_id, Product.enabled)
    query = query.where(Product.id.not_in(placed)).group_by(level_id, manufacturer)
    for level, maker, products in db.session.execute(query):
        yield ProductGroup(level or "", maker, (), products)


def _placed_groups(site_id: int) -> Iterator[ProductGroup]:
    query = select(Placement.product_id, Placement.node_id, Product.taxonomy_level_id, Product.manufacturer)
    query = query.join(Product, Product.id == Placement.product_id)
    places: defaultdict[tuple[int, str, str], list[int]] = defaultdict(list)
    for product_id, node_id, level, maker in db.session.execute(
        query.where(Placement.site_id == site_id, Product.enabled)
    ):
        places[product_id, level or "", maker].append(node_id)
    for (_, level_id, manufacturer), node_ids in places.items():
        yield ProductGroup(level_id, manufacturer, tuple(node_ids), 1)
