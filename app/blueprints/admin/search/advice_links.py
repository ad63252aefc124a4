"""Links and labels of the advice about a search."""

from __future__ import annotations

from collections.abc import Callable

from flask import url_for

from app.domain.relevance.advice import Act, Advice
from app.domain.relevance.explanation import SearchExplanation
from app.domain.shared.times import rfc3339

Address = Callable[[Advice, SearchExplanation], str]


def link_of(advice: Advice, explanation: SearchExplanation) -> str:
    """Return the address of a page on which to follow the advice; some advice also has a button on the page of the
    test."""
    return _ADDRESSES[advice.act](advice, explanation)


def label_of(advice: Advice) -> str:
    """Return the label of the link or the button."""
    if advice.act is Act.ADD_TERM:
        return f"Add “{advice.words}” as a search term"
    return f"Add a synonym of “{advice.words}”" if advice.act is Act.ADD_SYNONYM else _LABELS[advice.act]


def _editor(_advice: Advice, explanation: SearchExplanation) -> str:
    return url_for("admin.product_edit", product_id=explanation.product.id if explanation.product else 0)


def _sku(explanation: SearchExplanation) -> str | None:
    return explanation.product.sku if explanation.product else None


def _rule(advice: Advice, _explanation: SearchExplanation) -> str:
    return url_for("admin.search_rule", rule_id=advice.id or 0)


def _new_rule(_advice: Advice, explanation: SearchExplanation) -> str:
    return url_for("admin.search_rule_new", term=explanation.words, pin=_sku(explanation))


def _again(_advice: Advice, explanation: SearchExplanation) -> str:
    request = explanation.request
    at = rfc3339(request.at) if request.at else None
    return url_for("admin.search_test", q=request.words or None, product=request.reference or None, at=at)


_ADDRESSES: dict[Act, Address] = {
    Act.SETTINGS: lambda advice, found: url_for("admin.search_settings"),
    Act.OVERVIEW: lambda advice, found: url_for("admin.search_overview"),
    Act.RANKING: lambda advice, found: url_for("admin.search_ranking_settings"),
    Act.FIND_PRODUCT: lambda advice, found: url_for("admin.products_list", q=found.request.reference),
    Act.ENABLE: _editor,
    Act.INDEX: _editor,
    Act.EDIT_PRODUCT: _editor,
    Act.ADD_TERM: lambda advice, found: url_for("admin.search_terms", term=advice.words, product=_sku(found)),
    Act.CHOOSE_PRODUCT: lambda advice, found: url_for("admin.search_terms", term=advice.words),
    Act.ACCEPT: lambda advice, found: url_for("admin.search_synonyms", _anchor="suggestions"),
    Act.ADD_SYNONYM: lambda advice, found: url_for("admin.search_synonyms", word=advice.words),
    Act.ADD_RULE: _new_rule,
    Act.EDIT_RULE: _rule,
    Act.SYNONYMS: lambda advice, found: url_for("admin.search_synonyms"),
    Act.AGAIN: _again,
}

_LABELS = {
    Act.SETTINGS: "Search settings",
    Act.OVERVIEW: "Go to the Overview",
    Act.RANKING: "Ranking of searches",
    Act.FIND_PRODUCT: "Look in the catalogue",
    Act.ENABLE: "Show it in the shop",
    Act.INDEX: "Index it again",
    Act.EDIT_PRODUCT: "Edit the product",
    Act.CHOOSE_PRODUCT: "Add to a product",
    Act.ACCEPT: "Accept the synonym",
    Act.ADD_RULE: "Add a rule",
    Act.EDIT_RULE: "Edit the rule",
    Act.SYNONYMS: "Go to Synonyms",
    Act.AGAIN: "Test again",
}
