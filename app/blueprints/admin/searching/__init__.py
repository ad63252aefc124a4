"""The pages of the Search section that merchandisers work in. Importing the modules registers their views."""

from app.blueprints.admin.searching import products, suggestions, tabs, trying

__all__ = ["products", "suggestions", "tabs", "trying"]
