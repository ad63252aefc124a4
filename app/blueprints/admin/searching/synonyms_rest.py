"""Synonyms as JSON (contracts: Synonyms); the list is the page's own address."""

from __future__ import annotations

from typing import Any

from flask import jsonify, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.json_body import json_object
from app.domain.search.live.models import Synonym
from app.domain.search.live.publishing import served_state
from app.domain.search.live.served import SynonymType
from app.domain.search.synonyms import editing
from app.domain.search.synonyms.group import SynonymDraft
from app.domain.search.synonyms.record import view_of
from app.domain.shared.problems import Invalid, Problem
from app.permissions import Permission, requires
from app.transaction import transaction

SYNONYMS = "/search/synonyms/rest"
SYNONYM = f"{SYNONYMS}/<int(max=2147483647):synonym_id>"
FIELDS = {"type", "root", "synonyms"}


@bp.post(SYNONYMS)
@requires(Permission.MANAGE_SEARCH)
def search_synonyms_rest_add() -> Response:
    draft = _draft(json_object(FIELDS))
    with transaction():
        synonym_id = editing.add(ports.clock(), current_user.site_id, draft, current_user.display_name).id
    answer = _view(synonym_id)
    answer.status_code = 201
    answer.headers["Location"] = url_for("admin.search_synonyms_rest_one", synonym_id=synonym_id)
    return answer


@bp.get(SYNONYM)
@requires(Permission.MANAGE_SEARCH)
def search_synonyms_rest_one(synonym_id: int) -> Response:
    return _view(synonym_id)


@bp.put(SYNONYM)
@requires(Permission.MANAGE_SEARCH)
def search_synonyms_rest_change(synonym_id: int) -> Response:
    _there(synonym_id)
    body = json_object(FIELDS | {"revision"})
    draft, revision = _draft(body), _revision(body)
    with transaction():
        editing.change(ports.clock(), current_user.site_id, synonym_id, revision, draft, current_user.display_name)
    return _view(synonym_id)


@bp.delete(SYNONYM)
@requires(Permission.MANAGE_SEARCH)
def search_synonyms_rest_delete(synonym_id: int) -> Response:
    """The revision comes in the body or as a parameter."""
    _there(synonym_id)
    sent = json_object({"revision"}) if request.content_length else {"revision": _number(request.args.get("revision"))}
    with transaction():
        editing.delete(ports.clock(), current_user.site_id, synonym_id, _revision(sent), current_user.display_name)
    return Response(status=204)


@bp.post(f"{SYNONYM}/accept")
@requires(Permission.MANAGE_SEARCH)
def search_synonyms_rest_accept(synonym_id: int) -> Response:
    """As it is, or with other words where the body has them."""
    _there(synonym_id)
    body = json_object(FIELDS | {"revision"})
    revision, draft = _revision(body), _draft(body) if FIELDS & body.keys() else None
    with transaction():
        editing.accept(ports.clock(), current_user.site_id, synonym_id, revision, current_user.display_name, draft)
    return _view(synonym_id)


@bp.post(f"{SYNONYM}/reject")
@requires(Permission.MANAGE_SEARCH)
def search_synonyms_rest_reject(synonym_id: int) -> Response:
    _there(synonym_id)
    revision = _revision(json_object({"revision"}))
    with transaction():
        editing.reject(ports.clock(), current_user.site_id, synonym_id, revision, current_user.display_name)
    return _view(synonym_id)


def _there(synonym_id: int) -> Synonym:
    """Another site's synonym is not found, whatever the body says of it."""
    return editing.synonym_of(current_user.site_id, synonym_id)


def _view(synonym_id: int) -> Response:
    return jsonify(view_of(_there(synonym_id), served_state(current_user.site_id)))


def _draft(body: dict[str, Any]) -> SynonymDraft:
    """Raises Invalid for values of a wrong kind; what they say is checked by the rules."""
    kind, root, words = body.get("type"), body.get("root"), body.get("synonyms")
    problems = []
    if kind not in [one.value for one in SynonymType]:
        problems.append(Problem("invalid_type", "The type is EQUIVALENT or ONE_WAY.", "#/type"))
    if root is not None and not isinstance(root, str):
        problems.append(Problem("invalid_root", "The root is a text or null.", "#/root"))
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        problems.append(Problem("invalid_synonyms", "The synonyms are a list of texts.", "#/synonyms"))
    if problems:
        raise Invalid(problems)
    return SynonymDraft(SynonymType(str(kind)), root, tuple(words or ()))


def _revision(body: dict[str, Any]) -> int:
    revision = body.get("revision")
    if not isinstance(revision, int) or isinstance(revision, bool):
        raise Invalid.one("required", "Give the revision that you read.", "#/revision")
    return revision


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 10 else None
