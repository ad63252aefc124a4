"""Mobile POS: the shop's till. Importing the modules registers their views."""

from app.blueprints.admin.pos import agents, overview, reports, sessions, settings, tabs, transaction, transactions

__all__ = ["agents", "overview", "reports", "sessions", "settings", "tabs", "transaction", "transactions"]
