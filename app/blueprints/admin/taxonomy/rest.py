"""Taxonomies as JSON, for the admin's own pages and for scripts of people who are signed in."""

from __future__ import annotations

from typing import Any

from flask import jsonify, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.taxonomy.bodies import CREATE, DUPLICATE, IMPACT, STRUCTURE, body_of, renames_in
from app.blueprints.json_body import json_object
from app.domain.taxonomy.life import activation, lifecycle
from app.domain.taxonomy.life.impact import impact
from app.domain.taxonomy.life.saving import checked_proposal, prepare, store
from app.domain.taxonomy.life.views import activation_view, data_view, saved_view, view_of
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.taxonomies import taxonomy_of
from app.errors import serves_json
from app.permissions import Permission, requires
from app.transaction import transaction

TAXONOMIES = "/catalogue/taxonomy"
TAXONOMY = f"{TAXONOMIES}/<taxonomy_id>"


@bp.get(f"{TAXONOMY}/data")
@serves_json
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_data(taxonomy_id: str) -> Response:
    return jsonify(data_view(current_user.site_id, taxonomy_id))


@bp.put(f"{TAXONOMY}/structure")
@serves_json
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_structure(taxonomy_id: str) -> Response:
    """A description that is left out stays as it is."""
    taxonomy_of(current_user.site_id, taxonomy_id)
    body = body_of(STRUCTURE)
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
        view = saved_view(store(ports.clock(), prepared, current_user.display_name))
    return jsonify(view)


@bp.post(f"{TAXONOMY}/impact")
@serves_json
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_impact(taxonomy_id: str) -> Response:
    """Of a tree that could be saved; another one is answered with its problems, as a save would be."""
    taxonomy = taxonomy_of(current_user.site_id, taxonomy_id)
    body = body_of(IMPACT)
    levels, renames = checked_proposal(taxonomy, body["rootLevels"], renames_in(body))
    return jsonify(impact(current_user.site_id, taxonomy, levels, renames).as_json())


@bp.post(f"{TAXONOMIES}/create")
@serves_json
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_create() -> Response:
    body = body_of(CREATE)
    texts = body["name"], body.get("description") or ""
    with transaction():
        made = lifecycle.create(
            ports.clock(), current_user.site_id, *texts, bool(body.get("sample")), current_user.display_name
        )
        return _made(made)


@bp.post(f"{TAXONOMY}/duplicate")
@serves_json
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_duplicate(taxonomy_id: str) -> Response:
    taxonomy_of(current_user.site_id, taxonomy_id)
    name = body_of(DUPLICATE)["name"]
    with transaction():
        made = lifecycle.duplicate(ports.clock(), current_user.site_id, taxonomy_id, name, current_user.display_name)
        return _made(made)


@bp.delete(TAXONOMY)
@serves_json
@requires(Permission.ACTIVATE_TAXONOMY)
def taxonomy_delete(taxonomy_id: str) -> Response:
    with transaction():
        lifecycle.delete(ports.clock(), current_user.site_id, taxonomy_id, current_user.display_name)
    return Response(status=204)


@bp.get(f"{TAXONOMY}/activation-impact")
@serves_json
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_activation_impact(taxonomy_id: str) -> Response:
    return jsonify(activation_view(activation.activation_impact(current_user.site_id, taxonomy_id)))


@bp.post(f"{TAXONOMIES}/activate/<taxonomy_id>")
@serves_json
@requires(Permission.ACTIVATE_TAXONOMY)
def taxonomy_activate_rest(taxonomy_id: str) -> Response:
    """The first activation needs no body."""
    taxonomy_of(current_user.site_id, taxonomy_id)
    confirm_name = json_object({"confirmName"}).get("confirmName") if request.content_length else None
    with transaction():
        switched = activation.activate(
            ports.clock(), current_user.site_id, taxonomy_id, confirm_name, current_user.display_name
        )
    return jsonify({"id": taxonomy_id, "active": True, "switched": switched})


def _made(taxonomy: Taxonomy) -> Response:
    body: dict[str, Any] = {"id": taxonomy.id, "taxonomy": view_of(taxonomy)}
    answer = jsonify(body)
    answer.status_code = 201
    answer.headers["Location"] = url_for("admin.taxonomy_data", taxonomy_id=taxonomy.id)
    return answer
