"""Where a piece of advice about a search leads."""

from __future__ import annotations

from collections.abc import Callable

from flask import url_for

from app.domain.search.testing.advice import Act, Advice
from app.domain.search.testing.findings import Findings
from app.domain.shared.times import rfc3339

Address = Callable[[Advice, Findings], str]


def link_of(advice: Advice, findings: Findings) -> str:
    """A page on which it can be done; several acts have a button on the page of the test besides."""
    return _ADDRESSES[advice.act](advice, findings)


def _editor(_advice: Advice, findings: Findings) -> str:
    return url_for("admin.product_edit", product_id=findings.product.id if findings.product else 0)


def _sku(findings: Findings) -> str | None:
    return findings.product.sku if findings.product else None


def _rule(advice: Advice, _findings: Findings) -> str:
    return url_for("admin.search_rule", rule_id=advice.id or 0)


def _new_rule(_advice: Advice, findings: Findings) -> str:
    return url_for("admin.search_rule_new", term=findings.words, pin=_sku(findings))


def _again(_advice: Advice, findings: Findings) -> str:
    question = findings.question
    at = rfc3339(question.at) if question.at else None
    return url_for("admin.search_test", q=question.words or None, product=question.reference or None, at=at)


_ADDRESSES: dict[Act, Address] = {
    Act.SETTINGS: lambda advice, findings: url_for("admin.search_settings"),
    Act.OVERVIEW: lambda advice, findings: url_for("admin.search_overview"),
    Act.FIND_PRODUCT: lambda advice, findings: url_for("admin.products_list", q=findings.question.reference),
    Act.ENABLE: _editor,
    Act.INDEX: _editor,
    Act.EDIT_PRODUCT: _editor,
    Act.ADD_TERM: lambda advice, findings: url_for("admin.search_terms", term=advice.words, product=_sku(findings)),
    Act.CHOOSE_PRODUCT: lambda advice, findings: url_for("admin.search_terms", term=advice.words),
    Act.ACCEPT: lambda advice, findings: url_for("admin.search_synonyms", _anchor="suggestions"),
    Act.ADD_SYNONYM: lambda advice, findings: url_for("admin.search_synonyms", word=advice.words),
    Act.ADD_RULE: _new_rule,
    Act.EDIT_RULE: _rule,
    Act.SYNONYMS: lambda advice, findings: url_for("admin.search_synonyms"),
    Act.AGAIN: _again,
}
