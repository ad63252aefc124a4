"""Products and collections for everybody, as the shop of the host sells them now; categories.py adds the categories."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from flask import Response, g, request
from marshmallow import fields, validate

from app import ports
from app.blueprints.callers import rate_limited
from app.blueprints.storefront.blueprint import current_shop, served_configuration
from app.blueprints.storefront.presentation import card_picture
from app.blueprints.storefront.search import RATE, suggestions_for
from app.blueprints.v1.api import ApiBlueprint, ListShape, PageQuery, Shape
from app.blueprints.v1.callers import session_caller
from app.blueprints.v1.description import ETAG
from app.domain.catalogue.listing import LONGEST_WORDS
from app.domain.catalogue.models import Product, Variant
from app.domain.catalogue.product_rules import LONGEST_UPC, is_in_stock, is_on_sale
from app.domain.catalogue.queries import (
    CollectionRow,
    Lookup,
    collections_shown,
    product_for_sale,
    products_for_sale,
    products_of_collection,
)
from app.domain.merchandising.product_pages import PagePicture, photograph, pictures_of
from app.domain.search.listings.browsing import products_by_words
from app.domain.search.suggestions import Typed
from app.domain.shared.paging import Paged
from app.domain.shared.problems import Unauthenticated
from app.web.permissions import public

LONGEST_SEO_NAME = 200
MONEY: dict[str, Any] = {"minimum": 0, "example": 12_500}
bp = ApiBlueprint(
    "v1_catalogue", __name__, tag="Catalogue", url_prefix="/v1", description="Products, categories and collections"
)
READS = ("catalogue-read", 120)  # A minute: an office of shoppers has one address, a till its own count.


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


class CollectionShape(Shape):
    seo_name = fields.Str(required=True, metadata={"example": "rainy-days"})
    name = fields.Str(required=True, metadata={"example": "For rainy days"})
    products = fields.Int(required=True, metadata={"description": "How many of it are for sale."})


class CollectionsShape(ListShape):
    """A page; past the last one `items` is empty."""

    items = fields.List(fields.Nested(CollectionShape), required=True)


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
    did_you_mean = fields.Str(
        required=True,
        allow_none=True,
        metadata={"description": "A spelling to offer, which was not searched: what was typed may be meant as it is."},
    )


@bp.before_request
def _identify_signed_in_callers() -> None:
    """Identify the callers with a valid token, tills among them, so that each has a rate limit of its own. An invalid
    token counts as none where everybody may read. The shop is read before them: read within the transaction that finds
    them it could be older than its version says."""
    current_shop()
    with suppress(Unauthenticated):
        g.api_caller = session_caller()


@bp.get("/product")
@public
@rate_limited(*READS)
@bp.open_to_all
@bp.described("searchProducts", 404, 429)
@bp.arguments(ProductQuery, location="query")
@bp.response(200, ProductsShape, headers=ETAG)
@bp.alt_response(304, description="What was sent as If-None-Match still holds.")
def products(query: dict[str, Any]) -> Paged[dict[str, Any]]:
    """Search the products that are for sale.

    By words (`q`) as shoppers search, with the shop's synonyms and rules; by `upc` or `seoName`; all of them, by name,
    without any. Where several are given, all must hold. While the search index is away, words are looked for in names
    and codes.
    """
    shop, page_number, page_size = current_shop(), query["page_number"], query["page_size"]
    words = (query["q"] or query["search"]).strip()
    lookup = Lookup(words, query["upc"].strip(), query["seo_name"].strip())
    if words and lookup == Lookup(words):
        served, now = served_configuration(shop), ports.clock().now()
        engine = ports.search_engine()
        return products_page(products_by_words(engine, shop.site_id, words, served, now, page_number, page_size))
    return products_page(products_for_sale(shop.site_id, lookup, page_number, page_size))


@bp.get("/product/suggest")
@public
@rate_limited("product-suggest", RATE.most)
@bp.open_to_all
@bp.described("suggestProducts", 404, 429)
@bp.arguments(SuggestionQuery, location="query")
@bp.response(200, SuggestionsShape, headers=ETAG)
@bp.alt_response(304, description="What was sent as If-None-Match still holds.")
def suggestions(query: dict[str, str]) -> dict[str, Any]:
    """Suggest as words are typed, as the shop does below its search box.

    From the second letter on: popular searches of the shop that find something, categories, brands and up to five
    products; for no letter at all the popular searches. Nothing is counted as a search. While the search index is away,
    only categories are suggested. To search for what was typed, send it to `GET /v1/product`.
    """
    shop = current_shop()
    found = suggestions_for(shop, Typed.read([query["q"]]))
    return {
        "searches": list(found.searches),
        "categories": [
            {
                "name": node.name,
                "above": [step.name for step in shop.tree.ancestors(node.id)],
                "url": _absolute(f"/c/{node.path}"),
            }
            for node in found.categories
        ],
        "brands": [{"name": b.name, "products": b.products, "url": _absolute(b.path)} for b in found.brands],
        "products": [_suggested_json(hit.card) for hit in found.products],
        "corrected": found.corrected,
        "did_you_mean": found.did_you_mean,
    }


@bp.get("/product/<path:sku_code>")
@public
@rate_limited(*READS)
@bp.open_to_all
@bp.described("getProduct", 404, 429)
@bp.response(200, ProductShape, headers=ETAG)
@bp.alt_response(304, description="What was sent as If-None-Match still holds.")
def product(sku_code: str) -> dict[str, Any]:
    """A product with its variants, by its SKU or by that of one of the variants.

    One with exactly the SKU `suggest` is found by a variant's SKU, or in the list by `seoName`, `upc` or `q`.
    """
    return _product_json(product_for_sale(current_shop().site_id, sku_code))


@bp.get("/collection")
@public
@rate_limited(*READS)
@bp.open_to_all
@bp.described("listCollections", 404, 429)
@bp.arguments(PageQuery, location="query")
@bp.response(200, CollectionsShape, headers=ETAG)
@bp.alt_response(304, description="What was sent as If-None-Match still holds.")
def collections(query: dict[str, int]) -> Paged[CollectionRow]:
    """The collections that shoppers see, by name."""
    return collections_shown(current_shop().site_id, query["page_number"], query["page_size"])


@bp.get("/collection/<seo_name>/products")
@public
@rate_limited(*READS)
@bp.open_to_all
@bp.described("listCollectionProducts", 404, 429)
@bp.arguments(PageQuery, location="query")
@bp.response(200, ProductsShape, headers=ETAG)
@bp.alt_response(304, description="What was sent as If-None-Match still holds.")
def collection_products(query: dict[str, int], seo_name: str) -> Paged[dict[str, Any]]:
    """The products of a collection that are for sale, in its own order."""
    site_id = current_shop().site_id
    return products_page(products_of_collection(site_id, seo_name, query["page_number"], query["page_size"]))


@bp.after_request
def _have_caches_revalidate(response: Response) -> Response:
    """Let caches keep an answer that they must revalidate at each use."""
    if response.status_code == 200:
        response.headers["Cache-Control"] = "public, no-cache"
        response.add_etag()
        response.make_conditional(request)
    return response


def products_page(found: Paged[Product]) -> Paged[dict[str, Any]]:
    """Return a page of products as JSON."""
    items = [_product_json(one) for one in found.items]
    return Paged(items, found.page_number, found.page_size, found.total_items)


def _product_json(product: Product) -> dict[str, Any]:
    shop = current_shop()
    stocks = [variant.stock for variant in product.variants]
    return {
        "id": str(product.id),
        "sku_code": product.sku,
        "name": product.name,
        "seo_name": product.seo_name,
        "url": _absolute(f"/p/{product.seo_name}"),
        "manufacturer": product.manufacturer,
        "upc": product.upc,
        "description": product.description,
        "price": product.price,
        "compare_at_price": product.compare_at_price if is_on_sale(product.price, product.compare_at_price) else None,
        "currency": shop.currency,
        "in_stock": is_in_stock(product.stock, stocks),
        "quantity": _quantity(stocks or [product.stock]),
        "images": [_picture_json(picture) for picture in pictures_of(shop, product)],
        "variants": [_variant_json(product, variant) for variant in product.variants],
    }


def _suggested_json(card: Mapping[str, Any]) -> dict[str, Any]:
    price, before = card["price"], card["compareAtPrice"]
    return {
        "sku_code": card["sku"],
        "name": card["name"],
        "manufacturer": card["manufacturer"],
        "url": _absolute(f"/p/{card['seoName']}"),
        "price": price,
        "compare_at_price": before if is_on_sale(price, before) else None,
        "currency": current_shop().currency,
        "in_stock": card["inStock"],
        "image": _absolute(card_picture(card)),
    }


def _variant_json(product: Product, variant: Variant) -> dict[str, Any]:
    picture = product.picture_of(variant)
    return {
        "sku_code": variant.sku,
        "upc": variant.upc,
        "options": variant.options,
        "price": product.price if variant.price is None else variant.price,
        "in_stock": is_in_stock(variant.stock),
        "quantity": variant.stock,
        **({"image": _picture_json(photograph(current_shop(), product, picture))} if picture else {}),
    }


def _picture_json(picture: PagePicture) -> dict[str, Any]:
    return {"url": _absolute(picture.url), "alt": picture.alt, "width": picture.width, "height": picture.height}


def _quantity(stocks: list[int | None]) -> int | None:
    counted = [stock for stock in stocks if stock is not None]
    return sum(counted) if len(counted) == len(stocks) else None


def _absolute(path: str) -> str:
    return request.host_url.rstrip("/") + path
