"""The categories that shoppers browse, and the products of each, for everybody."""

from __future__ import annotations

from typing import Any

from marshmallow import fields

from app import ports
from app.blueprints.callers import rate_limited
from app.blueprints.storefront.blueprint import current_shop
from app.blueprints.storefront.category import NO_CATEGORY
from app.blueprints.v1.api import PageQuery, Shape
from app.blueprints.v1.catalogue import READS, ProductsShape, bp, products_page
from app.blueprints.v1.description import ETAG
from app.domain.merchandising.category_rules import depth_of
from app.domain.merchandising.tree import ShopNode
from app.domain.search.listings.browsing import category_counts, products_of_category
from app.domain.shared.paging import Paged
from app.domain.shared.records import existing
from app.web.permissions import public


class CategoryShape(Shape):
    id = fields.Str(required=True)
    name = fields.Str(required=True, metadata={"example": "Family tents"})
    path = fields.Str(required=True, metadata={"description": "Its address in the shop is `/c/` and this."})
    parent_id = fields.Str(required=True, allow_none=True, metadata={"description": "null at the top of the tree."})
    depth = fields.Int(required=True, metadata={"description": "1 at the top of the tree."})
    products = fields.Int(
        required=True,
        allow_none=True,
        metadata={"description": "How many are for sale in it and below; null while search does not answer."},
    )


class CategoriesShape(Shape):
    items = fields.List(fields.Nested(CategoryShape), required=True)


@bp.get("/category")
@public
@rate_limited(*READS)
@bp.open_to_all
@bp.described("listCategories", 404, 429)
@bp.response(200, CategoriesShape, headers=ETAG)
@bp.alt_response(304, description="What was sent as If-None-Match still holds.")
def categories() -> dict[str, Any]:
    """All categories that shoppers browse, in their order: each is followed by those below it."""
    shop = current_shop()
    counts = category_counts(ports.search_engine(), shop.site_id)
    return {"items": [_category_json(node, counts.of(node.id)) for node in shop.tree.shown()]}


@bp.get("/category/<path:path>/products")
@public
@rate_limited(*READS)
@bp.open_to_all
@bp.described("listCategoryProducts", 404, 429)
@bp.arguments(PageQuery, location="query")
@bp.response(200, ProductsShape, headers=ETAG)
@bp.alt_response(304, description="What was sent as If-None-Match still holds.")
def category_products(query: dict[str, int], path: str) -> Paged[dict[str, Any]]:
    """The products of a category that are for sale, and of those below it, as shoppers see them first.

    `path` is that of the list of categories and may have slashes.
    """
    shop = current_shop()
    node = existing(shop.tree.at(path), NO_CATEGORY)
    engine = ports.search_engine()
    return products_page(products_of_category(engine, shop, node, query["page_number"], query["page_size"]))


def _category_json(node: ShopNode, products: int | None) -> dict[str, Any]:
    return {
        "id": str(node.id),
        "name": node.name,
        "path": node.path,
        "parent_id": None if node.parent_id is None else str(node.parent_id),
        "depth": depth_of(node.path),
        "products": products,
    }
