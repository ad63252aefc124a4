"""The pages of the Search section that merchandisers work in. Importing the modules registers their views."""

from app.blueprints.admin.search import (
    analytics,
    charts,
    effect,
    golden,
    history,
    overview,
    products,
    rest,
    rules,
    settings,
    synonyms,
    tables,
    tabs,
    terms,
    test,
    trials,
)

__all__ = [
    "analytics",
    "charts",
    "effect",
    "golden",
    "history",
    "overview",
    "products",
    "rest",
    "rules",
    "settings",
    "synonyms",
    "tables",
    "tabs",
    "terms",
    "test",
    "trials",
]
