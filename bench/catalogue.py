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

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
ICECAT = DATA / "bundles" / "icecat"

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
def level_names(bundle: Path) -> Mapping[str, tuple[str, ...]]:
    """The names of each level and those above it, the nearest first."""
    names: dict[str, tuple[str, ...]] = {}

    def walk(levels: list[dict[str, object]], above: tuple[str, ...]) -> None:
        for level in levels:
            own = (str(level["name"]), *above)
            names[str(level["levelId"])] = own
            walk(level["children"], own)  # type: ignore[arg-type]

    for taxonomy in json.loads((bundle / "taxonomy.json").read_text())["taxonomies"]:
        walk(taxonomy["rootLevels"], ())
    return names


def documents(bundle: Path = ICECAT) -> Iterator[IndexDocument]:
    with gzip.open(bundle / "products.jsonl.gz", "rt") as lines:
        for line in lines:
            yield document(json.loads(line), level_names(bundle))


def document(product: dict[str, object], levels: Mapping[str, tuple[str, ...]]) -> IndexDocument:
    sku, name = str(product["sku"]), str(product["name"])
    taxonomy: dict[str, object] = product.get("taxonomy") or {}  # type: ignore[assignment]
    attributes: dict[str, object] = taxonomy.get("attributes") or {}  # type: ignore[assignment]
    level = str(taxonomy.get("levelId", ""))
    values = {key: _values(value) for key, value in attributes.items() if not isinstance(value, (int, float))}
    numbers = {key: float(value) for key, value in attributes.items() if isinstance(value, (int, float))}
    manufacturer = str(product.get("manufacturer", ""))
    return IndexDocument(
        id=sku,
        name=name,
        terms=tuple(product.get("searchTerms", ())),  # type: ignore[arg-type]
        manufacturer=manufacturer,
        kind=levels[level][0] if level else "",
        description=str(product.get("description", "")),
        attributes=" ".join(value for entry in values.values() for value in entry),
        codes=tuple(str(code) for code in (sku, product.get("upc")) if code),
        values={**values, "manufacturer": (manufacturer,), "level": (level,)},
        numbers={**numbers, "price": float(str(product["price"])), "createdAt": _seconds(product)},
        card={"sku": sku, "name": name, "price": product["price"], "manufacturer": manufacturer},
        digest=sku,
    )


def _values(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else (str(value),)


def _seconds(product: Mapping[str, object]) -> float:
    created = product.get("createdAt")
    return datetime.fromisoformat(str(created)).timestamp() if created else 0.0


def many(count: int, bundle: Path = ICECAT) -> Iterator[IndexDocument]:
    """`count` products: those of the bundle, over and over, with ids, codes and prices of their own."""
    originals = list(documents(bundle))
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
        numbers={**original.numbers, "price": original.numbers["price"] + 100 * copy},
        digest=f"{original.digest}-{copy}",
    )


def queries() -> list[str]:
    """What shoppers of an electronics shop typed."""
    with open(DATA / "relevance" / "queries.csv", newline="") as file:
        return [row["query"] for row in csv.DictReader(file)]


def ratings() -> dict[str, dict[str, int]]:
    """By query, how well each rated product answers it: 0 to 3."""
    found: dict[str, dict[str, int]] = {}
    with open(DATA / "relevance" / "ratings.csv", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["query"], {})[row["sku"]] = int(row["rating"])
    return found
