"""Products in the admin. Importing the modules registers their views."""

from app.blueprints.admin.products import classification, images, products, tables

__all__ = ["classification", "images", "products", "tables"]
