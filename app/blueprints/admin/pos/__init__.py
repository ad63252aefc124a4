"""Mobile POS: the shop's till. Importing the modules registers their views."""

from app.blueprints.admin.pos import (
    agents,
    journal,
    overview,
    reports,
    sessions,
    settings,
    tabs,
    transaction,
    transactions,
)

__all__ = ["agents", "journal", "overview", "reports", "sessions", "settings", "tabs", "transaction", "transactions"]
