"""What ten thousand search rules cost a search: the Icecat shop searched by real queries, plain, and the plans of the
same queries made by rules whose terms are words and pairs of words of those queries."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from app.adapters.whoosh import WhooshEngine
from app.domain.search.engine import SearchRequest
from app.domain.search.serving.plan import Served, plan
from app.domain.search.serving.product_groups import ProductGroup
from app.domain.search.serving.rule_set import RuleSet
from app.domain.search.serving.rules import Rule
from app.domain.search.serving.term_index import Match
from app.domain.search.text import words
from bench.catalogue import FACETS, documents, queries
from bench.measuring import PRODUCTS, SITE, Yardstick, at_most, build, heading, median, run, seconds, sized, workspace

RULES = sized(10_000)
SHARE = 0.1  # Of a search.
NOW = datetime(2026, 11, 28, tzinfo=UTC)
KINDS = (Match.EXACT, Match.STARTS_WITH, Match.CONTAINS, Match.CONTAINS, Match.ANY)


def main() -> None:
    with workspace() as directory:
        engine = WhooshEngine(directory / "shop")
        build(engine, list(documents()))
        searched = queries()
        heading(f"{RULES:,} search rules by condition, {len(searched):,} real queries")
        search = Yardstick("a search with ten facets", _warm_search(engine, searched), "ms")
        plain, served = Served(), Served(rules=RuleSet.of(made_rules(searched)))
        served.rules.matching(searched[0])  # Makes the index.
        without, with_rules = (_each(searched, lambda query, s=s: plan(query, s, NOW)) for s in (plain, served))  # type: ignore[misc]
        at_most("rules of a search, found and combined", with_rules - without, SHARE * search)
        made = made_rules(searched)
        indexed = median(seconds(lambda: RuleSet.of(made).matching(searched[0])) for _ in range(5))
        at_most("all rules indexed anew after a change", 1_000 * indexed, 100 * search)


def _warm_search(engine: WhooshEngine, searched: Sequence[str]) -> float:
    """Return the milliseconds of a search whose words were decoded before."""

    def search(words: str) -> object:
        return engine.search(SITE, PRODUCTS, SearchRequest(words=words, facets=FACETS))

    _each(searched, search)
    return _each(searched, search)


def made_rules(searched: Sequence[str]) -> list[Rule]:
    """Return rules of every kind for words of the queries, alone and with a second one."""
    chance = random.Random(7)
    known = sorted({word for query in searched for word in words(query)})
    made = []
    for number in range(RULES):
        match = KINDS[number % len(KINDS)]
        levels = (chance.choice(known),) if match is Match.ANY else ()
        term = " ".join(chance.choices(known, k=1 + number % 2)) + ("" if number < len(known) else f" {number}")
        group = ProductGroup(manufacturers=(chance.choice(known),))
        made.append(Rule(term, match=match, levels=levels, names=levels, boost_groups=(group,), id=number + 1))
    return made


def _each(searched: Sequence[str], act: Callable[[str], object]) -> float:
    """Return the milliseconds that one query takes."""
    started = time.perf_counter()
    for query in searched:
        act(query)
    return 1_000 * (time.perf_counter() - started) / len(searched)


if __name__ == "__main__":
    run(main)
