"""Search terms of a product, by each door."""

from __future__ import annotations

from typing import Any

from app.domain.catalogue.models import Product
from app.domain.sites.models import Site
from app.extensions import db
from tests.factories import make_product
from tests.mcp.doors import Row, Said, Shop, Subject, of_tool


def _page(shop: Shop, product_id: int, terms: list[Any]) -> Said:
    return shop.page(f"/admin/search/terms/{product_id}", {"terms": ", ".join(terms)}, refusal="error")


def _editor(shop: Shop, product_id: int, terms: list[Any]) -> Said:
    """The product itself is saved whatever its terms are; they are refused with the reason."""
    details = {"name": "Ridge tent", "sku": f"T-{product_id}", "price": "12.50", "enabled": "on", "revision": "1"}
    more = {"searchTerms": ", ".join(terms), "seoName": f"tent-{product_id}"}
    return shop.page(f"/admin/catalogue/product/{product_id}", details | more, refusal="the old ones stay")


def _rest(shop: Shop, product_id: int, terms: list[Any]) -> Said:
    return shop.rest("PUT", f"/admin/search/terms/rest/{product_id}", {"terms": terms})


def _tool(shop: Shop, product_id: int, terms: list[Any]) -> Said:
    sent = {"action": "replace", "product": str(product_id), "terms": terms}
    return of_tool(shop.tool("manageProductSearchTerms", **sent))


def _prepare(site: Site) -> int:
    product = make_product(site, name="Ridge tent", search_terms=["old"])
    product.sku = f"T-{product.id}"
    product.seo_name = f"tent-{product.id}"
    return product.id


def _state(product_id: int) -> list[str]:
    return list(db.session.get_one(Product, product_id).search_terms)


TERMS = Subject({"page": _page, "editor": _editor, "REST": _rest, "MCP": _tool}, _prepare, _state)
NO_COMMA = frozenset({"page", "editor"})  # There a comma parts two terms.
OLD = ["old"]
ROWS = [
    Row("terms are trimmed", TERMS, [" shelter ", "tipi"], True, ["shelter", "tipi"]),
    Row("the first spelling is kept", TERMS, ["Yurt", "yurt", "YURT "], True, ["Yurt"]),
    Row("no terms at all", TERMS, [], True, []),
    Row("nothing but spaces", TERMS, ["  ", ""], True, []),
    Row("a comma", TERMS, ["a,b"], False, OLD, ("“a,b” contains a comma.",), NO_COMMA),
    Row("line breaks around terms", TERMS, ["tea\r\n", "\ncup"], True, ["tea", "cup"]),
    Row("a line break within a term", TERMS, ["tea\ncup"], False, OLD, ("“tea cup” contains a line break.",)),
    Row("50 characters", TERMS, ["x" * 50], True, ["x" * 50]),
    Row("51 characters", TERMS, ["fine", "x" * 51], False, OLD, ("has 51 characters",)),
    Row("50 terms", TERMS, [f"t{n}" for n in range(50)], True, [f"t{n}" for n in range(50)]),
    Row("51 terms", TERMS, [f"t{n}" for n in range(51)], False, OLD, ("at most 50 search terms; these are 51",)),
    Row("what cannot be shown", TERMS, ["left\u202eright"], False, OLD, ("characters that cannot be shown",)),
    Row("two problems at once", TERMS, ["x" * 51, "y\u202e"], False, OLD, ("has 51 characters", "cannot be shown")),
    Row("no text", TERMS, ["a,b", 7, "x" * 51], False, OLD, ("comma", "must be text", "has 51"), NO_COMMA),
    Row("words that look like a command", TERMS, ["'; DROP TABLE --"], True, ["'; DROP TABLE --"]),
]
