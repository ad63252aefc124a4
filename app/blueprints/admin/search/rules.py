"""Rules and ranking: the list of rules with what its rows do, and rules as JSON (contracts: Rules).

The list as JSON is GET /admin/search/ranking with Accept: application/json.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from flask import flash, jsonify, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import sent_revision
from app.blueprints.admin.shell import flash_undoable
from app.blueprints.callers import current_author
from app.blueprints.json_body import json_body, revision_in_address
from app.domain.catalogue.listing import LONGEST_WORDS, page_number, page_size
from app.domain.relevance import publishing, rules
from app.domain.relevance.models import SearchRule
from app.domain.relevance.rule_definition import (
    RuleState,
    deletion_effects,
    describe_searches,
    missing_names,
    rule_effects,
    rule_label,
)
from app.domain.relevance.rule_levels import rule_choices
from app.domain.relevance.rules import RuleOrder, RuleQuery, StateFilter, missing_pages
from app.domain.search.serving import configuration
from app.domain.search.serving.rules import RULE as RULE_FIELDS
from app.domain.search.serving.rules import Rule
from app.domain.search.settings import stored_settings
from app.domain.search_statistics.counting import queries as counting
from app.domain.shared.schema import Anything, Record, Whole
from app.domain.sites.settings import shop_settings
from app.transaction import transaction
from app.web.errors import wants_json
from app.web.htmx import redirect_page, wants_fragment
from app.web.permissions import Permission, requires

RULE = "/search/ranking/<int(max=2147483647):rule_id>"
DAYS = 30  # The period for which the list counts how often a rule applied.
Answer = str | Response
NARROWED = (
    (StateFilter.ALL, "All rules"),
    (StateFilter.LIVE, "Applying now"),
    (StateFilter.SCHEDULED, "Scheduled"),
    (StateFilter.PAUSED, "Paused"),
    (StateFilter.ENDED, "Ended"),
    (StateFilter.UNSYNCED, "Not in search yet"),
)
ORDERS = (
    (RuleOrder.TERM, "By term"),
    (RuleOrder.CHANGED, "Latest change first"),
    (RuleOrder.APPLIED, "Applied most often"),
)
REST = "/search/ranking/rest"
REST_ONE = f"{REST}/<int(max=2147483647):rule_id>"
# The fields of an answer besides those of a rule; where they are sent back, they are ignored.
ANSWERED = {name: Anything() for name in ("id", "normalizedTerm", "synced", "updatedBy", "updatedAt")}
ADD = Record(**RULE_FIELDS.fields, **ANSWERED, revision=Anything())
REVISION = Whole(required=True)
CHANGE, DELETE = Record(**RULE_FIELDS.fields, **ANSWERED, revision=REVISION), Record(revision=REVISION)


@bp.get("/search/ranking")
@requires(Permission.MANAGE_SEARCH)
def search_ranking() -> Answer:
    """Show the rules as a page, as its list alone, or as JSON, by the kind of request."""
    query = query_in(request.args)
    if wants_json():
        return jsonify(_list_json(rules.find_rules(current_user.site_id, query, ports.clock().now())))
    template = "admin/search/rules/_results.html" if wants_fragment() else "admin/search/rules/list.html"
    return render_template(template, **_list_context(query))


@bp.post(f"{RULE}/pause")
@requires(Permission.MANAGE_SEARCH)
def search_rule_pause(rule_id: int) -> Answer:
    return _switch_rule(rule_id, "Paused. Shoppers see the usual results for “{}” in a moment.", pause=True)


@bp.post(f"{RULE}/resume")
@requires(Permission.MANAGE_SEARCH)
def search_rule_resume(rule_id: int) -> Answer:
    return _switch_rule(rule_id, "Resumed. The rule for “{}” applies again in a moment.", pause=False)


@bp.post(f"{RULE}/delete")
@requires(Permission.MANAGE_SEARCH)
def search_rule_delete(rule_id: int) -> Response:
    with transaction():
        label = rules.delete(current_author(), rule_id, sent_revision(request.form))
    address = url_for("admin.search_ranking")
    flash_undoable(f"Deleted the {label}.", "rule", rule_id, address)
    return redirect_page(address) if wants_fragment() else redirect(address)


@bp.post("/search/ranking/resync")
@requires(Permission.MANAGE_SEARCH)
def search_rules_resync() -> Response:
    with transaction():
        publishing.publish(ports.clock(), current_user.site_id)
    flash("Search has everything that was saved.", "good")
    return redirect(url_for("admin.search_ranking"))


def query_in(sent: MultiDict[str, str]) -> RuleQuery:
    """Return the query in the parameters; those that are invalid count as absent."""
    narrowed, order = sent.get("state", ""), sent.get("order", "")
    page = sent.get("p") or sent.get("pageNumber")
    return RuleQuery(
        words=" ".join(sent.get("q", "")[:LONGEST_WORDS].split()),
        narrowed=StateFilter(narrowed) if narrowed in set(StateFilter) else StateFilter.ALL,
        order=RuleOrder(order) if order in set(RuleOrder) else RuleOrder.TERM,
        page=page_number(page),
        page_size=page_size(sent.get("pageSize")),
    )


bp.add_app_template_global(rule_label)
bp.add_app_template_global(describe_searches, "rule_searches")


def _sentence(parts: Iterable[str]) -> str:
    text = ", ".join(parts)
    return text[:1].upper() + text[1:]


def applied_counts() -> Mapping[str, int] | None:
    """Return how often each rule applied, by its normalised term; None where the site counts no searches."""
    site_id = current_user.site_id
    if not stored_settings(site_id).tracking:
        return None
    return counting.applied_counts(site_id, counting.site_today(ports.clock(), site_id), DAYS)


def _list_context(query: RuleQuery) -> dict[str, object]:
    now = ports.clock().now()
    found = rules.find_rules(current_user.site_id, query, now, applied_counts())
    choices = rule_choices(current_user.site_id)
    leading = [row.rule for row in found.page.items if row.state in (RuleState.LIVE, RuleState.SCHEDULED)]
    return {
        "found": found,
        "query": query,
        "narrowed": NARROWED,
        "orders": ORDERS,
        "days": DAYS,
        "time_zone": shop_settings(current_user.site_id).time_zone,
        "nowhere": missing_pages(current_user.site_id, (path for rule in leading for path in rule.value.paths)),
        "gone": {rule.id: missing_names(rule, choices.levels, choices.categories) for rule in leading},
        "searches": {
            row.rule.id: describe_searches(row.rule, choices.levels, choices.categories) for row in found.page.items
        },
        "effects": {row.rule.id: _sentence(rule_effects(row.rule, choices.names)) for row in found.page.items},
        "when_deleted": {row.rule.id: deletion_effects(row.rule, now) for row in found.page.items},
    }


def _list_json(found: rules.RuleList) -> dict[str, object]:
    page = found.page
    return {
        "items": [row.rule.as_json(row.is_synced) for row in page.items],
        "pageNumber": page.page_number,
        "pageSize": page.page_size,
        "totalItems": page.total_items,
        "totalPages": page.total_pages,
    }


def _switch_rule(rule_id: int, message: str, pause: bool) -> Answer:
    act = rules.pause if pause else rules.resume
    with transaction():
        term = act(current_author(), rule_id).term
    address = url_for("admin.search_ranking")
    flash_undoable(message.format(term), "rule", rule_id, address)
    if not wants_fragment():
        return redirect(address)
    return render_template(
        "admin/search/rules/_results.html", just_changed=rule_id, **_list_context(query_in(request.args))
    )


@bp.post(REST)
@requires(Permission.MANAGE_SEARCH)
def search_rules_rest_add() -> Response:
    sent = Rule.of_json(json_body(ADD))
    with transaction():
        rule = rules.add(current_author(), sent)
    response = _rule_json(rule)
    response.status_code = 201
    response.headers["Location"] = url_for("admin.search_rules_rest_one", rule_id=rule.id)
    return response


@bp.get(REST_ONE)
@requires(Permission.MANAGE_SEARCH)
def search_rules_rest_one(rule_id: int) -> Response:
    return _rule_json(rules.rule_of(current_user.site_id, rule_id))


@bp.put(REST_ONE)
@requires(Permission.MANAGE_SEARCH)
def search_rules_rest_change(rule_id: int) -> Response:
    """Replace a whole rule. The body has the revision on which it is based."""
    rules.rule_of(current_user.site_id, rule_id)
    body = json_body(CHANGE)
    with transaction():
        rule, _ = rules.change(current_author(), rule_id, body["revision"], Rule.of_json(body))
    return _rule_json(rule)


@bp.delete(REST_ONE)
@requires(Permission.MANAGE_SEARCH)
def search_rules_rest_delete(rule_id: int) -> Response:
    """Delete a rule. `revision` stands in the body or, for clients that send none with DELETE, in the address."""
    rules.rule_of(current_user.site_id, rule_id)
    revision = json_body(DELETE)["revision"] if request.is_json else revision_in_address()
    with transaction():
        rules.delete(current_author(), rule_id, revision)
    return Response(status=204)


def _rule_json(rule: SearchRule) -> Response:
    return jsonify(rule.as_json(configuration.is_live(rule, configuration.serving_state(rule.site_id))))
