"""Products in the admin. Importing the modules registers their views."""

from app.blueprints.admin.products import categories, classify, images, products, tables, taxonomy

__all__ = ["categories", "classify", "images", "products", "tables", "taxonomy"]
