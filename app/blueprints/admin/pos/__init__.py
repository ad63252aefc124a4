"""Mobile POS: the shop's till. Importing the modules registers their views."""

from app.blueprints.admin.pos import agents, overview, settings, tabs, transaction, transactions

__all__ = ["agents", "overview", "settings", "tabs", "transaction", "transactions"]
