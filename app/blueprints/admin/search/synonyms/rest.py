"""Synonyms as JSON (contracts: Synonyms); the list is the page's own address."""

from __future__ import annotations

from flask import jsonify, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app.blueprints.admin.blueprint import bp
from app.blueprints.author import current_author
from app.blueprints.json_body import json_body, revision_in_address
from app.domain.relevance import synonyms
from app.domain.relevance.models import Synonym
from app.domain.search.serving.synonyms import SYNONYM as SYNONYM_FIELDS
from app.domain.search.serving.synonyms import SynonymGroup
from app.domain.search.serving.versions import serving_state
from app.domain.shared.schema import Record, Whole
from app.permissions import Permission, requires
from app.transaction import transaction

SYNONYMS = "/search/synonyms/rest"
SYNONYM = f"{SYNONYMS}/<int(max=2147483647):synonym_id>"
REVISION = Whole(required=True)
CHANGE, DECIDE = Record(**SYNONYM_FIELDS.fields, revision=REVISION), Record(revision=REVISION)


@bp.post(SYNONYMS)
@requires(Permission.MANAGE_SEARCH)
def search_synonyms_rest_add() -> Response:
    sent = SynonymGroup.of_json(json_body(SYNONYM_FIELDS))
    with transaction():
        synonym_id = synonyms.add(current_author(), sent).id
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
    body = json_body(CHANGE)
    with transaction():
        synonyms.change(current_author(), synonym_id, body["revision"], SynonymGroup.of_json(body))
    return _view(synonym_id)


@bp.delete(SYNONYM)
@requires(Permission.MANAGE_SEARCH)
def search_synonyms_rest_delete(synonym_id: int) -> Response:
    """Delete a synonym. `revision` stands in the body or in the address."""
    _there(synonym_id)
    revision = json_body(DECIDE)["revision"] if request.content_length else revision_in_address()
    with transaction():
        synonyms.delete(current_author(), synonym_id, revision)
    return Response(status=204)


@bp.post(f"{SYNONYM}/accept")
@requires(Permission.MANAGE_SEARCH)
def search_synonyms_rest_accept(synonym_id: int) -> Response:
    """Accept a suggestion as it is, or with other words where the body has them."""
    _there(synonym_id)
    is_edited = isinstance(request.get_json(), dict) and len(request.get_json()) > 1
    body = json_body(CHANGE if is_edited else DECIDE)
    edited = SynonymGroup.of_json(body) if is_edited else None
    with transaction():
        synonyms.accept(current_author(), synonym_id, body["revision"], edited)
    return _view(synonym_id)


@bp.post(f"{SYNONYM}/reject")
@requires(Permission.MANAGE_SEARCH)
def search_synonyms_rest_reject(synonym_id: int) -> Response:
    _there(synonym_id)
    revision = json_body(DECIDE)["revision"]
    with transaction():
        synonyms.reject(current_author(), synonym_id, revision)
    return _view(synonym_id)


def _there(synonym_id: int) -> Synonym:
    """Return the synonym. Raises NotFound for one of another site, before the body is read."""
    return synonyms.synonym_of(current_user.site_id, synonym_id)


def _view(synonym_id: int) -> Response:
    return jsonify(_there(synonym_id).as_json(serving_state(current_user.site_id)))
