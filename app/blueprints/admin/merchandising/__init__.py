"""Merchandising trees: the trees of the shop, the page of one, the editor of a category, and landing rules."""

from app.blueprints.admin.merchandising import category, landing, move, tree, tree_filters, trees

__all__ = ["category", "landing", "move", "tree", "tree_filters", "trees"]
