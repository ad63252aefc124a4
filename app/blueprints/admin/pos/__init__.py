"""Mobile POS: the shop's till. Importing the modules registers their views."""

from app.blueprints.admin.pos import overview, tabs

__all__ = ["overview", "tabs"]
