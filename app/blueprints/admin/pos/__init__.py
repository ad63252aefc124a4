"""Mobile POS: the shop's till. Importing the modules registers their views."""

from app.blueprints.admin.pos import (
    agent,
    agents,
    differences,
    display,
    locations,
    overview,
    payment_actions,
    receipt,
    settings,
    tabs,
    transaction,
    transactions,
)

__all__ = [
    "agent",
    "agents",
    "differences",
    "display",
    "locations",
    "overview",
    "payment_actions",
    "receipt",
    "settings",
    "tabs",
    "transaction",
    "transactions",
]
