"""Taxonomies as JSON, for the admin's own pages and for scripts of people who are signed in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import jsonify, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.taxonomy.review import shoppers_of
from app.blueprints.callers import current_author
from app.blueprints.json_body import json_body
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.schema import Flag, Items, Record, Text, Whole
from app.domain.taxonomy import lifecycle
from app.domain.taxonomy.impact import impact
from app.domain.taxonomy.lifecycle import activation_view, data_view, saved_view, view_of
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.renames import ValueRename
from app.domain.taxonomy.saves import check_proposal, prepare, store
from app.domain.taxonomy.taxonomies import taxonomy_of
from app.transaction import transaction
from app.web.errors import serves_json
from app.web.permissions import Permission, requires

MOST_RENAMES = 1_000
NAME, TREE = Text(required=True), Items(required=True)
OPTIONAL_TEXT = Text(allow_none=True)
RENAMES = Items(allow_none=True)
# Bodies of requests: every field that they may have, and no other.
STRUCTURE = Record(
    revision=Whole(allow_none=True),
    name=NAME,
    description=OPTIONAL_TEXT,
    rootLevels=TREE,
    note=OPTIONAL_TEXT,
    valueRenames=RENAMES,
)
IMPACT = Record(rootLevels=TREE, note=OPTIONAL_TEXT, valueRenames=RENAMES)
ACTIVATE = Record(confirmName=OPTIONAL_TEXT)
CREATE = Record(name=NAME, description=OPTIONAL_TEXT, sample=Flag(allow_none=True))
DUPLICATE = Record(name=NAME)
RENAME = Record(levelId=NAME, attributeId=NAME, value=NAME, renamed=NAME)
TAXONOMIES = "/catalogue/taxonomy"
TAXONOMY = f"{TAXONOMIES}/<taxonomy_id>"


def renames_in(body: Mapping[str, Any]) -> list[ValueRename]:
    """Return the renamed values in a body. Raises Invalid."""
    raw = body.get("valueRenames") or []
    if len(raw) > MOST_RENAMES:
        raise Invalid.one("too_many", f"At most {MOST_RENAMES:,} values can be renamed at once.", "#/valueRenames")
    problems: list[Problem] = []
    found = [RENAME.read(item, f"#/valueRenames/{place}", problems) for place, item in enumerate(raw)]
    if problems:
        raise Invalid(problems)
    return [ValueRename(one["levelId"], one["attributeId"], one["value"], one["renamed"]) for one in found]


@bp.get(f"{TAXONOMY}/data")
@serves_json
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_data(taxonomy_id: str) -> Response:
    return jsonify(data_view(current_user.site_id, taxonomy_id))


@bp.put(f"{TAXONOMY}/structure")
@serves_json
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_structure(taxonomy_id: str) -> Response:
    """Save the structure of a taxonomy. A description that is left out stays as it is."""
    taxonomy_of(current_user.site_id, taxonomy_id)
    body = json_body(STRUCTURE)
    prepared = prepare(
        current_user.site_id,
        taxonomy_id,
        body.get("revision"),
        body["name"],
        (body["description"] or "") if "description" in body else None,
        body["rootLevels"],
        body.get("note") or "",
        renames_in(body),
    )
    with transaction():
        view = saved_view(store(current_author(), prepared))
    return jsonify(view)


@bp.post(f"{TAXONOMY}/impact")
@serves_json
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_impact(taxonomy_id: str) -> Response:
    """Return the impact of a proposed tree on products, and what shoppers lose. Raises Invalid for a tree that a save
    would refuse, with the same problems."""
    taxonomy = taxonomy_of(current_user.site_id, taxonomy_id)
    body = json_body(IMPACT)
    proposal = check_proposal(taxonomy, body["rootLevels"], renames_in(body))
    found = impact(current_user.site_id, taxonomy, proposal.tree, proposal.renames).as_json()
    return jsonify(found | {"shoppers": shoppers_of(taxonomy, proposal.tree).as_json()})


@bp.post(f"{TAXONOMIES}/create")
@serves_json
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_create() -> Response:
    body = json_body(CREATE)
    texts = body["name"], body.get("description") or ""
    with transaction():
        made = lifecycle.create_taxonomy(current_author(), *texts, bool(body.get("sample")))
        return _answer_created(made)


@bp.post(f"{TAXONOMY}/duplicate")
@serves_json
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_duplicate(taxonomy_id: str) -> Response:
    taxonomy_of(current_user.site_id, taxonomy_id)
    name = json_body(DUPLICATE)["name"]
    with transaction():
        made = lifecycle.duplicate_taxonomy(current_author(), taxonomy_id, name)
        return _answer_created(made)


@bp.delete(TAXONOMY)
@serves_json
@requires(Permission.ACTIVATE_TAXONOMY)
def taxonomy_delete(taxonomy_id: str) -> Response:
    with transaction():
        lifecycle.delete_taxonomy(current_author(), taxonomy_id)
    return Response(status=204)


@bp.get(f"{TAXONOMY}/activation-impact")
@serves_json
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_activation_impact(taxonomy_id: str) -> Response:
    return jsonify(activation_view(lifecycle.activation_impact(current_user.site_id, taxonomy_id)))


@bp.post(f"{TAXONOMIES}/activate/<taxonomy_id>")
@serves_json
@requires(Permission.ACTIVATE_TAXONOMY)
def taxonomy_activate_rest(taxonomy_id: str) -> Response:
    """Activate a taxonomy. The first activation needs no body."""
    taxonomy_of(current_user.site_id, taxonomy_id)
    confirm_name = json_body(ACTIVATE).get("confirmName") if request.content_length else None
    with transaction():
        switched = lifecycle.activate_taxonomy(current_author(), taxonomy_id, confirm_name)
    return jsonify({"id": taxonomy_id, "active": True, "switched": switched})


def _answer_created(taxonomy: Taxonomy) -> Response:
    body: dict[str, Any] = {"id": taxonomy.id, "taxonomy": view_of(taxonomy)}
    answer = jsonify(body)
    answer.status_code = 201
    answer.headers["Location"] = url_for("admin.taxonomy_data", taxonomy_id=taxonomy.id)
    return answer
