"""The pages of the Search section that merchandisers work in. Importing the modules registers their views."""

from app.blueprints.admin.search import (
    analytics,
    comparisons,
    golden,
    history,
    learning,
    overview,
    rule_editor,
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
    "comparisons",
    "golden",
    "history",
    "learning",
    "overview",
    "rule_editor",
    "rules",
    "settings",
    "synonyms",
    "tables",
    "tabs",
    "terms",
    "test",
    "trials",
]
