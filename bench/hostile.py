"""Searches made to take long, with and without a thousand synonym groups of twenty words, beside what shoppers type."""

from __future__ import annotations

import random
import string
import time
from datetime import UTC, datetime

from app.adapters.whoosh import WhooshEngine
from app.adapters.whoosh.matching import Vocabulary
from app.domain.search.engine import SearchRequest
from app.domain.search.serving.plan import Served, plan
from app.domain.search.serving.synonyms import SynonymGroup, SynonymSet, SynonymType
from app.operations.loading import loading_for_good
from bench.catalogue import FACETS, documents, queries
from bench.measuring import PRODUCTS, SITE, Yardstick, at_most, build, heading, median, percentile, run, workspace

SEARCHES = 300
GROUPS = 1_000
WORDS = 20
WORSE = 6  # A search made to take long holds up a worker no longer than half a dozen slow ones.


def main() -> None:
    with workspace() as directory:
        engine = WhooshEngine(directory / "shop")
        build(engine, documents())
        common = commonest(engine)
        chance = random.Random(2026)
        searches = [hostile(chance, common) for _ in range(SEARCHES)]
        heading(f"{SEARCHES} hostile searches")
        for name, synonyms in (("plain", SynonymSet()), (f"{GROUPS:,} synonym groups", taught(chance, common))):
            with loading_for_good():
                engine.search(SITE, PRODUCTS, SearchRequest(words="a slpi"))
            plain = [milliseconds(engine, words, Served(synonyms=synonyms)) for words in queries()]
            ordinary = Yardstick("the slowest percent of real queries", percentile(plain, 0.99), "ms")
            took = [milliseconds(engine, words, Served(synonyms=synonyms)) for words in searches]
            at_most(f"slowest, {name}", max(took), WORSE * ordinary)
            print(f"     median {median(took):.1f} ms")


def milliseconds(engine: WhooshEngine, words: str, served: Served) -> float:
    """Of the processor: other work on the machine does not count."""
    start = time.process_time()
    planned = plan(words, served, datetime.now(UTC))
    request = SearchRequest(words=words, facets=FACETS, alternatives=planned.expansion.alternatives)
    engine.search(SITE, PRODUCTS, request)
    return 1000 * (time.process_time() - start)


def commonest(engine: WhooshEngine) -> list[str]:
    vocabulary = Vocabulary(engine._reader(SITE, PRODUCTS).view())
    return sorted(vocabulary.beginning_with(""), key=lambda word: (-vocabulary.frequency(word), word))


def taught(chance: random.Random, common: list[str]) -> SynonymSet:
    words = common[: GROUPS * WORDS]
    chance.shuffle(words)
    starts = range(0, len(words), WORDS)
    return SynonymSet.of(
        SynonymGroup(SynonymType.EQUIVALENT, None, tuple(words[start : start + WORDS]), start) for start in starts
    )


def hostile(chance: random.Random, common: list[str]) -> str:
    long = [word for word in common[:20_000] if len(word) > 7 and word.isalpha()]
    made = (
        lambda: "a" * 200,
        lambda: " ".join(common[:40]),
        lambda: " ".join(chance.sample(common[:3_000], 16)),
        lambda: " ".join(string.ascii_lowercase),
        lambda: "[a TO z] OR id:* AND price:{0 TO 999} " + "*?" * 80,
        lambda: " ".join("".join(chance.choices(string.ascii_lowercase, k=12)) for _ in range(16)),
        lambda: " ".join(word[:2] for word in chance.sample(common[:2_000], 16)),
        lambda: "".join(chr(chance.randrange(32, 0x2FFF)) for _ in range(200)),
        lambda: " ".join(word + "x" for word in chance.sample(long, 16)),
        lambda: " ".join(word[:-1] + chance.choice("abcde") for word in chance.sample(long, 16)),
        lambda: '"' * 100 + " ".join(chance.sample(common[:50], 10)),
    )
    return chance.choice(made)()


if __name__ == "__main__":
    run(main)
