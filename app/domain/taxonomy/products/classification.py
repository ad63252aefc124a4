"""The classification of a product: its level, its checked values and how complete they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import delete, insert, select

from app.domain.catalogue.models import Product, ProductAttributeValue
from app.domain.shared.problems import Invalid
from app.domain.sites.models import Setting, Site
from app.domain.sites.settings import settings_of
from app.domain.taxonomy.levels.attribute import Attribute
from app.domain.taxonomy.levels.completeness import completeness, missing
from app.domain.taxonomy.levels.tree import TaxonomyTree
from app.domain.taxonomy.levels.values import (
    NOTHING_STORED,
    DroppedValue,
    Value,
    check_values,
    in_current_words,
    value_texts,
)
from app.domain.taxonomy.models import Taxonomy
from app.extensions import db

ENGINE_CAPABILITY = "TAXONOMY_ENGINE"
UNKNOWN_LEVEL = "unknown_level"
LONGEST_COUNTED_VALUE = 500  # Characters of a text that the index of values holds.


@dataclass(frozen=True, slots=True)
class Classification:
    """The level of a product with its checked values. `score` is the completeness in per cent, None without a level;
    `missing` are the mandatory attributes that have no value."""

    level_id: str | None = None
    values: dict[str, Value] = field(default_factory=dict)
    score: int | None = None
    dropped: tuple[DroppedValue, ...] = ()
    missing: tuple[Attribute, ...] = ()


UNCLASSIFIED = Classification()


def check_level(tree: TaxonomyTree, level_id: str) -> None:
    """Check that the taxonomy has a level. Raises Invalid."""
    if level_id not in tree.levels:
        raise Invalid.one(UNKNOWN_LEVEL, f"The active taxonomy has no level “{level_id[:80]}”.", "#/levelId")


def classification(
    tree: TaxonomyTree, level_id: str, raw_values: Mapping[str, Any], stored: Mapping[str, Any] = NOTHING_STORED
) -> Classification:
    """Return the classification by a level and raw values. Values that break rules are dropped and reported, and those
    that are `stored` in their places stay. Raises Invalid when the taxonomy has no such level."""
    check_level(tree, level_id)
    attributes = tree.applicable_attributes(level_id)
    values, dropped = check_values(attributes, raw_values, stored)
    score = completeness(attributes, values)
    gaps = missing(attributes, values) if score < 100 else []
    return Classification(level_id, values, score, tuple(dropped), tuple(gaps))


def classify(
    product: Product, tree: TaxonomyTree, level_id: str | None, raw_values: Mapping[str, Any]
) -> Classification:
    """Give a product its level and values, and update the index of values; None as level takes the classification away.
    A value that breaks a rule leaves the stored one in place. The product must have its id. Raises Invalid for an
    unknown level."""
    stored = values_held(tree, product.taxonomy_level_id, product.taxonomy_attributes)
    found = UNCLASSIFIED if level_id is None else classification(tree, level_id, raw_values, stored)
    hold(product, found)
    return found


def values_held(tree: TaxonomyTree, level_id: str | None, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a product of a level in their current words."""
    return in_current_words(tree.applicable_attributes(level_id or ""), values)


def hold(product: Product, found: Classification) -> None:
    """Write a classification to its product and to the index of values."""
    if (found.level_id, found.values) != (product.taxonomy_level_id, product.taxonomy_attributes):
        product.taxonomy_level_id = found.level_id
        product.taxonomy_attributes = found.values
        index_values([product])
    if found.score != product.completeness_score:
        product.completeness_score = found.score


def counted_values(values: Mapping[str, Value]) -> set[tuple[str, str]]:
    """The (attribute id, text) pairs under which a product is counted."""
    return {
        (attribute_id, text[:LONGEST_COUNTED_VALUE])
        for attribute_id, value in values.items()
        for text in value_texts(value)
    }


def keep_values(product: Product, tree: TaxonomyTree, values: dict[str, Value]) -> None:
    """Set the values of a product unchecked, and its completeness by them; its level stays. The caller calls
    `index_values` afterwards."""
    product.taxonomy_attributes = values
    level_id = product.taxonomy_level_id
    if level_id is not None and level_id in tree.levels:
        product.completeness_score = completeness(tree.applicable_attributes(level_id), values)


def index_values(products: Sequence[Product]) -> None:
    """Replace the products' rows in the index of values by their present values, in two statements."""
    if not products:
        return
    held = ProductAttributeValue.product_id.in_([product.id for product in products])
    db.session.execute(delete(ProductAttributeValue).where(held))
    rows = [
        {"product_id": product.id, "site_id": product.site_id, "attribute_id": attribute_id, "value": text}
        for product in products
        for attribute_id, text in sorted(counted_values(product.taxonomy_attributes))
    ]
    if rows:
        db.session.execute(insert(ProductAttributeValue), rows)


def hold_active(site_id: int) -> str | None:
    """Return the id of the active taxonomy, and lock the setting until this transaction ends: another activation waits.
    Call it before reading products or the tree in order to classify; else, on PostgreSQL, a product could be given a
    level of the taxonomy that was active a moment ago."""
    row = select(Setting.value).where(Setting.site_id == site_id, Setting.key == "taxonomy-active-id")
    held: str | None = db.session.scalar(row.with_for_update(read=True))
    return held


def has_engine(site_id: int) -> bool:
    """Whether the site's plan includes the taxonomy engine."""
    site = db.session.get(Site, site_id)
    return site is not None and ENGINE_CAPABILITY in site.capabilities


def active_taxonomy_id(site_id: int) -> str | None:
    """The id that the site's setting names, whether or not there is such a taxonomy; None when the site's plan lacks
    the taxonomy engine."""
    if not has_engine(site_id):
        return None
    active_id: str | None = settings_of(site_id)["taxonomy-active-id"]
    return active_id


def active_taxonomy(site_id: int) -> Taxonomy | None:
    """The taxonomy that the site's setting names; None without one, when it is gone, or when the site's plan lacks
    the taxonomy engine."""
    active_id = active_taxonomy_id(site_id)
    if active_id is None:
        return None
    return db.session.scalar(select(Taxonomy).where(Taxonomy.site_id == site_id, Taxonomy.id == active_id))


def active_tree(site_id: int) -> TaxonomyTree:
    """The levels of the active taxonomy; an empty tree where none is active."""
    taxonomy = active_taxonomy(site_id)
    return TaxonomyTree() if taxonomy is None else TaxonomyTree.parse(taxonomy.root_levels)
