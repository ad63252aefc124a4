"""All products of a site as lines of a table in our own columns, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from app.domain.bundles.exporting.products import product_rows
from app.domain.bundles.tables.columns import ATTRIBUTE, OPTIONS, PRODUCT_FIELDS, VARIANT_FIELDS
from app.domain.bundles.tables.opening import attribute_names
from app.domain.shared.money import decimal_text
from app.domain.sites.sites import currency_of
from app.domain.taxonomy.products.panel import stored_texts

Row = Mapping[str, Any]
PLAIN = ("sku", "name", "seoName", "manufacturer", "description", "upc", "stock", "rating", "canonicalUrl")


def table_of(site_id: int) -> Iterator[Sequence[str]]:
    """Yield the names of the columns, then the lines: of a product its own first, with its first variant, and one for
    each further variant."""
    currency, attribute_ids = currency_of(site_id), sorted(attribute_names(site_id))
    columns = [*PRODUCT_FIELDS, *VARIANT_FIELDS, *(f"{ATTRIBUTE}{id}" for id in attribute_ids)]
    yield columns
    for row in product_rows(site_id):
        for cells in _lines(row, currency, attribute_ids):
            yield [cells.get(column, "") for column in columns]


def _lines(row: Row, currency: str, attribute_ids: Iterable[str]) -> Iterator[dict[str, str]]:
    first, *others = [_variant(variant, currency) for variant in row["variants"]] or [{}]
    yield _product(row, currency, attribute_ids) | first
    for variant in others:
        yield {"sku": row["sku"]} | variant


def _product(row: Row, currency: str, attribute_ids: Iterable[str]) -> dict[str, str]:
    classified = row["taxonomy"] or {"levelId": "", "attributes": {}}
    texts = stored_texts(classified["attributes"])
    return {
        **{name: _text(row[name]) for name in PLAIN},
        **{name: _money(row[name], currency) for name in ("price", "compareAtPrice")},
        **{name: "yes" if row[name] else "no" for name in ("enabled", "featured")},
        "searchTerms": ", ".join(row["searchTerms"]),
        "level": classified["levelId"],
        **{f"{ATTRIBUTE}{id}": ", ".join(texts[id]) for id in attribute_ids if id in texts},
    }


def _variant(variant: Row, currency: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for place, (name, value) in zip(OPTIONS, variant["options"].items(), strict=False):
        options |= {f"option{place}Name": name, f"option{place}Value": value}
    return {
        "variantSku": variant["sku"],
        "variantUpc": _text(variant["upc"]),
        "variantPrice": _money(variant["price"], currency),
        "variantStock": _text(variant["stock"]),
        **options,
    }


def _money(amount: int | None, currency: str) -> str:
    return "" if amount is None else decimal_text(amount, currency)


def _text(value: Any) -> str:
    if isinstance(value, float):
        return format(Decimal(repr(value)), "f")  # Never with an exponent, which the import would not take.
    return "" if value is None else str(value)
