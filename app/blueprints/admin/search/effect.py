"""The effect of a change: a fragment for synonyms, rules and learning from clicks, and a page for the search terms of a
product."""

from __future__ import annotations

from collections.abc import Sequence

from flask import render_template
from flask_login import current_user

from app import ports
from app.blueprints.admin.blueprint import bp
from app.domain.relevance import effect
from app.domain.relevance.effect import Effect
from app.domain.search_statistics.counting.purge import KEEP_WORDS
from app.domain.search_statistics.measures import effect_rows
from app.domain.sites.sites import currency_of
from app.htmx import wants_fragment
from app.permissions import Permission, requires

EFFECT = "/search/effect"
LARGEST = "max=2147483647"


@bp.get(f"{EFFECT}/synonym/<int({LARGEST}):synonym_id>")
@requires(Permission.MANAGE_SEARCH)
def search_effect_of_synonym(synonym_id: int) -> str:
    found = effect.effect_of_synonym(ports.clock(), current_user.site_id, synonym_id)
    return _answer([found], f"Synonym {found.subject}", "admin.search_synonyms")


@bp.get(f"{EFFECT}/rule/<int({LARGEST}):rule_id>")
@requires(Permission.MANAGE_SEARCH)
def search_effect_of_rule(rule_id: int) -> str:
    found = effect.effect_of_rule(ports.clock(), current_user.site_id, rule_id)
    return _answer([found], f"Rule for “{found.subject}”", "admin.search_ranking")


@bp.get(f"{EFFECT}/learning")
@requires(Permission.MANAGE_SEARCH)
def search_effect_of_learning() -> str:
    found = effect.effect_of_learning(ports.clock(), current_user.site_id)
    return _answer([found], found.subject, "admin.search_settings", back="admin.search_learning")


@bp.get(f"{EFFECT}/terms/<int({LARGEST}):product_id>")
@requires(Permission.MANAGE_SEARCH)
def search_effect_of_terms(product_id: int) -> str:
    found = effect.effects_of_terms(ports.clock(), current_user.site_id, product_id)
    return _answer(found.terms, f"Search terms of {found.product_name}", "admin.search_terms", named=True)


def _answer(effects: Sequence[Effect], subject: str, tab_of: str, named: bool = False, back: str = "") -> str:
    return render_template(
        "admin/search/effect/_effects.html" if wants_fragment() else "admin/search/effect/page.html",
        days_kept=KEEP_WORDS.days,
        effects=effects,
        subject=subject,
        tab_of=tab_of,
        back=back or tab_of,
        named=named,
        rows=effect_rows,
        currency=currency_of(current_user.site_id),
    )
