"""The way in."""

from __future__ import annotations

from flask import render_template

from app import ports
from app.blueprints.storefront.blueprint import bp, current_shop
from app.domain.search.browsing import home_shelves
from app.permissions import public


@bp.get("/")
@public
def home() -> str:
    shop = current_shop()
    return render_template("storefront/home.html", shop=shop, shelves=home_shelves(ports.search_engine(), shop))
