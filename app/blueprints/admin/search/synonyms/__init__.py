"""Synonyms in the admin. Importing the modules registers their views."""

from app.blueprints.admin.search.synonyms import rest, suggestions, synonyms

__all__ = ["rest", "suggestions", "synonyms", "table"]
