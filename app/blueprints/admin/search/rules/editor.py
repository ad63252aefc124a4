"""The editor of a search rule. Its buttons change only the form; saving writes it."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from flask import Response, flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response as AnyResponse

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.field_errors import FieldErrors
from app.blueprints.admin.search.rules.form import HELD, RuleForm
from app.blueprints.admin.search.rules.rules import DAYS, RULE, applied_counts
from app.blueprints.admin.undo import flash_undoable, undoable_entry
from app.blueprints.author import current_author
from app.domain.catalogue import queries
from app.domain.catalogue.listing import LONGEST_WORDS
from app.domain.relevance import rules
from app.domain.relevance.models import SearchRule
from app.domain.relevance.previews import skus_not_found
from app.domain.relevance.rule_definition import LONGEST_TERM, MOST_PLACED, deletion_effects, state_of
from app.domain.relevance.rules import missing_pages
from app.domain.search.engine import SearchUnavailable
from app.domain.search.serving import snapshot, versions
from app.domain.search.serving.rules import Rule
from app.domain.shared.problems import Conflict, Invalid, Problem
from app.domain.sites.shop_settings import shop_settings
from app.htmx import redirect_page, wants_fragment
from app.permissions import Permission, requires
from app.transaction import transaction

NOT_REFUSED = FieldErrors()
LOOK_UP = "look"
FOLLOWS = "Live within two seconds."


@bp.get("/search/ranking/new")
@requires(Permission.MANAGE_SEARCH)
def search_rule_new() -> AnyResponse:
    """Show the editor of a new rule. `term` fills in its search, or leads to the rule that this search has; `pin` is a
    SKU to begin with."""
    term = " ".join(request.args.get("term", "")[:LONGEST_TERM].split())
    known = rules.rule_for(current_user.site_id, term) if term else None
    if known is not None:
        return redirect(url_for("admin.search_rule", rule_id=known.id))
    form = RuleForm(term=term)
    return _editor(None, form.after(f"pin:{request.args['pin'][:64]}") if request.args.get("pin") else form)


@bp.post("/search/ranking/new")
@requires(Permission.MANAGE_SEARCH)
def search_rule_add() -> AnyResponse:
    form = RuleForm.typed(request.form)
    if intent := request.form.get("intent"):
        return _placing(None, form.after(intent))
    try:
        with transaction():
            rule = rules.add(current_author(), _rule(form, None))
            rule_id, term = rule.id, rule.term
    except (Invalid, Conflict) as error:
        return _editor(None, form, FieldErrors(error))
    flash_undoable(f"Added the rule for “{term}”. {FOLLOWS}", "rule", rule_id, url_for("admin.search_ranking"))
    address = url_for("admin.search_rule", rule_id=rule_id)
    return redirect_page(address) if wants_fragment() else redirect(address)


@bp.get(RULE)
@requires(Permission.MANAGE_SEARCH)
def search_rule(rule_id: int) -> AnyResponse:
    rule = rules.rule_of(current_user.site_id, rule_id)
    return _editor(rule, RuleForm.of(rule, _zone()))


@bp.post(RULE)
@requires(Permission.MANAGE_SEARCH)
def search_rule_save(rule_id: int) -> AnyResponse:
    form, site_id = RuleForm.typed(request.form), current_user.site_id
    if intent := request.form.get("intent"):
        return _placing(rules.rule_of(site_id, rule_id), form.after(intent))
    try:
        with transaction():
            sent = _rule(form, rules.rule_of(site_id, rule_id))
            rule, changed = rules.change(current_author(), rule_id, form.revision, sent)
    except (Invalid, Conflict) as error:
        return _editor(rules.rule_of(site_id, rule_id), form, FieldErrors(error))
    if wants_fragment():
        return _editor(rule, RuleForm.of(rule, _zone()), saved=changed)
    address = url_for("admin.search_rule", rule_id=rule_id)
    if changed:
        flash_undoable(f"Saved. {FOLLOWS}", "rule", rule_id, address)
    else:
        flash("No changes to save.", "good")
    return redirect(address)


def _rule(form: RuleForm, stored: SearchRule | None) -> Rule:
    """Return the rule of the form. Raises Invalid with every problem, those of reading the form among them."""
    problems: list[Problem] = []
    rule = form.rule(_zone(), stored, problems)
    if not problems:
        return rule
    try:
        rules.check_for_site(current_user.site_id, rule, stored)
    except Invalid as invalid:
        problems.extend(invalid.problems)
    raise Invalid(problems)


def _zone() -> ZoneInfo:
    return ZoneInfo(shop_settings(current_user.site_id).time_zone)


def _placing(rule: SearchRule | None, form: RuleForm) -> AnyResponse:
    """Return the form with the lists of products as the pressed button changes them; nothing is saved."""
    if not wants_fragment():
        return _editor(rule, form)
    intent = request.form["intent"]
    context: dict[str, Any] = {"rule": rule, "form": form, "errors": NOT_REFUSED, "changed": True}
    context |= {"rows": queries.products_by_sku(current_user.site_id, form.skus), "idle": _idle(form)}
    if "beside" not in request.form:  # Focus stays on a button of the preview.
        context |= {"moved_focus": intent.startswith("remove"), "pins_another": intent.startswith(tuple(HELD))}
    return make_response(render_template("admin/search/rules/_placing.html", **context))


def _editor(
    rule: SearchRule | None,
    form: RuleForm,
    errors: FieldErrors = NOT_REFUSED,
    saved: tuple[str, ...] | None = None,
) -> Response:
    """The editor of a rule, or of a new one. Over a stale revision it shows what was typed beside what is stored."""
    context: dict[str, Any] = {"rule": rule, "errors": errors, "saved": saved, "stored": None, "changed": False}
    zone = shop_settings(current_user.site_id).time_zone
    if rule is not None and errors.is_stale:
        context["stored"] = RuleForm.of(rule, ZoneInfo(zone))
        form = form.on(rule.revision)
    template = "admin/search/rules/_edit.html" if wants_fragment() else "admin/search/rules/edit.html"
    context |= {"form": form, "rows": queries.products_by_sku(current_user.site_id, form.skus), "time_zone": zone}
    context["undo"] = undoable_entry("rule", rule.id) if rule is not None and saved else None
    context |= _looked_up() | _facts(rule) | {"idle": _idle(form), "same": _same(form, errors)}
    return make_response(render_template(template, **context), errors.status if errors else 200)


def _looked_up() -> dict[str, Any]:
    """Return the products of the lookup that a browser without JavaScript submitted; nothing otherwise."""
    if request.form.get("intent") != LOOK_UP:
        return {}
    words = request.form.get("lookup", "")[:LONGEST_WORDS].strip()
    return {"looked": queries.find_products(current_user.site_id, words), "words": words}


def _idle(form: RuleForm) -> tuple[str, ...]:
    """Boosted and buried products that the search does not find; none while search does not answer."""
    site_id, now = current_user.site_id, ports.clock().now()
    skus = (*form.boosts, *form.buries)[: 2 * MOST_PLACED]
    try:
        return skus_not_found(
            ports.search_engine(), site_id, form.term[:LONGEST_TERM], skus, snapshot.served(site_id), now
        )
    except SearchUnavailable:
        return ()


def _facts(rule: SearchRule | None) -> dict[str, Any]:
    if rule is None:
        return {}
    now = ports.clock().now()
    counts = applied_counts()
    return {
        "state": state_of(rule, now),
        "is_synced": versions.is_live(rule, versions.serving_state(rule.site_id)),
        "consequences": deletion_effects(rule, now),
        "nowhere": missing_pages(rule.site_id, rule.value.paths),
        "applied": counts.get(rule.normalized_term, 0) if counts is not None else None,
        "days": DAYS,
    }


def _same(form: RuleForm, errors: FieldErrors) -> SearchRule | None:
    """The rule that has the term already, where the form was refused for that."""
    taken = any(problem.code == "duplicate_term" for problem in errors.problems)
    return rules.rule_for(current_user.site_id, form.term) if taken else None
