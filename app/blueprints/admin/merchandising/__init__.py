"""Merchandising trees: the trees of the shop, the page of one, and the editor of a category."""

from app.blueprints.admin.merchandising import category, tree, tree_filters, trees

__all__ = ["category", "tree", "tree_filters", "trees"]
