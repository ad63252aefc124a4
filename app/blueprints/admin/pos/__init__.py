"""Mobile POS: the shop's till. Importing the modules registers their views."""

from app.blueprints.admin.pos import display, overview, payment_actions, tabs, transaction, transactions

__all__ = ["display", "overview", "payment_actions", "tabs", "transaction", "transactions"]
