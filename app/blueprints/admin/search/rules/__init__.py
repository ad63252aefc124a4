"""Ranking rules in the admin. Importing the modules registers their views."""

from app.blueprints.admin.search.rules import editor, rest, rules

__all__ = ["editor", "rest", "rules"]
