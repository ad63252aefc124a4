"""Taxonomies on the wire. What is sent of a tree is read by the domain, which names the level of every problem."""

from __future__ import annotations

from typing import Any

from marshmallow import fields, validate

from app.blueprints.v1.api import Body, Shape
from app.blueprints.v1.fields import ANY_TEXT, BLOCK, LINE, Few, NumberInAddress, Unread, UtcTime
from app.domain.shared.schema import Flag, Whole
from app.domain.taxonomy.revisions import LONGEST_NOTE
from app.domain.taxonomy.taxonomies import LONGEST_DESCRIPTION, LONGEST_NAME
from app.domain.taxonomy.tree import AttributeType

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


class PageQuery(Shape):
    page_number = NumberInAddress(load_default=1, validate=validate.Range(min=1))
    page_size = NumberInAddress(load_default=20, validate=validate.Range(min=1, max=100))


class TaxonomiesShape(Shape):
    """A page; past the last one `items` is empty."""

    items = fields.List(fields.Nested(TaxonomyRowShape), required=True)
    page_number = fields.Int(required=True)
    page_size = fields.Int(required=True)
    total_items = fields.Int(required=True)
    total_pages = fields.Int(required=True)


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
