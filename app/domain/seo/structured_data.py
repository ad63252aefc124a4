"""Structured data of pages by schema.org, as JSON-LD: what the shop writes, and what its consumers require. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from app.domain.shared.money import decimal_text

Data = dict[str, Any]
CONTEXT = "https://schema.org"
REQUIRED: Mapping[str, tuple[str, ...]] = {
    "Product": ("name", "offers"),
    "Offer": ("price", "priceCurrency", "availability", "url"),
    "Brand": ("name",),
    "BreadcrumbList": ("itemListElement",),
    "CollectionPage": ("name", "url", "mainEntity"),
    "ItemList": ("itemListElement",),
    "ListItem": ("position",),
}
ADDRESSES = ("url", "item", "image")


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a breadcrumb trail; `url` is absolute."""

    name: str
    url: str


@dataclass(frozen=True, slots=True)
class OfferedProduct:
    """A product in structured data. `price` in minor units of `currency`; addresses absolute."""

    name: str
    url: str
    price: int
    currency: str
    in_stock: bool
    sku: str
    brand: str = ""
    gtin: str = ""
    description: str = ""
    images: Sequence[str] = ()


def breadcrumbs(steps: Sequence[Step]) -> Data:
    """Return a BreadcrumbList, the way from the front page to where the page stands."""
    items = [
        {"@type": "ListItem", "position": position, "name": step.name, "item": step.url}
        for position, step in enumerate(steps, 1)
    ]
    return {"@context": CONTEXT, "@type": "BreadcrumbList", "itemListElement": items}


def collection_page(name: str, url: str, description: str, item_urls: Sequence[str]) -> Data:
    """Return a CollectionPage with the ItemList of its products, by their addresses only."""
    items = [{"@type": "ListItem", "position": n, "url": item} for n, item in enumerate(item_urls, 1)]
    return {
        "@context": CONTEXT,
        "@type": "CollectionPage",
        "name": name,
        "url": url,
        **({"description": description} if description else {}),
        "mainEntity": {"@type": "ItemList", "numberOfItems": len(items), "itemListElement": items},
    }


def product(offered: OfferedProduct) -> Data:
    """Return a Product with its Offer."""
    optional: Mapping[str, Any] = {
        "description": offered.description,
        "image": list(offered.images),
        "brand": {"@type": "Brand", "name": offered.brand} if offered.brand else None,
        "gtin": offered.gtin,
    }
    return {
        "@context": CONTEXT,
        "@type": "Product",
        "name": offered.name,
        "url": offered.url,
        "sku": offered.sku,
        **{name: value for name, value in optional.items() if value},
        "offers": {
            "@type": "Offer",
            "url": offered.url,
            "price": decimal_text(offered.price, offered.currency),
            "priceCurrency": offered.currency.upper(),
            "availability": f"{CONTEXT}/{'InStock' if offered.in_stock else 'OutOfStock'}",
        },
    }


def json_ld(data: Data) -> str:
    """Write structured data for a script element: nothing in it can end the element."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c").replace(">", "\\u003e")


def data_problems(text: str) -> list[str]:
    """Return what is wrong with a JSON-LD script, each as a sentence."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        return [f"It is not JSON: {error}."]
    things = data if isinstance(data, list) else [data]
    if not all(isinstance(thing, dict) for thing in things):
        return ["It is neither an object nor a list of objects."]
    try:
        return [problem for thing in things for problem in (*_context_problems(thing), *_thing_problems(thing, ""))]
    except RecursionError:
        return ["Its parts are nested too deeply."]


def type_of_script(text: str) -> str:
    """Return the type that a script names, for a heading; empty where it names none."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    return str(data.get("@type", "")) if isinstance(data, dict) else ""


def indent_json(text: str) -> str:
    """Return JSON with its parts on lines of their own; other text as it is."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return text


def _context_problems(thing: Mapping[str, Any]) -> Iterator[str]:
    if str(thing.get("@context", "")).rstrip("/") not in ("https://schema.org", "http://schema.org"):
        yield "@context is not https://schema.org."


def _thing_problems(thing: Mapping[str, Any], place: str) -> Iterator[str]:
    kind = thing.get("@type")
    name = place or str(kind or "The object")
    if not isinstance(kind, str) or not kind:
        yield f"{name} has no @type."
        return
    for field in REQUIRED.get(kind, ()):
        if thing.get(field) in (None, "", {}):
            yield f"{name} has no {field}."
    if kind in CHECKS:
        yield from CHECKS[kind](thing, name)
    for field, value in thing.items():
        yield from _address_problems(field, value, name)
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict):
                yield from _thing_problems(part, f"{name} › {field}")


def _offer_problems(thing: Mapping[str, Any], name: str) -> Iterator[str]:
    price, currency = str(thing.get("price", "")), str(thing.get("priceCurrency", ""))
    if price and not price.replace(".", "", 1).isdigit():
        yield f"{name}: price “{price}” is not a decimal number."
    if currency and not (len(currency) == 3 and currency.isalpha() and currency.isupper()):
        yield f"{name}: priceCurrency “{currency}” is not three capital letters."
    if not str(thing.get("availability", "https://schema.org/")).startswith(
        ("https://schema.org/", "http://schema.org/")
    ):
        yield f"{name}: availability is not a term of schema.org."


def _list_problems(thing: Mapping[str, Any], name: str) -> Iterator[str]:
    items = thing.get("itemListElement")
    if not isinstance(items, list):
        yield f"{name}: itemListElement is not a list."
        return
    positions = [item.get("position") for item in items if isinstance(item, dict)]
    if positions != list(range(1, len(items) + 1)):
        yield f"{name}: the positions do not count from 1."


def _trail_problems(thing: Mapping[str, Any], name: str) -> Iterator[str]:
    yield from _list_problems(thing, name)
    items = thing.get("itemListElement")
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict) and not item.get("name"):
            yield f"{name}: a step has no name."


def _address_problems(field: str, value: Any, name: str) -> Iterator[str]:
    if field not in ADDRESSES:
        return
    for address in value if isinstance(value, list) else [value]:
        if isinstance(address, str) and not _is_absolute(address):
            yield f"{name}: {field} “{address[:100]}” is not an absolute address."


def _is_absolute(address: str) -> bool:
    try:
        return urlsplit(address).scheme in ("http", "https")
    except ValueError:
        return False


CHECKS: Mapping[str, Callable[[Mapping[str, Any], str], Iterator[str]]] = {
    "Offer": _offer_problems,
    "ItemList": _list_problems,
    "BreadcrumbList": _trail_problems,
}
