"""Reads the demo shop's price lists (catalogue/*.txt) and makes a bundle's products of them.

What a list does not say (stock, rating, date, barcode) comes from the SKU, so that the shop is the same each time.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

LISTS = Path(__file__).parent / "catalogue"
FILES = ("outdoor.txt", "clothing.txt", "home.txt")
NEWEST = datetime(2026, 10, 30, 9, 0, tzinfo=UTC)
OLDEST_DAYS = 900
FITS_IN_NAMES = {"Men's": "Men’s", "Women's": "Women’s"}
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?", re.ASCII)
PRICE = re.compile(r"(?P<price>[0-9.]+)(?: was (?P<was>[0-9.]+))?(?: stock (?P<stock>[0-9]+))?")
EXTRA = re.compile(r"(?P<value>.*?)(?: \((?P<extra>[+-][0-9.]+)\))?")
ORIGINS = ("Cumbria", "Yorkshire", "Portugal", "Scotland", "Cornwall", "Wales", "Italy", "Sheffield")
CARE = {
    "Merino": "Hand wash",
    "Wool": "Hand wash",
    "Leather": "Wipe clean",
    "Waxed cotton": "Wax yearly",
    "Down": "Wash at 30 °C",
}
PROMISES = (
    "Free returns within sixty days, worn once or not at all.",
    "Spare parts are kept for ten years; ask and we post them.",
    "Sent in card and paper, which can go straight on the compost.",
    "If it breaks, our repair bench would like to see it first.",
    "Seen, used and liked by at least two people who work here.",
    "Made in small runs, so now and then we sell out for a few weeks.",
)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a price list."""

    level_id: str
    sku: str
    name: str
    manufacturer: str
    price: str
    attributes: str
    variants: str
    text: str


def demo_products() -> Iterator[dict[str, Any]]:
    for file in FILES:
        for line in _lines((LISTS / file).read_text(encoding="utf-8")):
            yield _product(line)


def _lines(text: str) -> Iterator[Line]:
    level_id = code = ""
    number = 0
    for row in text.splitlines():
        if row.startswith("= "):
            level_id, code = row[2:].split()
            number = 0
        elif row and not row.startswith("#"):
            number += 1
            yield Line(level_id, f"{code}-{number:02}", *(part.strip() for part in row.split(" | ")))


def _product(line: Line) -> dict[str, Any]:
    words, _, terms = line.text.partition(" ~ ")
    attributes = _attributes(line)
    found = PRICE.match(line.price)
    if found is None:
        raise ValueError(f"{line.sku} has no price.")
    price = _pence(found["price"])
    product: dict[str, Any] = {
        "sku": line.sku,
        "name": _name(line, attributes),
        "manufacturer": line.manufacturer,
        "description": _description(line, words),
        "price": price,
        "compareAtPrice": _pence(found["was"]) if found["was"] else None,
        "upc": _barcode(line.sku),
        "stock": _stock(line, found["stock"]),
        "enabled": not line.price.endswith(" off"),
        "featured": "featured" in line.price,
        "rating": _rating(line.sku),
        "searchTerms": [term.strip() for term in terms.split(",") if term.strip()],
        "createdAt": _added(line.sku).isoformat().replace("+00:00", "Z"),
        "taxonomy": {"levelId": line.level_id, "attributes": attributes},
    }
    if line.variants != "-":
        product["variants"] = _variants(line, price)
    return product


def _name(line: Line, attributes: dict[str, Any]) -> str:
    fit = FITS_IN_NAMES.get(attributes.get("fit", ""))
    return f"{line.name}, {fit.lower()}" if fit else line.name


def _description(line: Line, words: str) -> str:
    return f"<p>{words.strip()}</p><p>{PROMISES[_chance(line.sku, 'promise', len(PROMISES))]}</p>"


def _attributes(line: Line) -> dict[str, Any]:
    """Values as the list has them; every few products lack one that a list does not know, so that some are less
    complete than others."""
    found: dict[str, Any] = {}
    for pair in line.attributes.split(";"):
        name, _, value = pair.strip().partition("=")
        found[name] = _value(value)
    for name in ("colour", "power-source", "suited-to"):
        if isinstance(found.get(name), str):
            found[name] = [found[name]]
    if line.level_id.startswith("clothing") and (care := CARE.get(str(found.get("fabric")))):
        found["care"] = care
    if not line.level_id.startswith("clothing") and _chance(line.sku, "origin", 3):
        found["made-in"] = ORIGINS[_chance(line.manufacturer, "origin", len(ORIGINS))]
    return found


def _value(text: str) -> str | float | bool | list[str]:
    if text in ("yes", "no"):
        return text == "yes"
    if NUMBER.fullmatch(text):
        return float(text)
    return text.split("+") if "+" in text else text


def _variants(line: Line, price: int) -> list[dict[str, Any]]:
    """Every combination of the options, in their order."""
    options = [_options(part) for part in line.variants.split(" / ")]
    variants = []
    for place, combination in enumerate(itertools.product(*options), start=1):
        sku = f"{line.sku}-{place:02}"
        extra = sum(extra for _, _, extra in combination)
        variant: dict[str, Any] = {
            "sku": sku,
            "upc": _barcode(sku),
            "stock": None if "uncounted" in line.price else max(0, _chance(sku, "stock", 16) - 1),
            "options": {name: value for name, value, _ in combination},
        }
        if extra:
            variant["price"] = price + extra
        variants.append(variant)
    return variants


def _options(text: str) -> Sequence[tuple[str, str, int]]:
    """Name, value and what the value costs more: "Size: S, M (+5)"."""
    name, _, values = text.partition(": ")
    found = []
    for part in values.split(", "):
        match = EXTRA.fullmatch(part.strip())
        if match is None:
            raise ValueError(f"“{part}” is not an option.")
        found.append((name.strip(), match["value"], round(float(match["extra"] or 0) * 100)))
    return found


def _pence(text: str) -> int:
    return round(float(text) * 100)


def _stock(line: Line, said: str | None) -> int | None:
    if "uncounted" in line.price:
        return None
    return int(said) if said else 5 + _chance(line.sku, "stock", 60)


def _rating(sku: str) -> float | None:
    """Some have not been rated yet."""
    return None if _chance(sku, "rated", 6) == 0 else round(3.4 + _chance(sku, "rating", 17) / 10, 1)


def _added(sku: str) -> datetime:
    return NEWEST - timedelta(days=_chance(sku, "added", OLDEST_DAYS), minutes=_chance(sku, "minutes", 600))


def _barcode(sku: str) -> str:
    """An EAN-13 of the range that shops use among themselves."""
    digits = f"29{_chance(sku, 'barcode', 10**10):010}"
    odd, even = (sum(int(digit) for digit in digits[start::2]) for start in (0, 1))
    return f"{digits}{-(odd + 3 * even) % 10}"


def _chance(seed: str, purpose: str, below: int) -> int:
    """The same number each time for the same seed and purpose."""
    digest = hashlib.sha256(f"{seed} {purpose}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % below
