"""The shop that shoppers and crawlers read."""

from __future__ import annotations

from app.blueprints.storefront import (  # noqa: F401  (importing the views registers them)
    assets,
    basket,
    category,
    checkout,
    crawlers,
    look,
    orders,
    pages,
    presentation,
    recently_viewed,
    redirects,
    request_hooks,
    search,
)
from app.blueprints.storefront.blueprint import bp

__all__ = ["bp"]
