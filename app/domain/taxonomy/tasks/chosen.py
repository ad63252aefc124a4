"""The chosen products: those that were ticked, or all of a filtered list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Select, func, select

from app.domain.catalogue.listing import ProductList
from app.domain.catalogue.models import Product
from app.domain.catalogue.products import MOST_AT_ONCE
from app.domain.shared.problems import Invalid
from app.domain.taxonomy.levels.tree import TaxonomyTree
from app.domain.taxonomy.products.filters import matching_ids
from app.extensions import db


def chosen_products(site_id: int, product_ids: Sequence[int], filters: ProductList) -> dict[str, Any]:
    """Return the parameters of a task about these products, or without ids about all of the filtered list, except
    products that are added later. Raises Invalid for more than MOST_AT_ONCE ids."""
    if len(set(product_ids)) > MOST_AT_ONCE:
        raise Invalid.one("too_many", f"At most {MOST_AT_ONCE} products can be ticked at once.")
    if product_ids:
        return {"products": sorted(set(product_ids))}
    newest = db.session.scalar(select(func.max(Product.id)).where(Product.site_id == site_id))
    return {"filter": filters.query(), "upTo": newest or 0}


def ids_of(site_id: int, parameters: Mapping[str, Any], tree: TaxonomyTree) -> Select[int]:
    """Return the query of the ids of the products that the parameters of a task name, in any order; only products of
    the site are among them."""
    if "products" in parameters:
        return select(Product.id).where(Product.site_id == site_id, Product.id.in_(parameters["products"]))
    filters = ProductList.parse(parameters["filter"])
    return matching_ids(site_id, filters, tree).where(Product.id <= parameters["upTo"])


def how_many(site_id: int, parameters: Mapping[str, Any], tree: TaxonomyTree) -> int:
    query = ids_of(site_id, parameters, tree).with_only_columns(func.count())
    return db.session.scalar(query) or 0
