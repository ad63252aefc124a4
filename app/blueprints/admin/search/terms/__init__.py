"""Search terms in the admin. Importing the modules registers their views."""

from app.blueprints.admin.search.terms import rest, terms

__all__ = ["rest", "terms"]
