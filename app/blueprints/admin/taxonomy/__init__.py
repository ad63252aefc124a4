"""Taxonomies in the admin. Importing the modules registers their views."""

from app.blueprints.admin.taxonomy import editor, products, rest, review, revisions, tasks, taxonomies

__all__ = ["editor", "products", "rest", "review", "revisions", "tasks", "taxonomies"]
