"""The editor of a search rule: the form as typed, its buttons, which change only the form, and saving.

The lookup of products is here too; other pages of the Search section use it as well.
"""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from flask import flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors
from app.blueprints.admin.product_order import LIST, layout_of
from app.blueprints.admin.search.placed_products import LISTS_BY_ACTION, describe_step, sku_of
from app.blueprints.admin.search.rule_form import RuleForm
from app.blueprints.admin.search.rules import DAYS, RULE, applied_counts
from app.blueprints.admin.shell import flash_undoable, undoable_entry
from app.blueprints.callers import current_author
from app.domain.catalogue import queries
from app.domain.catalogue.listing import LONGEST_WORDS
from app.domain.relevance import rules
from app.domain.relevance.models import SearchRule
from app.domain.relevance.previews import skus_not_found
from app.domain.relevance.rule_definition import (
    MOST_PLACED,
    deletion_effects,
    missing_names,
    overlapping,
    rule_label,
    state_of,
)
from app.domain.relevance.rule_levels import rule_choices, with_names
from app.domain.relevance.rules import count_applied, missing_pages
from app.domain.search.engine import SearchUnavailable
from app.domain.search.serving import configuration
from app.domain.search.serving.rules import LONGEST_TERM, Rule
from app.domain.search.serving.term_index import Match
from app.domain.shared.problems import Conflict, Invalid, Problem
from app.domain.sites.settings import shop_settings
from app.transaction import transaction
from app.web.htmx import redirect_page, wants_fragment
from app.web.permissions import Permission, requires

NOT_REFUSED = FieldErrors()
LOOK_UP = "look"
FOLLOWS = "Live within two seconds."
MOST_OVERLAPS = 5
MATCHES = (
    (Match.EXACT.value, "exactly"),
    (Match.STARTS_WITH.value, "something that starts with"),
    (Match.CONTAINS.value, "something that contains"),
    (Match.ANY.value, "anything that names a level or category below"),
)
STOCKS = (("", "Any stock"), ("in", "In stock"), ("out", "Sold out"))
PLAIN = "pick"
CHOICES = {PLAIN, "rule"}  # Purposes for which a product can be chosen.


@bp.get("/search/ranking/new")
@requires(Permission.MANAGE_SEARCH)
def search_rule_new() -> Response:
    """Show the editor of a new rule. `term` fills in its search, or leads to the rule that this search has; `pin` is a
    SKU to begin with."""
    term = " ".join(request.args.get("term", "")[:LONGEST_TERM].split())
    known = rules.rule_for(current_user.site_id, term) if term else None
    if known is not None:
        return redirect(url_for("admin.search_rule", rule_id=known.id))
    form = RuleForm.about(term)
    return _show_editor(None, form.after(f"pin:{request.args['pin'][:64]}") if request.args.get("pin") else form)


@bp.post("/search/ranking/new")
@requires(Permission.MANAGE_SEARCH)
def search_rule_add() -> Response:
    form = RuleForm.typed(request.form)
    if intent := request.form.get("intent"):
        return _show_placing(None, form.after(intent))
    try:
        with transaction():
            rule = rules.add(current_author(), _read_rule(form, None))
            rule_id, label = rule.id, rule_label(rule)
    except (Invalid, Conflict) as error:
        return _show_editor(None, form, FieldErrors(error))
    flash_undoable(f"Added the {label}. {FOLLOWS}", "rule", rule_id, url_for("admin.search_ranking"))
    address = _address(rule_id)
    return redirect_page(address) if wants_fragment() else redirect(address)


@bp.get(RULE)
@requires(Permission.MANAGE_SEARCH)
def search_rule(rule_id: int) -> Response:
    rule = rules.rule_of(current_user.site_id, rule_id)
    return _show_editor(rule, _stored_form(rule))


@bp.post(RULE)
@requires(Permission.MANAGE_SEARCH)
def search_rule_save(rule_id: int) -> Response:
    form, site_id = RuleForm.typed(request.form), current_user.site_id
    if intent := request.form.get("intent"):
        return _show_placing(rules.rule_of(site_id, rule_id), form.after(intent))
    try:
        with transaction():
            sent = _read_rule(form, rules.rule_of(site_id, rule_id))
            rule, changed = rules.change(current_author(), rule_id, form.revision, sent)
    except (Invalid, Conflict) as error:
        return _show_editor(rules.rule_of(site_id, rule_id), form, FieldErrors(error))
    if wants_fragment():
        return _show_editor(rule, _stored_form(rule), saved=changed)
    address = _address(rule_id)
    if changed:
        flash_undoable(f"Saved. {FOLLOWS}", "rule", rule_id, address)
    else:
        flash("No changes to save.", "good")
    return redirect(address)


def _address(rule_id: int) -> str:
    """Return the address of a rule's page that shows its preview as the form that was sent did."""
    layout = layout_of(request.form.get("layout", ""))
    return url_for("admin.search_rule", rule_id=rule_id, show=None if layout == LIST else layout)


def _read_rule(form: RuleForm, stored: SearchRule | None) -> Rule:
    """Return the rule of the form. Raises Invalid with every problem, those of reading the form among them."""
    problems: list[Problem] = []
    rule = form.rule(_time_zone(), stored, problems, rule_choices(current_user.site_id))
    if not problems:
        return rule
    try:
        rules.check_for_site(current_user.site_id, rule, stored)
    except Invalid as invalid:
        problems.extend(invalid.problems)
    raise Invalid(problems)


