"""The columns of a table of products: what each can be about, and what its name says of that. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.text import one_line

NOT_IMPORTED = ""
HANDLE = "handle"
ATTRIBUTE = "attribute:"
OPTIONS = (1, 2, 3, 4, 5)  # As many as a variant may have; Shopify has three.
PROBLEM = "Problem"  # The column that a table of corrections has beside those that were sent.
PRODUCT_FIELDS: Mapping[str, str] = {
    "sku": "SKU",
    "name": "Name",
    "seoName": "SEO name",
    "manufacturer": "Manufacturer",
    "description": "Description",
    "price": "Price",
    "compareAtPrice": "Compare-at price",
    "upc": "UPC or EAN",
    "stock": "Stock",
    "enabled": "Shown in the shop",
    "featured": "Featured",
    "rating": "Rating",
    "searchTerms": "Search terms",
    "canonicalUrl": "Canonical URL",
    "level": "Level",
}
VARIANT_FIELDS: Mapping[str, str] = {
    "variantSku": "Variant: SKU",
    "variantUpc": "Variant: UPC or EAN",
    "variantPrice": "Variant: price",
    "variantStock": "Variant: stock",
    **{f"option{n}{part}": f"Variant: option {n}, {part.lower()}" for n in OPTIONS for part in ("Name", "Value")},
}
SHOPIFY_FIELDS: Mapping[str, str] = {HANDLE: "Shopify: handle", "status": "Shopify: status"}
FIELDS: Mapping[str, str] = {**PRODUCT_FIELDS, **VARIANT_FIELDS, **SHOPIFY_FIELDS}
# Names of the columns in exports of Shopify, of both forms that it has had.
SHOPIFY: Mapping[str, str] = {
    "handle": HANDLE,
    "url handle": HANDLE,
    "title": "name",
    "body (html)": "description",
    "body html": "description",
    "vendor": "manufacturer",
    "published": "enabled",
    "published on online store": "enabled",
    "variant sku": "variantSku",
    "variant barcode": "variantUpc",
    "barcode": "variantUpc",
    "variant price": "variantPrice",
    "variant compare at price": "compareAtPrice",
    "compare-at price": "compareAtPrice",
    "variant inventory qty": "variantStock",
    "inventory quantity": "variantStock",
    **{f"option{n} {part}": f"option{n}{part.capitalize()}" for n in OPTIONS for part in ("name", "value")},
}
SHOPIFY_ONLY = {"status": "status", "sku": "variantSku", "price": "variantPrice", "description": "description"}
MOST_COLUMNS = 500


@dataclass(frozen=True, slots=True)
class Target:
    """Something that a column can be about: its id, and what people read."""

    id: str
    label: str


def targets(attributes: Mapping[str, str]) -> list[Target]:
    """Return everything that a column can be about. `attributes` are the names of the taxonomy's, by id."""
    plain = [Target(id, label) for id, label in FIELDS.items()]
    times = Counter(attributes.values())
    named = sorted(attributes.items(), key=lambda item: (item[1].casefold(), item[0]))
    labels = ((id, name if times[name] == 1 else f"{name} ({id})") for id, name in named)
    return [*plain, *(Target(f"{ATTRIBUTE}{id}", f"Attribute: {label}") for id, label in labels)]


def guessed(header: Sequence[str], attributes: Mapping[str, str]) -> list[str]:
    """Return what each column is about by its name; of several with one name the first counts."""
    plain = [one_line(name).casefold() for name in header]
    is_shopify = any(SHOPIFY.get(name) == HANDLE for name in plain)
    known = _names(attributes) | ({**SHOPIFY, **SHOPIFY_ONLY} if is_shopify else {})
    found: list[str] = []
    for name in plain:
        target = known.get(name, NOT_IMPORTED)
        found.append(NOT_IMPORTED if target in found else target)
    return found


def _names(attributes: Mapping[str, str]) -> dict[str, str]:
    by_name = {name.casefold(): f"{ATTRIBUTE}{id}" for id, name in attributes.items()}
    by_id = {f"{ATTRIBUTE}{id}".casefold(): f"{ATTRIBUTE}{id}" for id in attributes}
    own = {name.casefold(): target for target, label in FIELDS.items() for name in (target, label)}
    return by_name | by_id | own


def check_columns(columns: Sequence[str], attributes: Mapping[str, str]) -> None:
    """Check what the columns of a table are about. Raises Invalid with every problem."""
    if problems := list(_problems(columns, attributes)):
        raise Invalid(problems)


def _problems(columns: Sequence[str], attributes: Mapping[str, str]) -> Iterator[Problem]:
    known = {target.id: target.label for target in targets(attributes)}
    first: dict[str, int] = {}
    for place, target in enumerate(columns):
        at = f"#/columns/{place}"
        if target and target not in known:
            yield Problem("unknown_target", "Unknown product field.", at)
        elif target in first:
            yield Problem("twice", f"Column {first[target] + 1} is {known[target]} already.", at)
        elif target:
            first[target] = place
    yield from (Problem("missing_column", message, "#/columns") for message in _missing(first))


def _missing(chosen: Mapping[str, int]) -> Iterator[str]:
    if HANDLE not in chosen and "sku" not in chosen:
        yield "Choose a column for the SKU, which identifies products."
    if len(chosen) == 1:
        yield "Choose at least one more column to import."
    if "level" not in chosen and any(target.startswith(ATTRIBUTE) for target in chosen):
        yield "Attribute columns need a column for the level."
