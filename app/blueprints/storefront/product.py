"""A product."""

from __future__ import annotations

from flask import request

from app.blueprints.storefront.attribution import note_opened
from app.blueprints.storefront.blueprint import bp, current_shop
from app.blueprints.storefront.presentation import drawn
from app.domain.merchandising.product_page import product_page
from app.permissions import public


@bp.get("/p/<seo_name>")
@public
def product(seo_name: str) -> str:
    shop = current_shop()
    page = product_page(shop, seo_name, request.args.get("variant", ""))
    note_opened(page.product.id)
    return drawn("storefront/product.html", shop=shop, page=page, product=page.product)
