"""The shop that shoppers and crawlers read."""

from __future__ import annotations

from app.blueprints.storefront import (  # noqa: F401  (importing the views registers them)
    addresses,
    assets,
    basket,
    category,
    checkout,
    content,
    crawler_visits,
    crawlers,
    home,
    missing_page,
    origin,
    pictures,
    popular,
    presentation,
    product,
    receipt,
    search,
    suggest,
    theme_preview,
)
from app.blueprints.storefront.blueprint import bp

__all__ = ["bp"]
