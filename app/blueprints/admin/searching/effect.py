"""Did it help? A fragment for the pages of synonyms and rules, and a page of its own for a product's search terms."""

from __future__ import annotations

from datetime import date
from typing import Any

from flask import render_template
from flask_login import current_user

from app import ports
from app.blueprints.admin.blueprint import bp
from app.domain.search.analytics import did_it_help
from app.domain.search.analytics.did_it_help import Told
from app.domain.search.analytics.effect_lines import lines
from app.domain.sites.shop_settings import shop_settings
from app.htmx import wants_fragment
from app.permissions import Permission, requires

EFFECT = "/search/effect"
LARGEST = "max=2147483647"


@bp.get(f"{EFFECT}/synonym/<int({LARGEST}):synonym_id>")
@requires(Permission.MANAGE_SEARCH)
def search_effect_of_synonym(synonym_id: int) -> str:
    told = did_it_help.of_synonym(ports.clock(), current_user.site_id, synonym_id)
    return _answer([told], f"Synonym {told.subject}", "admin.search_synonyms")


@bp.get(f"{EFFECT}/rule/<int({LARGEST}):rule_id>")
@requires(Permission.MANAGE_SEARCH)
def search_effect_of_rule(rule_id: int) -> str:
    told = did_it_help.of_rule(ports.clock(), current_user.site_id, rule_id)
    return _answer([told], f"Rule for “{told.subject}”", "admin.search_ranking")


@bp.get(f"{EFFECT}/terms/<int({LARGEST}):product_id>")
@requires(Permission.MANAGE_SEARCH)
def search_effect_of_terms(product_id: int) -> str:
    told = did_it_help.of_terms(ports.clock(), current_user.site_id, product_id)
    return _answer(told.terms, f"Search terms of {told.product_name}", "admin.search_terms", named=True)


def _answer(told: Any, subject: str, tab_of: str, named: bool = False) -> str:
    template = "_effects.html" if wants_fragment() else "page.html"
    currency = shop_settings(current_user.site_id).currency
    shown = {"told": told, "subject": subject, "tab_of": tab_of, "named": named}
    return render_template(f"admin/search/effect/{template}", **shown, lines_of=lambda one: _lines(one, currency))


def _lines(told: Told, currency: str) -> Any:
    assert told.effect is not None
    return lines(told.effect.before, told.effect.after, currency)


@bp.app_template_filter("day_told")
def day_told(day: date) -> str:
    """A day without its year where it is clear: "3 November"."""
    return f"{day.day} {day:%B}"
