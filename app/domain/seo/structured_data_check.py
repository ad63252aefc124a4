"""Check that structured data has what consumers of schema.org require. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

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
        return [problem for thing in things for problem in (*_context_problems(thing), *_problems(thing, ""))]
    except RecursionError:
        return ["Its parts are nested too deeply."]


def types_of(text: str) -> str:
    """Return the type that a script names, for a heading; empty where it names none."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    return str(data.get("@type", "")) if isinstance(data, dict) else ""


def pretty(text: str) -> str:
    """Return JSON with its parts on lines of their own; other text as it is."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return text


def _context_problems(thing: Mapping[str, Any]) -> Iterator[str]:
    if str(thing.get("@context", "")).rstrip("/") not in ("https://schema.org", "http://schema.org"):
        yield "@context is not https://schema.org."


def _problems(thing: Mapping[str, Any], place: str) -> Iterator[str]:
    kind = thing.get("@type")
    name = place or str(kind or "The object")
    if not isinstance(kind, str) or not kind:
        yield f"{name} has no @type."
        return
    for field in REQUIRED.get(kind, ()):
        if thing.get(field) in (None, "", {}):
            yield f"{name} has no {field}."
    yield from _CHECKS.get(kind, _nothing)(thing, name)
    for field, value in thing.items():
        yield from _address_problems(field, value, name)
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict):
                yield from _problems(part, f"{name} › {field}")


def _nothing(_thing: Mapping[str, Any], _name: str) -> Iterator[str]:
    return iter(())


def _offer(thing: Mapping[str, Any], name: str) -> Iterator[str]:
    price, currency = str(thing.get("price", "")), str(thing.get("priceCurrency", ""))
    if price and not price.replace(".", "", 1).isdigit():
        yield f"{name}: price “{price}” is not a decimal number."
    if currency and not (len(currency) == 3 and currency.isalpha() and currency.isupper()):
        yield f"{name}: priceCurrency “{currency}” is not three capital letters."
    if not str(thing.get("availability", "https://schema.org/")).startswith(
        ("https://schema.org/", "http://schema.org/")
    ):
        yield f"{name}: availability is not a term of schema.org."


def _list(thing: Mapping[str, Any], name: str) -> Iterator[str]:
    items = thing.get("itemListElement")
    if not isinstance(items, list):
        yield f"{name}: itemListElement is not a list."
        return
    positions = [item.get("position") for item in items if isinstance(item, dict)]
    if positions != list(range(1, len(items) + 1)):
        yield f"{name}: the positions do not count from 1."


def _trail(thing: Mapping[str, Any], name: str) -> Iterator[str]:
    yield from _list(thing, name)
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


_CHECKS: Mapping[str, Callable[[Mapping[str, Any], str], Iterator[str]]] = {
    "Offer": _offer,
    "ItemList": _list,
    "BreadcrumbList": _trail,
}
