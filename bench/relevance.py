"""How well the first ten products answer: NDCG@10 on rated queries, with one slip a query, and what finds nothing.

The gain of a rating is 2^rating - 1; products that nobody rated gain nothing. The weights were chosen on a random
half of the ratings, see README; both halves are printed. Each engine runs with its defaults.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from math import log2

from app.adapters.whoosh import WhooshEngine
from app.domain.search.engine import SearchRequest
from bench.catalogue import documents, queries, ratings
from bench.measuring import PRODUCTS, SITE, Yardstick, at_least, at_most, build, heading, run, workspace
from bench.rivals import Tantivy, WhooshDefaults

DEPTH = 10
SEEDS = 5
# The same on every machine, so that these need no yardstick of the run.
GOALS = {
    "typed": Yardstick("own goal", 0.83, ""),
    "slip": Yardstick("own goal", 0.75, ""),
    "nothing": Yardstick("own goal", 0.06, ""),
}
SHORTEST_WITH_SLIP = 5
_LETTERS = "abcdefghijklmnopqrstuvwxyz"

Search = Callable[[str], list[str]]


def main() -> None:
    made = list(documents())
    with workspace() as directory:
        engine, whoosh = WhooshEngine(directory / "shop"), WhooshDefaults(directory / "whoosh")
        build(engine, made)
        whoosh.fill(made)
        tantivy = Tantivy(directory / "tantivy", made)
        engines: dict[str, Search] = {
            "shop": lambda words: shop_ids(engine, words),
            "tantivy": lambda words: tantivy.ids(words, DEPTH),
            "whoosh": lambda words: whoosh.ids(words, DEPTH),
        }
        heading(f"Relevance, {len(rated()):,} rated queries, {len(queries()):,} real ones")
        typed = {name: mean(scores(search)) for name, search in engines.items()}
        slipped = {name: mean_with_slips(search) for name, search in engines.items()}
        nothing = {name: found_nothing(search) for name, search in engines.items()}
        for name in ("tantivy", "whoosh"):
            print(f"     {name}: NDCG {typed[name]:.4f}, slip {slipped[name]:.4f}, nothing {nothing[name]:.1%}")
        at_least("NDCG@10 as typed", typed["shop"], GOALS["typed"])
        at_least("NDCG@10 with one slip", slipped["shop"], GOALS["slip"])
        at_most("share of real queries that find nothing", nothing["shop"], GOALS["nothing"])
        for half, kept in zip(("used to choose", "held out"), halves(), strict=True):
            print(f"     half of the ratings {half}: {mean(scores(engines['shop'], kept)):.4f}")


def shop_ids(engine: WhooshEngine, words: str) -> list[str]:
    return [hit.id for hit in engine.search(SITE, PRODUCTS, SearchRequest(words=words, per_page=DEPTH)).hits]


def rated() -> dict[str, dict[str, int]]:
    """Queries with at least one product that answers."""
    return {query: judged for query, judged in ratings().items() if any(judged.values())}


def halves() -> tuple[Mapping[str, dict[str, int]], Mapping[str, dict[str, int]]]:
    names = sorted(rated())
    random.Random(2026).shuffle(names)
    first = set(names[: len(names) // 2])
    return (
        {query: judged for query, judged in rated().items() if query in first},
        {query: judged for query, judged in rated().items() if query not in first},
    )


def scores(search: Search, judged: Mapping[str, dict[str, int]] | None = None) -> list[float]:
    return [ndcg(search(query), grades) for query, grades in (judged or rated()).items()]


def mean_with_slips(search: Search) -> float:
    chance = random.Random(2026)
    slipped = [(with_slip(query, chance), grades) for _ in range(SEEDS) for query, grades in rated().items()]
    return mean([ndcg(search(query), grades) for query, grades in slipped])


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def ndcg(found: list[str], grades: Mapping[str, int]) -> float:
    ideal = sorted(grades.values(), reverse=True)[:DEPTH]
    return _gain([grades.get(id, 0) for id in found[:DEPTH]]) / _gain(ideal)


def _gain(grades: list[int]) -> float:
    return sum((2**grade - 1) / log2(place + 2) for place, grade in enumerate(grades))


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
    asked = queries()
    return sum(not search(query) for query in asked) / len(asked)


if __name__ == "__main__":
    run(main)
