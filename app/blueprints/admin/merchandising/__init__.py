"""Merchandising trees: the trees of the shop, the page of one, the editor of a category, and landing rules."""

from app.blueprints.admin.merchandising import category, category_picture, landing, tree, tree_filters, trees

__all__ = ["category", "category_picture", "landing", "tree", "tree_filters", "trees"]
