"""The values that products hold for one definition of an attribute, counted before it is changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import func, select

from app.domain.catalogue.models import Product, ProductAttributeValue
from app.domain.sites.settings import settings_of
from app.domain.taxonomy.levels.flat import FlatLevels, attribute_of, children_of
from app.extensions import db


@dataclass(frozen=True, slots=True)
class StoredValues:
    """The numbers of products that hold values of a definition: `products` any value, `values` each by its text.
    `counted` is False for a taxonomy that is not the active one, of which no product holds anything."""

    counted: bool = False
    products: int = 0
    values: Mapping[str, int] = field(default_factory=dict)

    def of(self, value: str) -> int:
        return self.values.get(value, 0)


NOTHING = StoredValues()


def stored_values(site_id: int, taxonomy_id: str, levels: FlatLevels, level_id: str, attribute_id: str) -> StoredValues:
    """Count the values of the products for whose level the definition on `level_id` is the nearest. Two statements at
    most."""
    if settings_of(site_id)["taxonomy-active-id"] != taxonomy_id:
        return NOTHING
    held = [ProductAttributeValue.site_id == site_id, ProductAttributeValue.attribute_id == attribute_id]
    if sum(1 for level in levels.values() if attribute_of(level, attribute_id)) > 1:
        level_ids = governed(levels, level_id, attribute_id)
        there = select(Product.id).where(Product.site_id == site_id, Product.taxonomy_level_id.in_(level_ids))
        held.append(ProductAttributeValue.product_id.in_(there))
    by_value = select(ProductAttributeValue.value, func.count()).where(*held).group_by(ProductAttributeValue.value)
    values = {value: products for value, products in db.session.execute(by_value)}
    if not values:
        return StoredValues(counted=True)
    products = db.session.scalar(select(func.count(ProductAttributeValue.product_id.distinct())).where(*held))
    return StoredValues(True, products or 0, values)


def governed(levels: FlatLevels, level_id: str, attribute_id: str) -> list[str]:
    """Return the ids of the levels for which the definition on one level is the nearest: that level and those below it
    down to the next definition."""
    children = children_of(levels)
    found, waiting = [], [level_id]
    while waiting:
        found.append(waiting.pop())
        below = children.get(found[-1], [])
        waiting += [child for child in below if not attribute_of(levels[child], attribute_id)]
    return found
