"""A bundle of a made-up shop of any size, for what must be measured without other data."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from pathlib import Path

DEPARTMENTS = ("Camping", "Kitchen", "Garden", "Office", "Bath")
KINDS = ("Chairs", "Lamps", "Tables", "Boxes", "Blankets", "Bottles", "Tools", "Shelves")
MAKERS = tuple(f"{first}{last}" for first in ("North", "Fell", "Moor", "Wood", "Stone") for last in ("field", "gate"))
COLOURS = ("Moss", "Clay", "Sand", "Slate", "Ivory", "Rust", "Sky", "Plum")
SIZES = ("Small", "Medium", "Large", "Extra large")
MATERIALS = ("Steel", "Oak", "Linen", "Wool", "Glass", "Cork")
TRAITS = ("light", "folding", "sturdy", "quiet", "simple", "classic", "warm", "stacking", "travel", "family")
TAXONOMY = "things"
FACETS = ("manufacturer", "colour", "size", "material", "price")


def write_bundle(folder: Path, host: str, products: int) -> Path:
    folder.mkdir()
    levels = [_level(top) for top in range(len(DEPARTMENTS))]
    taxonomy = {"id": TAXONOMY, "name": "Things", "active": True, "rootLevels": levels}
    documents = {
        "site.json": {"name": "A made-up shop", "domains": [{"host": host, "primary": True}]},
        "taxonomy.json": {"taxonomies": [taxonomy]},
        "merchandising.json": {"trees": [_tree()]},
    }
    for name, document in documents.items():
        (folder / name).write_text(json.dumps(document))
    with (folder / "products.jsonl").open("w") as lines:
        lines.writelines(f"{json.dumps(product)}\n" for product in _products(products))
    return folder


def categories() -> list[str]:
    return [f"/c/{top.lower()}/{kind.lower()}" for top, kind in itertools.product(DEPARTMENTS, KINDS)]


def pages(seed: int) -> Iterator[str]:
    """Pages with facets, as shoppers ask for them: categories, filtered ones, and searches of two words."""
    chance, paths = random.Random(seed), categories()
    while True:
        yield chance.choice(paths)
        yield f"{chance.choice(paths)}?colour={chance.choice(COLOURS)}&size={chance.choice(SIZES[:3])}"
        yield f"/search?q={chance.choice(TRAITS)}+{chance.choice(KINDS).lower()}"


def _level(top: int) -> dict[str, object]:
    attributes = [
        {"attributeId": "colour", "name": "Colour", "type": "MULTI_SELECT", "allowedValues": COLOURS},
        {"attributeId": "size", "name": "Size", "type": "SINGLE_SELECT", "allowedValues": SIZES},
        {"attributeId": "material", "name": "Material", "type": "SINGLE_SELECT", "allowedValues": MATERIALS},
    ]
    kinds = [{"levelId": f"l{top}-{number}", "name": kind, "children": []} for number, kind in enumerate(KINDS)]
    return {"levelId": f"l{top}", "name": DEPARTMENTS[top], "attributes": attributes, "children": kinds}


def _tree() -> dict[str, object]:
    nodes = [
        {
            "name": name,
            "children": [
                {"name": kind, "source": {"levels": [f"l{top}-{number}"]}, "children": []}
                for number, kind in enumerate(KINDS)
            ],
        }
        for top, name in enumerate(DEPARTMENTS)
    ]
    facets = [{"facetId": facet, "display": "range" if facet == "price" else "list"} for facet in FACETS]
    return {"name": "Shop", "primary": True, "facets": facets, "nodes": nodes}


def _products(count: int) -> Iterator[dict[str, object]]:
    chance = random.Random(7)
    for number in range(count):
        top, kind = chance.randrange(len(DEPARTMENTS)), chance.randrange(len(KINDS))
        colours, words = chance.sample(COLOURS, 2), chance.sample(TRAITS, 3)
        material, maker = chance.choice(MATERIALS), chance.choice(MAKERS)
        name = f"{words[0].title()} {words[1]} {KINDS[kind].lower()} {number}"
        yield {
            "sku": f"S-{number}",
            "name": name,
            "manufacturer": maker,
            "description": f"{name} of {material.lower()} by {maker}, {words[2]}, for {DEPARTMENTS[top].lower()}. " * 4,
            "price": chance.randrange(500, 50_000),
            "stock": chance.randrange(50),
            "taxonomy": {
                "levelId": f"l{top}-{kind}",
                "attributes": {"colour": colours, "size": chance.choice(SIZES), "material": material},
            },
        }
