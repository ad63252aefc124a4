"""A product."""

from __future__ import annotations

from flask import Response, request

from app.blueprints.storefront.attribution import note_opened
from app.blueprints.storefront.blueprint import bp, current_shop
from app.blueprints.storefront.presentation import page_answer
from app.domain.merchandising.product_page import product_page
from app.domain.seo.heads import product_head
from app.permissions import public


@bp.get("/p/<seo_name>")
@public
def product(seo_name: str) -> Response:
    shop = current_shop()
    page = product_page(shop, seo_name, request.args.get("variant", ""))
    note_opened(page.product.id)
    return page_answer("storefront/product.html", product_head(shop, page), shop=shop, page=page, product=page.product)
