"""How well the first ten products answer: rated queries as typed and with one slip, names of levels, and what finds
nothing, for the shop by words and with meaning, and its rivals with their defaults.

Settings are chosen on one half of the queries that are `completed`, see README; both halves are printed. The `second`
are only reported. The same products are searched in two bundles, in finer levels and in coarser ones, since how finely
a shop classifies should not decide how well it is searched. `--queries` prints each query with what was found, the
worst first.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from app.adapters.sentence_model import installed_model
from app.adapters.whoosh import WhooshEngine
from app.domain.relevance.judgements.measures import DEPTH, SEED, mean, ndcg
from app.domain.search.engine import IndexDocument, SearchRequest
from app.domain.search.ranking.scoring import phrases
from bench.catalogue import coarser_icecat, documents, icecat, queries
from bench.judging import COMPLETED, SECOND, Judgement, Search, difference, halves, judge, rated_queries
from bench.measuring import PRODUCTS, QUERIES, SITE, Yardstick, at_least, at_most, build, heading, run, workspace
from bench.rivals import Tantivy, WhooshDefaults

SLIPS = 5  # Of each query.
PATIENCE = 60  # Seconds for which a search waits for the vector of its words: none may be late here.
OURS = ("shop", "meaning")
BUNDLES = {"finer levels": icecat, "coarser levels": coarser_icecat}
# The same on every machine, so that these need no yardstick of the run.
GOALS = {
    "typed": Yardstick("own goal", 0.89, ""),
    "slip": Yardstick("own goal", 0.87, ""),
    "names": Yardstick("own goal", 0.97, ""),
    "nothing": Yardstick("own goal", 0.10, ""),
    "lead": Yardstick("no lead", 0, ""),
    "bundles": Yardstick("own goal", 0.02, ""),
}
GOALS_WITH_MEANING = {COMPLETED: Yardstick("own goal", 0.85, ""), SECOND: Yardstick("own goal", 0.84, "")}
SHORTEST_WITH_SLIP = 5
_LETTERS = "abcdefghijklmnopqrstuvwxyz"

Judged = Mapping[str, Sequence[Judgement]]  # By engine.


def main() -> None:
    judged: dict[tuple[str, str], Judged] = {}
    with workspace() as directory:
        for bundle, folder in BUNDLES.items():
            made = list(documents(folder()))
            engines = _engines(directory, bundle, made)
            for rated in (COMPLETED, SECOND):
                heading(f"Relevance, {bundle}, {len(rated_queries(rated)):,} rated queries ({rated})")
                judged[bundle, rated] = {name: judge(e, rated_queries(rated)) for name, e in engines.items()}
                for line in _table(judged[bundle, rated], rated):
                    print(f"     {line}")
                _report(judged[bundle, rated], rated)
            if folder is icecat:
                _report_further(engines, made)
                if QUERIES in os.environ:
                    for rated in (COMPLETED, SECOND):
                        _print_queries(judged[bundle, rated], rated, {document.id: document for document in made})
    heading("Relevance, difference between bundles")
    _compare_bundles(judged)


def _engines(directory: Path, bundle: str, made: Sequence[IndexDocument]) -> dict[str, Search]:
    """Return the engines over the documents. Those of the shop are rebuilt, so that the vectors of the bundle before
    are taken over."""
    engine, whoosh = WhooshEngine(directory / "shop"), WhooshDefaults(directory / f"whoosh, {bundle}")
    build(engine, made)
    whoosh.fill(made)
    tantivy = Tantivy(directory / f"tantivy, {bundle}", made)
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


def _table(judged: Judged, rated: str) -> Iterator[str]:
    columns = ("NDCG@10", *(("chosen on", "aside") if rated == COMPLETED else ()), "condensed", "unrated")
    yield " " * 8 + "".join(f"{column:>10}" for column in columns) + "   the shop leads by"
    for name, judgements in judged.items():
        figures = [
            mean([judgement.ndcg for judgement in judgements]),
            *(mean([j.ndcg for j in judgements if j.query in half]) for half in halves() if rated == COMPLETED),
            mean([judgement.condensed for judgement in judgements]),
            mean([judgement.unrated for judgement in judgements]),
        ]
        lead = "" if name == "shop" else str(difference(judged["shop"], judgements))
        yield f"{name:<8}" + "".join(f"{figure:>10.3f}" for figure in figures) + f"   {lead}"


def _report(judged: Judged, rated: str) -> None:
    if rated == COMPLETED:
        at_least("NDCG@10 as typed, by words", _ndcg(judged["shop"]), GOALS["typed"])
    if "meaning" in judged:
        at_least("NDCG@10 as typed, with meaning", _ndcg(judged["meaning"]), GOALS_WITH_MEANING[rated])
    lead = difference(judged["meaning" if "meaning" in judged else "shop"], judged["tantivy"])
    at_least("lead over tantivy in NDCG@10, low end of 95 %", lead.low, GOALS["lead"])


def _report_further(engines: Mapping[str, Search], made: Sequence[IndexDocument]) -> None:
    heading(f"Relevance, slips, names of levels, {len(queries()):,} real queries")
    for name, engine in engines.items():
        slip, nothing = mean_with_slips(engine), found_nothing(engine)
        print(f"     {name:<8} with slips {slip:.3f}, finds nothing {nothing:.3f}")
        if name == "shop":
            at_least("NDCG@10 with one slip", slip, GOALS["slip"])
            at_most("share of real queries that find nothing", nothing, GOALS["nothing"])
    for name in filter(engines.__contains__, OURS):
        found = by_level_names(engines[name], made)
        at_least(f"first ten for a name of a level that are of the level, {name}", found, GOALS["names"])


def _compare_bundles(judged: Mapping[tuple[str, str], Judged]) -> None:
    finer, coarser = BUNDLES
    for rated in (COMPLETED, SECOND):
        for name in filter(judged[finer, rated].__contains__, OURS):
            compared = difference(judged[finer, rated][name], judged[coarser, rated][name])
            print(f"     {rated}, {name}: {compared}")
            at_most(f"difference between bundles, {rated}, {name}", abs(compared.mean), GOALS["bundles"])


def _ndcg(judgements: Sequence[Judgement]) -> float:
    return mean([judgement.ndcg for judgement in judgements])


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


def _print_queries(judged: Judged, rated: str, by_id: Mapping[str, IndexDocument]) -> None:
    chosen_on, _ = halves()
    ours = judged.get("meaning", judged["shop"])
    beside = {name: {j.query: j.ndcg for j in judgements} for name, judgements in judged.items()}
    for judgement in sorted(ours, key=lambda judgement: judgement.ndcg):
        use = rated if rated == SECOND else "chosen on" if judgement.query in chosen_on else "kept aside"
        by_words, tantivy = beside["shop"][judgement.query], beside["tantivy"][judgement.query]
        print(f"\n{judgement.ndcg:.3f} {judgement.query} ({use}; by words {by_words:.3f}, tantivy {tantivy:.3f})")
        grades = rated_queries(rated)[judgement.query]
        for id in judgement.found:
            document = by_id[id]
            print(f"      {grades.get(id, '-')}  {document.name[:80]} | {document.kind}")


if __name__ == "__main__":
    run(main)
