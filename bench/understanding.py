"""How well searches are understood: a thousand that are made from products, with known answers, the time for one, and
the NDCG of rated queries with understanding on beside off. `--queries` prints every real query that it changes, and
how."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from dataclasses import replace

from app.adapters.whoosh import WhooshEngine
from app.domain.relevance.judgements.measures import mean
from app.domain.search.engine import IndexDocument, SearchRequest
from app.domain.search.serving.plan import Plan
from app.domain.search.serving.query import UnderstoodSearch, search_understood
from app.domain.search.understanding.facts import QueryReader
from app.domain.search.understanding.parts import PartKind
from bench.catalogue import document, levels_of, queries
from bench.generated_searches import CURRENCY, CountedShop, SearchMaker, attributes_of, score
from bench.judging import difference, halves, judge
from bench.measuring import (
    PRODUCTS,
    QUERIES,
    SITE,
    Yardstick,
    at_least,
    at_most,
    build,
    heading,
    median,
    milliseconds,
    run,
    workspace,
)
from tests.surroundings import real_bundle

SEARCHES = 1_000
SHOWN = ("manufacturer", "price", "inStock", "onSale")
GOALS = {
    "precision": Yardstick("own goal", 0.98, ""),
    "recall": Yardstick("own goal", 0.85, ""),
    "time": Yardstick("own goal", 0.3, "ms"),
}


def main() -> None:
    shop = CountedShop(real_bundle("icecat-3"))
    reader = QueryReader.of(SITE, shop.tree, CURRENCY, SHOWN)
    heading(f"Understanding, {SEARCHES:,} searches made from products")
    made = SearchMaker(shop).make(SEARCHES)
    result = score([(one, reader.understand(shop, one.words).parts) for one in made])
    at_least("precision of the filters", result.precision, GOALS["precision"])
    at_least("recall of what is said", result.recall, GOALS["recall"])
    real = queries()
    times = milliseconds(lambda words: reader.understand(shop, words), [one.words for one in made] + real)
    at_most("understanding one search, median", median(times), GOALS["time"])
    with workspace() as directory:
        engine = WhooshEngine(directory / "shop")
        build(engine, _documents())
        _compare(engine, QueryReader.of(SITE, shop.tree, CURRENCY, SHOWN), real)


def _documents() -> Iterator[IndexDocument]:
    """The products with the levels of the taxonomy that is read, and yes and no as values, as the shop indexes them."""
    bundle = real_bundle("icecat-3")
    with gzip.open(bundle / "products.jsonl.gz", "rt") as lines:
        for line in lines:
            product = json.loads(line)
            made = document(product, levels_of(bundle))
            given = attributes_of(product)
            flags = {name: ("true" if value else "false",) for name, value in given.items() if isinstance(value, bool)}
            numbers = {name: number for name, number in made.numbers.items() if name not in flags}
            yield replace(made, values={**made.values, **flags}, numbers=numbers)


def _compare(engine: WhooshEngine, reader: QueryReader, real: list[str]) -> None:
    def plain(words: str, count: int) -> list[str]:
        request = SearchRequest(words=words, per_page=count)
        return [hit.id for hit in engine.search(SITE, PRODUCTS, request).hits]

    def understood(words: str, count: int) -> list[str]:
        request = SearchRequest(words=words, per_page=count)
        search = UnderstoodSearch(request, Plan(words=words), reader.understand(engine, words))
        return [hit.id for hit in search_understood(engine, SITE, [search])[0].answer.result.hits]

    off, on = judge(plain), judge(understood)
    chosen_on, _ = halves()
    for name, judged in (("off", off), ("on", on)):
        half = mean([one.ndcg for one in judged if one.query in chosen_on])
        print(
            f"     understanding {name:<4} NDCG@10 {mean([one.ndcg for one in judged]):.3f}, half chosen on {half:.3f}"
        )
    print(f"     on leads by {difference(on, off)}")
    at_least(
        "NDCG@10 of rated queries, on",
        mean([one.ndcg for one in on]),
        Yardstick("off", mean([o.ndcg for o in off]), ""),
    )
    if QUERIES in os.environ:
        for words in real:
            _print_query(reader, engine, words)


def _print_query(reader: QueryReader, engine: WhooshEngine, words: str) -> None:
    found = reader.understand(engine, words)
    if found.parts:
        filters = "; ".join(f"{part.label}: {part.shown}" for part in found.parts if part.kind is not PartKind.LEVEL)
        levels = [part.shown for part in found.parts if part.kind is PartKind.LEVEL]
        print(f"       {words} -> “{found.searched}” {filters}{f' ({levels[0]})' if levels else ''}")


if __name__ == "__main__":
    run(main)
