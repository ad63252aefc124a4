"""Products on the wire."""

from __future__ import annotations

from typing import Any

from marshmallow import fields, validate

from app.blueprints.v1.api import Shape
from app.blueprints.v1.merchandising_shapes import ListShape
from app.blueprints.v1.taxonomy_shapes import PageQuery
from app.domain.catalogue.listing import LONGEST_WORDS
from app.domain.catalogue.product_rules import LONGEST_UPC

LONGEST_SEO_NAME = 200
MONEY: dict[str, Any] = {"minimum": 0, "example": 12_500}


def _text(longest: int, description: str, **more: Any) -> fields.Str:
    metadata = {"description": description, "pattern": r"^[^\u0000]*$"} | more
    rules = [validate.Length(max=longest), validate.ContainsNoneOf("\0", error="Text has no NUL.")]
    return fields.Str(load_default="", validate=rules, metadata=metadata)


class ProductQuery(PageQuery):
    q = _text(LONGEST_WORDS, "Words, as shoppers search; the best match comes first.", example="tent")
    search = _text(LONGEST_WORDS, "The same as `q`, which goes before.")
    upc = _text(LONGEST_UPC, "The bar code of a product or of a variant: UPC or EAN.", example="5012345678900")
    seo_name = _text(LONGEST_SEO_NAME, "The name in the address of the product’s page.")


class PictureShape(Shape):
    url = fields.Str(required=True, metadata={"format": "uri"})
    alt = fields.Str(required=True)
    width = fields.Int(required=True, metadata={"description": "Pixels."})
    height = fields.Int(required=True, metadata={"description": "Pixels."})


class VariantShape(Shape):
    """A form of a product that is sold; baskets name its `skuCode`."""

    sku_code = fields.Str(required=True)
    upc = fields.Str(required=True, allow_none=True)
    options = fields.Dict(keys=fields.Str(), values=fields.Str(), required=True, metadata={"example": {"Size": "L"}})
    price = fields.Int(required=True, metadata=MONEY)
    in_stock = fields.Bool(required=True)
    quantity = fields.Int(required=True, allow_none=True, metadata={"description": "null: its stock is not counted."})
    image = fields.Nested(PictureShape, metadata={"description": "Its own picture, where it has one."})


class ProductShape(Shape):
    """Prices in minor units of `currency`, tax included. One with variants is sold as one of them."""

    id = fields.Str(required=True)
    sku_code = fields.Str(required=True)
    name = fields.Str(required=True)
    seo_name = fields.Str(required=True)
    url = fields.Str(required=True, metadata={"format": "uri", "description": "Of its page in the shop."})
    manufacturer = fields.Str(required=True)
    upc = fields.Str(required=True, allow_none=True)
    description = fields.Str(required=True, metadata={"description": "HTML without scripts."})
    price = fields.Int(required=True, metadata=MONEY)
    compare_at_price = fields.Int(
        required=True, allow_none=True, metadata={"description": "What it cost before, where that was more."}
    )
    currency = fields.Str(required=True, metadata={"example": "gbp"})
    in_stock = fields.Bool(required=True, metadata={"description": "Of one with variants: any of them."})
    quantity = fields.Int(
        required=True,
        allow_none=True,
        metadata={"description": "What is left, of all variants together; null: not counted, or not of every variant."},
    )
    images = fields.List(
        fields.Nested(PictureShape), required=True, metadata={"description": "One or more; the first stands for it."}
    )
    variants = fields.List(fields.Nested(VariantShape), required=True)


class ProductsShape(ListShape):
    """A page; past the last one `items` is empty."""

    items = fields.List(fields.Nested(ProductShape), required=True)


class SuggestionQuery(Shape):
    q = _text(LONGEST_WORDS, "What is typed so far, with the space that ends a word.", example="ten")


class SuggestedCategoryShape(Shape):
    name = fields.Str(required=True)
    above = fields.List(
        fields.Str(), required=True, metadata={"description": "The names of the categories above, the first one first."}
    )
    url = fields.Str(required=True, metadata={"format": "uri"})


class SuggestedBrandShape(Shape):
    name = fields.Str(required=True, metadata={"example": "Moor"})
    products = fields.Int(required=True, metadata={"description": "How many the shop sells of it."})
    url = fields.Str(required=True, metadata={"format": "uri", "description": "Of the page that shows them."})


class SuggestedProductShape(Shape):
    """Prices in minor units of `currency`, tax included. More of it: `GET /v1/product/{skuCode}`."""

    sku_code = fields.Str(required=True)
    name = fields.Str(required=True)
    manufacturer = fields.Str(required=True)
    url = fields.Str(required=True, metadata={"format": "uri", "description": "Of its page in the shop."})
    price = fields.Int(required=True, metadata=MONEY)
    compare_at_price = fields.Int(
        required=True, allow_none=True, metadata={"description": "What it cost before, where that was more."}
    )
    currency = fields.Str(required=True, metadata={"example": "gbp"})
    in_stock = fields.Bool(required=True)
    image = fields.Str(required=True, metadata={"format": "uri", "description": "A small picture."})


class SuggestionsShape(Shape):
    """Each list begins with what is most likely."""

    searches = fields.List(
        fields.Str(), required=True, metadata={"description": "Popular searches of the shop.", "example": ["tent"]}
    )
    categories = fields.List(fields.Nested(SuggestedCategoryShape), required=True)
    brands = fields.List(fields.Nested(SuggestedBrandShape), required=True)
    products = fields.List(fields.Nested(SuggestedProductShape), required=True)
    corrected = fields.Str(
        required=True,
        allow_none=True,
        metadata={"description": "The spelling that found the products, where they are not found as typed."},
    )
