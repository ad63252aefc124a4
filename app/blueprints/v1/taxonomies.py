"""Taxonomies for other programs: the same use cases and permissions as the admin's own. What is sent of a tree is read
by the domain, which names the level of every problem."""

from __future__ import annotations

from typing import Any

from flask import Response, jsonify, request, url_for
from marshmallow import fields, validate

from app.blueprints.json_body import LARGEST_TREE
from app.blueprints.v1.api import (
    ANY_TEXT,
    BLOCK,
    LINE,
    ApiBlueprint,
    Body,
    Few,
    ListShape,
    PageQuery,
    Shape,
    Unread,
    UtcTime,
)
from app.blueprints.v1.callers import caller, calling_author, requires_token
from app.domain.shared.paging import Paged
from app.domain.shared.schema import Flag, Whole
from app.domain.taxonomy import lifecycle
from app.domain.taxonomy.lifecycle import TaxonomyRow, data_view, list_taxonomies, saved_view, view_of
from app.domain.taxonomy.renames import ValueRename
from app.domain.taxonomy.revisions import LONGEST_NOTE
from app.domain.taxonomy.saves import prepare, store
from app.domain.taxonomy.taxonomies import LONGEST_DESCRIPTION, LONGEST_NAME
from app.domain.taxonomy.tree import AttributeType
from app.transaction import transaction
from app.web.permissions import Permission

MOST_RENAMES = 1_000
NAME = {"minLength": 1, "maxLength": LONGEST_NAME, **LINE}  # Described here, checked by the domain.
DESCRIPTION = {"maxLength": LONGEST_DESCRIPTION, **BLOCK}
EXAMPLE: dict[str, Any] = {
    "revision": 4,
    "name": "Outdoor",
    "rootLevels": [
        {
            "levelId": "tents",
            "name": "Tents",
            "attributes": [
                {
                    "attributeId": "season",
                    "name": "Season",
                    "type": "SINGLE_SELECT",
                    "allowedValues": ["Summer", "All year"],
                    "validation": {"mandatory": True},
                }
            ],
            "children": [{"levelId": "new-1", "name": "Family tents"}],
        }
    ],
}
bp = ApiBlueprint("v1_taxonomies", __name__, url_prefix="/v1/admin/taxonomies", tag="Taxonomies")


class ValidationShape(Body):
    mandatory = fields.Bool()
    min_length = fields.Int()
    max_length = fields.Int()
    min_value = fields.Float()
    max_value = fields.Float()
    pattern = fields.Str(metadata={"description": "RE2, at most 200 characters; must match the whole value."})
    error_message = fields.Str()


class AttributeShape(Body):
    attribute_id = fields.Str(metadata={"description": "`new-…` or none for a new one, which gets an id."})
    name = fields.Str(required=True)
    type = fields.Str(required=True, validate=validate.OneOf([kind.value for kind in AttributeType]))
    unit = fields.Str(metadata={"description": "Of a NUMBER, such as kg; at most 20 characters. Values stay numbers."})
    help_text = fields.Str()
    allowed_values = fields.List(
        fields.Str(metadata=ANY_TEXT), metadata={"description": "Of the SELECT types, in their order."}
    )
    validation = fields.Nested(ValidationShape)
    display_on_product_page = fields.Bool()
    display_label = fields.Str()
    display_order = fields.Int(metadata={"description": "The place decides; what is sent is ignored."})


class LevelShape(Body):
    level_id = fields.Str(metadata={"description": "`new-…` or none for a new one, which gets an id."})
    name = fields.Str(required=True)
    other_names = fields.List(
        fields.Str(metadata=ANY_TEXT),
        metadata={"description": "What else shoppers call it, such as SSD: at most 20 of 60 characters."},
    )
    description = fields.Str()
    parent_level_id = fields.Str(
        allow_none=True, metadata={"description": "The nesting decides; what is sent is ignored."}
    )
    display_order = fields.Int(metadata={"description": "The place decides; what is sent is ignored."})
    attributes = fields.List(fields.Nested(AttributeShape))
    children = fields.List(fields.Nested(lambda: LevelShape()))


