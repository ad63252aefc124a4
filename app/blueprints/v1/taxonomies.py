"""Taxonomies for other programs: the same use cases and permissions as the admin's own."""

from __future__ import annotations

from typing import Any

from flask import Response, jsonify, request, url_for

from app.blueprints.json_body import LARGEST_TREE
from app.blueprints.v1.api import ApiBlueprint
from app.blueprints.v1.bearer import caller, calling_author, requires_token
from app.blueprints.v1.taxonomy_shapes import (
    EXAMPLE,
    ActivateBody,
    ActivatedShape,
    CreateBody,
    CreatedShape,
    PageQuery,
    SavedShape,
    StructureBody,
    TaxonomiesShape,
    TaxonomyDataShape,
)
from app.domain.shared.paging import Paged
from app.domain.taxonomy import lifecycle
from app.domain.taxonomy.lifecycle import TaxonomyRow, data_view, list_taxonomies, saved_view, view_of
from app.domain.taxonomy.renames import ValueRename
from app.domain.taxonomy.saves import prepare, store
from app.permissions import Permission
from app.transaction import transaction

bp = ApiBlueprint("v1_taxonomies", __name__, url_prefix="/v1/admin/taxonomies", tag="Taxonomies")


@bp.url_value_preprocessor
def _let_trees_in(endpoint: str | None, _values: dict[str, Any] | None) -> None:
    if endpoint == "v1_taxonomies.structure":
        request.max_content_length = LARGEST_TREE


@bp.get("")
@requires_token(Permission.MANAGE_TAXONOMY)
@bp.described("listTaxonomies", 401, 403)
@bp.arguments(PageQuery, location="query")
@bp.response(200, TaxonomiesShape)
def taxonomies(query: dict[str, int]) -> Paged[TaxonomyRow]:
    """The taxonomies of the shop, the active one first, then by name."""
    return Paged.cut(list_taxonomies(caller().site_id), query["page_number"], query["page_size"])


@bp.post("")
@requires_token(Permission.MANAGE_TAXONOMY)
@bp.described("createTaxonomy", 401, 403, 409, 415)
@bp.arguments(CreateBody, example={"name": "Outdoor", "description": "Tents and more", "sample": False})
@bp.response(201, CreatedShape)
def create(body: dict[str, Any]) -> tuple[Response, int, dict[str, str]]:
    """A new taxonomy, which is not the active one yet."""
    texts = body["name"], body["description"]
    with transaction():
        made = lifecycle.create_taxonomy(calling_author(), *texts, body["sample"])
        view = view_of(made)
    location = url_for("v1_taxonomies.taxonomy", taxonomy_id=view["id"])
    return jsonify({"id": view["id"], "taxonomy": view}), 201, {"Location": location}


@bp.get("/<taxonomy_id>")
@requires_token(Permission.MANAGE_TAXONOMY)
@bp.described("getTaxonomy", 401, 403, 404)
@bp.response(200, TaxonomyDataShape)
def taxonomy(taxonomy_id: str) -> Response:
    """A taxonomy with its tree, and how many products stand at each level."""
    return jsonify(data_view(caller().site_id, taxonomy_id))


@bp.put("/<taxonomy_id>/structure")
@requires_token(Permission.MANAGE_TAXONOMY)
@bp.described("saveTaxonomyStructure", 401, 403, 404, 409, 413, 415)
@bp.arguments(StructureBody, example=EXAMPLE)
@bp.response(200, SavedShape)
def structure(body: dict[str, Any], taxonomy_id: str) -> Response:
    """Save the whole tree on the revision that was read.

    All or nothing: every problem is listed at once, naming its `levelId` and `attributeId`; when another user saved
    first the answer is 409 with `currentRevision`. Products that lose their level or values are not counted here: the
    admin shows that before it saves.
    """
    prepared = prepare(
        caller().site_id,
        taxonomy_id,
        body["revision"],
        body["name"],
        body.get("description"),
        body["root_levels"],
        body["note"],
        [ValueRename(**rename) for rename in body["value_renames"]],
    )
    with transaction():
        return jsonify(saved_view(store(calling_author(), prepared)))


@bp.delete("/<taxonomy_id>")
@requires_token(Permission.ACTIVATE_TAXONOMY)
@bp.described("deleteTaxonomy", 401, 403, 404, 409)
@bp.response(204)
def delete(taxonomy_id: str) -> None:
    """Remove a taxonomy with its change log. The active one cannot be deleted."""
    with transaction():
        lifecycle.delete_taxonomy(calling_author(), taxonomy_id)


@bp.post("/<taxonomy_id>/activate")
@requires_token(Permission.ACTIVATE_TAXONOMY)
@bp.described("activateTaxonomy", 401, 403, 404, 415)
@bp.arguments(ActivateBody, required=False, example={"confirmName": "Outdoor"})
@bp.response(200, ActivatedShape)
def activate(body: dict[str, Any], taxonomy_id: str) -> dict[str, Any]:
    """Make this the shop's taxonomy. The plan of the shop must include the taxonomy engine."""
    with transaction():
        switched = lifecycle.activate_taxonomy(calling_author(), taxonomy_id, body["confirm_name"])
    return {"id": taxonomy_id, "active": True, "switched": switched}
