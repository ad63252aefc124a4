"""The admin. Importing the modules registers their views."""

from app.blueprints.admin import (
    activity,
    body_sizes,
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
    settings,
    shell,
    sign_in,
    users,
)
from app.blueprints.admin.blueprint import bp

__all__ = [
    "activity",
    "body_sizes",
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
    "settings",
    "shell",
    "sign_in",
    "users",
]
