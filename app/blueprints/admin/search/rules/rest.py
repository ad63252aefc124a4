"""Search rules as JSON (contracts: Rules). The list is GET /admin/search/ranking with Accept: application/json."""

from __future__ import annotations

from flask import jsonify, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app.blueprints.admin.blueprint import bp
from app.blueprints.author import current_author
from app.blueprints.json_body import json_body, revision_in_address
from app.domain.relevance import rules
from app.domain.relevance.models import SearchRule
from app.domain.search.serving import versions
from app.domain.search.serving.rules import RULE, Rule
from app.domain.shared.schema import Anything, Record, Whole
from app.permissions import Permission, requires
from app.transaction import transaction

REST = "/search/ranking/rest"
ONE = f"{REST}/<int(max=2147483647):rule_id>"
# The fields of an answer besides those of a rule; where they are sent back, they are ignored.
GIVEN = {name: Anything() for name in ("id", "normalizedTerm", "synced", "updatedBy", "updatedAt")}
ADD = Record(**RULE.fields, **GIVEN, revision=Anything())
REVISION = Whole(required=True)
CHANGE, DELETE = Record(**RULE.fields, **GIVEN, revision=REVISION), Record(revision=REVISION)


@bp.post(REST)
@requires(Permission.MANAGE_SEARCH)
def search_rules_rest_add() -> Response:
    sent = Rule.of_json(json_body(ADD))
    with transaction():
        rule = rules.add(current_author(), sent)
    response = _answer(rule)
    response.status_code = 201
    response.headers["Location"] = url_for("admin.search_rules_rest_one", rule_id=rule.id)
    return response


@bp.get(ONE)
@requires(Permission.MANAGE_SEARCH)
def search_rules_rest_one(rule_id: int) -> Response:
    return _answer(rules.rule_of(current_user.site_id, rule_id))


@bp.put(ONE)
@requires(Permission.MANAGE_SEARCH)
def search_rules_rest_change(rule_id: int) -> Response:
    """Replace a whole rule. The body has the revision on which it is based."""
    rules.rule_of(current_user.site_id, rule_id)
    body = json_body(CHANGE)
    with transaction():
        rule, _ = rules.change(current_author(), rule_id, body["revision"], Rule.of_json(body))
    return _answer(rule)


@bp.delete(ONE)
@requires(Permission.MANAGE_SEARCH)
def search_rules_rest_delete(rule_id: int) -> Response:
    """Delete a rule. `revision` stands in the body or, for clients that send none with DELETE, in the address."""
    rules.rule_of(current_user.site_id, rule_id)
    revision = json_body(DELETE)["revision"] if request.is_json else revision_in_address()
    with transaction():
        rules.delete(current_author(), rule_id, revision)
    return Response(status=204)


def _answer(rule: SearchRule) -> Response:
    return jsonify(rule.as_json(versions.is_live(rule, versions.serving_state(rule.site_id))))
