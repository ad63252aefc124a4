"""How well the first ten products answer: rated queries as typed and with one slip, names of levels, and what finds
nothing, for the shop and its rivals with their defaults.

Settings are chosen on one half of the rated queries, see README; both halves are printed. `--queries` prints each query
with what was found, the worst first.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from app.adapters.sentence_model import installed_model
from app.adapters.whoosh import WhooshEngine
from app.domain.search.engine import IndexDocument, SearchRequest
from app.domain.search.ranking.scoring import phrases
from bench.catalogue import documents, queries
from bench.judging import DEPTH, SEED, Judgement, Search, difference, halves, judge, mean, ndcg, rated_queries
from bench.measuring import PRODUCTS, QUERIES, SITE, Yardstick, at_least, at_most, build, heading, run, workspace
from bench.rivals import Tantivy, WhooshDefaults

SLIPS = 5  # Of each query.
PATIENCE = 60  # Seconds for which a search waits for the vector of its words: none may be late here.
# The same on every machine, so that these need no yardstick of the run.
GOALS = {
    "typed": Yardstick("own goal", 0.89, ""),
    "slip": Yardstick("own goal", 0.87, ""),
    "names": Yardstick("own goal", 0.97, ""),
    "nothing": Yardstick("own goal", 0.10, ""),
    "lead": Yardstick("no lead", 0, ""),
}
SHORTEST_WITH_SLIP = 5
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def main() -> None:
    made = list(documents())
    with workspace() as directory:
        engines = _engines(directory, made)
        heading(f"Relevance, {len(rated_queries()):,} rated queries, {len(queries()):,} real ones")
        judged = {name: judge(search) for name, search in engines.items()}
        for line in _table(engines, judged):
            print(f"     {line}")
        _report(engines["shop"], judged, made)
        if QUERIES in os.environ:
            _print_queries(judged, {document.id: document for document in made})


def _engines(directory: Path, made: Sequence[IndexDocument]) -> dict[str, Search]:
    engine, whoosh = WhooshEngine(directory / "shop"), WhooshDefaults(directory / "whoosh")
    build(engine, made)
    whoosh.fill(made)
    tantivy = Tantivy(directory / "tantivy", made)
    engines: dict[str, Search] = {"shop": partial(shop_ids, engine)}
    if (with_meaning := _with_meaning(directory, made)) is not None:
        engines["meaning"] = partial(shop_ids, with_meaning, by_meaning=True)
    return engines | {"tantivy": tantivy.best_ids, "whoosh": whoosh.ids}


def _with_meaning(directory: Path, made: Sequence[IndexDocument]) -> WhooshEngine | None:
    """Return the shop's engine with the sentence model, where one is installed."""
    folder = os.environ.get("EMBEDDING_MODEL_DIR")
    model = installed_model(Path(folder) if folder else None)
    if model is None:
        return None
    engine = WhooshEngine(directory / "meaning", model, wait=PATIENCE)
    build(engine, made)
    return engine


def shop_ids(engine: WhooshEngine, words: str, count: int, by_meaning: bool = False) -> list[str]:
    request = SearchRequest(words=words, per_page=count, by_meaning=by_meaning)
    return [hit.id for hit in engine.search(SITE, PRODUCTS, request).hits]


def _table(engines: Mapping[str, Search], judged: Mapping[str, Sequence[Judgement]]) -> Iterator[str]:
    chosen_on, aside = halves()
    columns = ("NDCG@10", "chosen on", "aside", "condensed", "unrated", "slip", "nothing", "the shop leads by")
    yield " " * 8 + "".join(f"{column:>10}" for column in columns[:-1]) + f"   {columns[-1]}"
    for name, judgements in judged.items():
        figures = [
            mean([judgement.ndcg for judgement in judgements]),
            *(mean([j.ndcg for j in judgements if j.query in half]) for half in (chosen_on, aside)),
            mean([judgement.condensed for judgement in judgements]),
            mean([judgement.unrated for judgement in judgements]),
            mean_with_slips(engines[name]),
            found_nothing(engines[name]),
        ]
        lead = "" if name == "shop" else str(difference(judged["shop"], judgements))
        yield f"{name:<8}" + "".join(f"{figure:>10.3f}" for figure in figures) + f"   {lead}"


def _report(shop: Search, judged: Mapping[str, Sequence[Judgement]], made: Sequence[IndexDocument]) -> None:
    at_least("NDCG@10 as typed", mean([judgement.ndcg for judgement in judged["shop"]]), GOALS["typed"])
    lead = difference(judged["shop"], judged["tantivy"])
    at_least("lead over tantivy in NDCG@10, low end of 95 %", lead.low, GOALS["lead"])
    at_least("NDCG@10 with one slip", mean_with_slips(shop), GOALS["slip"])
    at_least("first ten for a name of a level that are of the level", by_level_names(shop, made), GOALS["names"])
    at_most("share of real queries that find nothing", found_nothing(shop), GOALS["nothing"])


def by_level_names(search: Search, made: Sequence[IndexDocument]) -> float:
    """Return how many of the first ten are of the level, where the words are one of its names: the products of each
    level answer its names, so this needs no ratings."""
    levels: dict[str, set[str]] = {}
    for document in made:
        for phrase in phrases(document.kind_names):
            levels.setdefault(" ".join(phrase), set()).add(document.id)
    shares = []
    for name, products in levels.items():
        first = search(name, min(DEPTH, len(products)))
        shares.append(len(products.intersection(first)) / min(DEPTH, len(products)))
    return mean(shares)


def mean_with_slips(search: Search) -> float:
    chance = random.Random(SEED)
    slipped = [(with_slip(query, chance), grades) for _ in range(SLIPS) for query, grades in rated_queries().items()]
    return mean([ndcg(search(query, DEPTH), grades) for query, grades in slipped])


def with_slip(query: str, chance: random.Random) -> str:
    """One random edit in the longest word; short words stay."""
    words = query.split()
    longest = max(range(len(words)), key=lambda place: len(words[place]))
    word = words[longest]
    if len(word) < SHORTEST_WITH_SLIP:
        return query
    place = chance.randrange(len(word) - 1)
    words[longest] = chance.choice(
        (
            word[:place] + word[place + 1 :],
            word[:place] + chance.choice(_LETTERS) + word[place:],
            word[:place] + chance.choice(_LETTERS) + word[place + 1 :],
            word[:place] + word[place + 1] + word[place] + word[place + 2 :],
        )
    )
    return " ".join(words)


def found_nothing(search: Search) -> float:
    request = queries()
    return sum(not search(query, 1) for query in request) / len(request)


def _print_queries(judged: Mapping[str, Sequence[Judgement]], by_id: Mapping[str, IndexDocument]) -> None:
    chosen_on, _ = halves()
    rivals = {judgement.query: judgement.ndcg for judgement in judged["tantivy"]}
    for judgement in sorted(judged["shop"], key=lambda judgement: judgement.ndcg):
        half = "chosen on" if judgement.query in chosen_on else "kept aside"
        print(f"\n{judgement.ndcg:.3f} {judgement.query} ({half}; tantivy {rivals[judgement.query]:.3f})")
        grades = rated_queries()[judgement.query]
        for id in judgement.found:
            document = by_id[id]
            print(f"      {grades.get(id, '-')}  {document.name[:80]} | {document.kind}")


if __name__ == "__main__":
    run(main)
