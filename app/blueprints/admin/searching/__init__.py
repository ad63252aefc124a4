"""The pages of the Search section that merchandisers work in. Importing the modules registers their views."""

from app.blueprints.admin.searching import (
    analytics,
    effect,
    history,
    products,
    rule_editor,
    rules,
    rules_rest,
    suggestions,
    synonyms,
    synonyms_rest,
    synonyms_table,
    tabs,
    terms,
    terms_rest,
    test,
    trying,
)

__all__ = [
    "analytics",
    "effect",
    "history",
    "products",
    "rule_editor",
    "rules",
    "rules_rest",
    "suggestions",
    "synonyms",
    "synonyms_rest",
    "synonyms_table",
    "tabs",
    "terms",
    "terms_rest",
    "test",
    "trying",
]
