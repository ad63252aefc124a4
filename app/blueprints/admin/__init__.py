"""The admin. Importing the modules registers their views."""

from app.blueprints.admin import (
    catalogue_display,
    collections,
    display,
    pages,
    product_categories,
    product_images,
    products,
    shell,
    sign_in,
)
from app.blueprints.admin.blueprint import bp

__all__ = [
    "bp",
    "catalogue_display",
    "collections",
    "display",
    "pages",
    "product_categories",
    "product_images",
    "products",
    "shell",
    "sign_in",
]
