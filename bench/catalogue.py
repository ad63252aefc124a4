"""Documents for the benchmarks, made from a site bundle as the shop makes them from its tables."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path

from app.domain.search.engine import IndexDocument
from tests.surroundings import real_bundle, relevance_data

# Ten facets that a search page of an electronics shop counts; the colours have several values.
FACETS = (
    "manufacturer", "level", "product-colour", "type", "print-technology",
    "printing-colours", "connector-1", "cable-colour", "material", "processor-family",
)  # fmt: skip
MULTI_VALUED_FACETS = (
    "product-colour", "printing-colours", "material", "cable-colour", "certification",
    "wi-fi-standards", "protection-features", "audio-formats-supported", "supported-radio-bands", "raid-levels",
)  # fmt: skip


@cache
def levels_of(bundle: Path) -> Mapping[str, tuple[str, tuple[str, ...]]]:
    """(name, ids from the root down) of each level."""
    found: dict[str, tuple[str, tuple[str, ...]]] = {}

    def walk(levels: list[dict[str, object]], above: tuple[str, ...]) -> None:
        for level in levels:
            path = (*above, str(level["levelId"]))
            found[path[-1]] = (str(level["name"]), path)
            walk(level["children"], path)  # type: ignore[arg-type]

    for taxonomy in json.loads((bundle / "taxonomy.json").read_text())["taxonomies"]:
        walk(taxonomy["rootLevels"], ())
    return found


def icecat() -> Path:
    return real_bundle("icecat-3")


def coarser_icecat() -> Path:
    """The same products in fewer levels, many of them in a wrong one."""
    return real_bundle("icecat-2")


def documents(bundle: Path | None = None) -> Iterator[IndexDocument]:
    """The documents of a bundle, of Icecat's without one."""
    bundle = bundle or icecat()
    with gzip.open(bundle / "products.jsonl.gz", "rt") as lines:
        for line in lines:
            yield document(json.loads(line), levels_of(bundle))


def document(product: dict[str, object], levels: Mapping[str, tuple[str, tuple[str, ...]]]) -> IndexDocument:
    sku, name = str(product["sku"]), str(product["name"])
    taxonomy: dict[str, object] = product.get("taxonomy") or {}  # type: ignore[assignment]
    attributes: dict[str, object] = taxonomy.get("attributes") or {}  # type: ignore[assignment]
    kind, path = levels.get(str(taxonomy.get("levelId", "")), ("", ()))
    values = {key: _values(value) for key, value in attributes.items() if not isinstance(value, (int, float))}
    numbers = {key: float(value) for key, value in attributes.items() if isinstance(value, (int, float))}
    manufacturer = str(product.get("manufacturer", ""))
    return IndexDocument(
        id=sku,
        name=name,
        terms=tuple(product.get("searchTerms", ())),  # type: ignore[arg-type]
        manufacturer=manufacturer,
        kind=kind,
        kind_names=(kind,) if kind else (),
        description=str(product.get("description", "")),
        attributes=" ".join(value for entry in values.values() for value in entry),
        codes=tuple(str(code) for code in (sku, product.get("upc")) if code),
        values={**values, **_built_in_values(product, manufacturer, path)},
        numbers={**numbers, "price": float(str(product["price"])), "createdAt": _seconds(product)},
        card=_card(product, kind),
        digest=sku,
    )


def _built_in_values(
    product: dict[str, object], manufacturer: str, path: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    in_stock = ("true",) if product.get("stock") else ()
    on_sale = ("true",) if product.get("compareAtPrice") else ()
    values = {"manufacturer": (manufacturer,), "level": path, "category": path, "sku": (str(product["sku"]),)}
    return {name: value for name, value in {**values, "inStock": in_stock, "onSale": on_sale}.items() if value}


def _card(product: dict[str, object], kind: str) -> dict[str, object]:
    plain = ("sku", "name", "manufacturer", "price", "compareAtPrice", "stock", "rating")
    return {**{name: product.get(name) for name in plain}, "seoName": product["sku"], "kind": kind, "image": None}


def _values(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else (str(value),)


def _seconds(product: Mapping[str, object]) -> float:
    created = product.get("createdAt")
    return datetime.fromisoformat(str(created)).timestamp() if created else 0.0


def many(count: int) -> Iterator[IndexDocument]:
    """`count` products: those of the bundle, over and over, with ids, codes and prices of their own."""
    originals = list(documents())
    for place in range(count):
        copy, original = divmod(place, len(originals))
        yield copied(originals[original], copy)


def copied(original: IndexDocument, copy: int) -> IndexDocument:
    if not copy:
        return original
    return replace(
        original,
        id=f"{original.id}-{copy}",
        codes=tuple(f"{code}{copy}" for code in original.codes),
        values={**original.values, "sku": (f"{original.id}-{copy}",)},
        numbers={**original.numbers, "price": original.numbers["price"] + 100 * copy},
        digest=f"{original.digest}-{copy}",
    )


def queries() -> list[str]:
    """What shoppers of an electronics shop typed."""
    with open(relevance_data() / "queries.csv", newline="") as file:
        return [row["query"] for row in csv.DictReader(file)]


def ratings(name: str = "completed") -> dict[str, dict[str, int]]:
    """By query, how well each rated product answers it: 0 to 3. The ratings are `completed` or `second`."""
    found: dict[str, dict[str, int]] = {}
    with open(relevance_data() / f"ratings_{name}.csv", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["query"], {})[row["sku"]] = int(row["rating"])
    return found
