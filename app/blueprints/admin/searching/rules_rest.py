"""Search rules as JSON (contracts: Rules). The list is GET /admin/search/ranking with Accept: application/json."""

from __future__ import annotations

from typing import Any

from flask import jsonify, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.json_body import json_object
from app.domain.search.live import publishing
from app.domain.search.live.models import SearchRule
from app.domain.search.rules import editing
from app.domain.search.rules.record import RULE, as_json, draft_of_json
from app.domain.shared.problems import Invalid
from app.permissions import Permission, requires
from app.transaction import transaction

REST = "/search/ranking/rest"
ONE = f"{REST}/<int(max=2147483647):rule_id>"
# What an answer has besides the fields of a rule; sent back, it is passed over.
GIVEN = {"id", "normalizedTerm", "synced", "updatedBy", "updatedAt"}


@bp.post(REST)
@requires(Permission.MANAGE_SEARCH)
def search_rules_rest_add() -> Response:
    sent = _sent(set(RULE) | GIVEN | {"revision"})
    sent.pop("revision", None)
    draft = draft_of_json(sent)
    with transaction():
        rule = editing.add(ports.clock(), current_user.site_id, draft, current_user.display_name)
    response = _answer(rule)
    response.status_code = 201
    response.headers["Location"] = url_for("admin.search_rules_rest_one", rule_id=rule.id)
    return response


@bp.get(ONE)
@requires(Permission.MANAGE_SEARCH)
def search_rules_rest_one(rule_id: int) -> Response:
    return _answer(editing.rule_of(current_user.site_id, rule_id))


@bp.put(ONE)
@requires(Permission.MANAGE_SEARCH)
def search_rules_rest_change(rule_id: int) -> Response:
    """The whole rule, with the revision that it is based on."""
    editing.rule_of(current_user.site_id, rule_id)
    sent = _sent(set(RULE) | GIVEN | {"revision"})
    revision = _revision(sent.pop("revision", None))
    draft = draft_of_json(sent)
    with transaction():
        rule, _ = editing.change(
            ports.clock(), current_user.site_id, rule_id, revision, draft, current_user.display_name
        )
    return _answer(rule)


@bp.delete(ONE)
@requires(Permission.MANAGE_SEARCH)
def search_rules_rest_delete(rule_id: int) -> Response:
    """`revision` stands in the body or, for clients that send none with DELETE, in the address."""
    editing.rule_of(current_user.site_id, rule_id)
    text = request.args.get("revision", "")
    named: Any = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
    revision = _revision(json_object({"revision"}).get("revision") if request.is_json else named)
    with transaction():
        editing.delete(ports.clock(), current_user.site_id, rule_id, revision, current_user.display_name)
    return Response(status=204)


def _sent(names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in json_object(names).items() if name not in GIVEN}


def _revision(sent: object) -> int:
    if isinstance(sent, int) and not isinstance(sent, bool):
        return sent
    raise Invalid.one("required", "Give the revision that you know, a whole number.", "#/revision")


def _answer(rule: SearchRule) -> Response:
    return jsonify(as_json(rule, publishing.is_live(rule, publishing.served_state(rule.site_id))))