def _stored_form(rule: SearchRule) -> RuleForm:
    return RuleForm.of(rule, _time_zone(), rule_choices(rule.site_id))


def _time_zone() -> ZoneInfo:
    return ZoneInfo(shop_settings(current_user.site_id).time_zone)


def _show_placing(rule: SearchRule | None, form: RuleForm) -> Response:
    """Return the form with the lists of products as the pressed button changes them; nothing is saved."""
    if not wants_fragment():
        return _show_editor(rule, form)
    intent = request.form["intent"]
    context: dict[str, Any] = {"rule": rule, "form": form, "errors": NOT_REFUSED, "changed": True}
    if intent.startswith(("levels-", "categories-")):
        context |= _choices() | {"removed_from": intent.partition("-remove:")[0]}
        return make_response(render_template("admin/search/rule_editor/_narrowing.html", **context))
    rows = queries.products_by_sku(current_user.site_id, (*form.skus, sku_of(intent)))
    context |= {"rows": rows, "idle": _idle_skus(form)} | _choices()
    context["news"] = describe_step(intent, form.placed, {sku: row.name for sku, row in rows.items()})
    if "beside" not in request.form:  # Focus stays on a button of the preview.
        context |= {
            "moved_focus": intent.startswith(("remove", "ungroup")),
            "new_group": intent.startswith("group"),
            "new_number": intent.removeprefix("number:") if intent.startswith("number:") else "",
            "pins_another": intent.startswith(tuple(LISTS_BY_ACTION)),
        }
    return make_response(render_template("admin/search/rule_editor/_placing_changed.html", **context))


def _show_editor(
    rule: SearchRule | None,
    form: RuleForm,
    errors: FieldErrors = NOT_REFUSED,
    saved: tuple[str, ...] | None = None,
) -> Response:
    """Show the editor of a rule, or of a new one. Over a stale revision it shows what was typed beside the stored
    rule."""
    context: dict[str, Any] = {"rule": rule, "errors": errors, "saved": saved, "stored": None, "changed": False}
    zone = shop_settings(current_user.site_id).time_zone
    if rule is not None and errors.is_stale:
        context["stored"] = _stored_form(rule)
        form = form.on(rule.revision)
    template = "admin/search/rule_editor/_edit.html" if wants_fragment() else "admin/search/rule_editor/edit.html"
    context |= {"form": form, "rows": queries.products_by_sku(current_user.site_id, form.skus), "time_zone": zone}
    context["undo"] = undoable_entry("rule", rule.id) if rule is not None and saved else None
    context |= _rule_facts(rule) | {"idle": _idle_skus(form), "same": None} | _choices()
    if any(problem.code == "duplicate_term" for problem in errors.problems):
        context["same"] = rules.rule_for(current_user.site_id, form.term, form.match)
    if request.form.get("intent") == LOOK_UP:  # From a browser without JavaScript.
        words = request.form.get("lookup", "")[:LONGEST_WORDS].strip()
        context |= {"looked": queries.find_products(current_user.site_id, words), "words": words}
    context["layout"] = layout_of(request.form.get("layout") or request.args.get("show", ""))
    return make_response(render_template(template, **context), errors.status if errors else 200)


def _choices() -> dict[str, Any]:
    return {"choices": rule_choices(current_user.site_id), "matches": MATCHES, "stocks": STOCKS}


def _idle_skus(form: RuleForm) -> tuple[str, ...]:
    """Return the boosted and buried products that the search does not find; none while search does not answer."""
    site_id, now = current_user.site_id, ports.clock().now()
    if form.match is not Match.EXACT:
        return ()  # Of each of its searches others are found.
    skus = (*form.boosts, *form.buries)[: 2 * MOST_PLACED]
    try:
        return skus_not_found(
            ports.search_engine(), site_id, form.term[:LONGEST_TERM], skus, configuration.served(site_id), now
        )
    except SearchUnavailable:
        return ()


def _rule_facts(rule: SearchRule | None) -> dict[str, Any]:
    if rule is None:
        return {}
    now = ports.clock().now()
    counts = applied_counts()
    served = configuration.served(rule.site_id).rules
    choices = rule_choices(rule.site_id)
    return {
        "state": state_of(rule, now),
        "is_synced": configuration.is_live(rule, configuration.serving_state(rule.site_id)),
        "consequences": deletion_effects(rule, now),
        "nowhere": missing_pages(rule.site_id, rule.value.paths),
        "applied": count_applied([rule.value], counts)[rule.id] if counts is not None else None,
        "gone": missing_names(rule, choices.levels, choices.categories),
        "overlaps": overlapping(with_names(rule.site_id, [rule.value])[0], served)[:MOST_OVERLAPS],
        "days": DAYS,
    }


@bp.get("/search/products")
@requires(Permission.MANAGE_SEARCH)
def search_products() -> str:
    """Find products by `q`, or by the parameter that `field` names; `for` is the purpose."""
    words = request.args.get("q") or request.args.get(request.args.get("field", ""), "")
    words = words[:LONGEST_WORDS].strip()
    chosen_for = request.args.get("for", PLAIN)
    return render_template(
        "admin/search/rule_editor/_found.html",
        found=queries.find_products(current_user.site_id, words),
        words=words,
        chosen_for=chosen_for if chosen_for in CHOICES else PLAIN,
    )
