"""Which products categories show, as conditions of the database; `ShopTree.categories_of` asks it of one product."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from sqlalchemy import ColumnElement, and_, or_, select

from app.domain.catalogue.models import Product
from app.domain.merchandising.category_rules import SourceRule
from app.domain.merchandising.models import Placement
from app.domain.taxonomy.levels.tree import TaxonomyTree
from app.extensions import db


def shown_by(
    site_id: int, node_ids: Collection[int], rules: Iterable[SourceRule], taxonomy: TaxonomyTree
) -> ColumnElement[bool]:
    """Whether a product is placed by hand in one of the categories or taken by one of the rules."""
    placed = select(Placement.product_id).where(Placement.node_id.in_(node_ids))
    return or_(Product.id.in_(placed), *_taken(site_id, rules, taxonomy))


def _taken(site_id: int, rules: Iterable[SourceRule], taxonomy: TaxonomyTree) -> Iterator[ColumnElement[bool]]:
    for rule in rules:
        levels = {level_id for source in rule.levels for level_id in taxonomy.below(source)}
        is_of_level = Product.taxonomy_level_id.in_(sorted(levels))
        if rule.levels and rule.manufacturers:
            yield and_(is_of_level, _is_made_by(site_id, rule))
        elif rule.levels:
            yield is_of_level
        elif rule.manufacturers:
            yield _is_made_by(site_id, rule)


def _is_made_by(site_id: int, rule: SourceRule) -> ColumnElement[bool]:
    """Case does not matter in any alphabet, which databases see differently."""
    wanted = {name.casefold() for name in rule.manufacturers}
    makers = db.session.scalars(select(Product.manufacturer).where(Product.site_id == site_id).distinct())
    return Product.manufacturer.in_([maker for maker in makers if maker.casefold() in wanted])
