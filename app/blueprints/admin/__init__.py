"""The admin. Importing the modules registers their views."""

from app.blueprints.admin import (
    catalogue_display,
    collections,
    dashboard,
    display,
    pages,
    product_categories,
    product_images,
    products,
    search,
    search_rest,
    search_settings,
    shell,
    sign_in,
)
from app.blueprints.admin.blueprint import bp

__all__ = [
    "bp",
    "catalogue_display",
    "collections",
    "dashboard",
    "display",
    "pages",
    "product_categories",
    "product_images",
    "products",
    "search",
    "search_rest",
    "search_settings",
    "shell",
    "sign_in",
]
