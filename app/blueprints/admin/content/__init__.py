"""The list and the editor of pages, collections and every further kind of content."""

from app.blueprints.admin.content import collections, pages

__all__ = ["collections", "pages"]
