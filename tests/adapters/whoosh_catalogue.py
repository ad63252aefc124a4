"""A made-up catalogue of common and rare words, and the generation directory where an engine keeps it."""

from __future__ import annotations

import random
from pathlib import Path

from whoosh import index, searching

from app.adapters.whoosh import WhooshEngine
from app.domain.search.engine import Change, Delete, IndexDocument, IndexName, Upsert

SITE = 1
PRODUCTS = IndexName.PRODUCTS
THINGS = ("tent", "lamp", "mug", "rope", "stove", "kettle", "blanket", "torch", "bottle", "chair")
TRAITS = ("red", "blue", "light", "heavy", "folding", "steel", "camping", "garden", "winter", "xl")
BRANDS = ("Acme", "Bolt", "Crag", "Dune")
COLOURS = ("Red", "Blue", "Green", "Black")


def product(number: int, seed: int = 0) -> IndexDocument:
    chance = random.Random(number * 1000 + seed)
    name = " ".join((*chance.choices(TRAITS, k=chance.randint(1, 4)), chance.choice(THINGS)))
    return IndexDocument(
        id=f"P{number}",
        name=name,
        terms=tuple(chance.sample(TRAITS, chance.randint(0, 2))),
        manufacturer=chance.choice(BRANDS),
        kind=chance.choice(THINGS),
        description=" ".join(chance.choices(THINGS + TRAITS, k=chance.randint(0, 30))),
        attributes=" ".join(chance.choices(TRAITS, k=chance.randint(0, 6))),
        codes=(f"SKU-{number}",),
        values={
            "brand": (chance.choice(BRANDS),),
            "colour": tuple(chance.sample(COLOURS, chance.randint(0, 3))),
            "level": (chance.choice(THINGS),),
        },
        numbers={
            "price": float(chance.randint(1, 50) * 100),
            "createdAt": float(chance.randint(1, 10**9)),
            **({"weight": float(chance.randint(1, 9))} if chance.random() < 0.1 else {}),
        },
        card={"name": name},
        digest=f"{number}.{seed}",
    )


def built(directory: Path, count: int) -> WhooshEngine:
    engine = WhooshEngine(directory)
    generation = engine.start_generation(SITE, PRODUCTS)
    generation.add(product(number) for number in range(count))
    generation.seal()
    with engine.exclusive(SITE, PRODUCTS):
        generation.publish()
    return engine


def apply(engine: WhooshEngine, *changes: Change) -> None:
    with engine.exclusive(SITE, PRODUCTS):
        engine.apply(SITE, PRODUCTS, changes)


def changed_much(directory: Path, count: int) -> WhooshEngine:
    """An index of several segments with deletions in most of them."""
    engine = built(directory, count)
    chance = random.Random(7)
    for batch in range(4):
        numbers = chance.sample(range(count), count // 10)
        apply(engine, *(Upsert(product(number, batch + 1)) for number in numbers[2:]))
        apply(engine, *(Delete(f"P{number}") for number in numbers[:2]))
    return engine


def generation_directory(directory: Path) -> Path:
    return (directory / str(SITE) / PRODUCTS.value / "current").resolve()


def whoosh_searcher(directory: Path, **options: object) -> searching.Searcher:
    """Whoosh's own searcher over the files that our writer made."""
    return index.open_dir(str(generation_directory(directory)), indexname="MAIN").searcher(**options)