class TaxonomyShape(Shape):
    id = fields.Str(required=True)
    name = fields.Str(required=True)
    description = fields.Str(required=True)
    catalogue_id = fields.Str(required=True)
    revision = fields.Int(required=True, metadata={"description": "Rises with every save, from 1."})
    root_levels = Unread(fields.Nested(LevelShape), required=True)
    created_at = UtcTime(required=True)
    updated_at = UtcTime(required=True)


class TaxonomyRowShape(Shape):
    id = fields.Str(required=True)
    name = fields.Str(required=True)
    description = fields.Str(required=True)
    active = fields.Bool(required=True, attribute="is_active")
    levels = fields.Int(required=True)
    products = fields.Int(required=True, metadata={"description": "That carry a level; 0 unless it is the active one."})
    revision = fields.Int(required=True)
    updated_at = UtcTime(required=True)


class TaxonomiesShape(ListShape):
    """A page; past the last one `items` is empty."""

    items = fields.List(fields.Nested(TaxonomyRowShape), required=True)


class CountShape(Shape):
    direct = fields.Int(required=True)
    rolled_up = fields.Int(required=True, metadata={"description": "With those at all levels below."})


class TaxonomyDataShape(Shape):
    taxonomy = fields.Nested(TaxonomyShape, required=True)
    active = fields.Bool(required=True)
    counts = fields.Dict(
        keys=fields.Str(),
        values=fields.Nested(CountShape),
        required=True,
        metadata={"description": "Products by levelId; empty unless the taxonomy is the active one."},
    )


class CreateBody(Body):
    name = fields.Str(required=True, metadata=NAME)
    description = fields.Str(load_default="", metadata=DESCRIPTION)
    sample = Flag(load_default=False, metadata={"description": "Begin with the levels of a sample."})


class CreatedShape(Shape):
    id = fields.Str(required=True)
    taxonomy = fields.Nested(TaxonomyShape, required=True)


class ValueRenameBody(Body):
    level_id = fields.Str(required=True)
    attribute_id = fields.Str(required=True)
    value = fields.Str(required=True)
    renamed = fields.Str(required=True)


class StructureBody(Body):
    revision = Whole(
        load_default=None, allow_none=True, metadata={"description": "The one that was read; absent counts as 0."}
    )
    name = fields.Str(required=True, metadata=NAME)
    description = fields.Str(metadata=DESCRIPTION | {"description": "Left out, it stays as it is."})
    root_levels = Unread(fields.Nested(LevelShape), required=True, metadata={"description": "The whole tree."})
    note = fields.Str(
        load_default="", metadata={"description": "For the change log.", "maxLength": LONGEST_NOTE, **BLOCK}
    )
    value_renames = Few(
        fields.Nested(ValueRenameBody),
        MOST_RENAMES,
        load_default=list,
        metadata={"description": "Allowed values that got another name: products follow in the background."},
    )


class SavedShape(Shape):
    taxonomy = fields.Nested(TaxonomyShape, required=True)
    revision = fields.Int(required=True)
    ids = fields.Dict(
        keys=fields.Str(),
        values=fields.Str(),
        required=True,
        metadata={"description": "The ids that new records got, by the `new-…` ids that were sent."},
    )


class ActivateBody(Body):
    confirm_name = fields.Str(
        load_default=None,
        allow_none=True,
        metadata={
            "description": "Needed when another taxonomy is active: the name of this one, to the letter. Products then "
            "lose their classification to an archive."
        },
    )


class ActivatedShape(Shape):
    id = fields.Str(required=True)
    active = fields.Bool(required=True)
    switched = fields.Bool(required=True, metadata={"description": "Another one was active before."})


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
