"""How fast a results page is answered: 24 cards, total and ten facets, beside tantivy on the same documents.

Warm is the second time that a process sees a query: words decoded and spellings found stay until the next commit.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cache
from multiprocessing.pool import Pool
from pathlib import Path

from app.adapters.whoosh import WhooshEngine
from app.domain.search.engine import SearchRequest, ValueFilter
from app.web.server.server import SWITCH_INTERVAL
from bench.catalogue import FACETS, MULTI_VALUED_FACETS, documents, many, queries
from bench.measuring import (
    PRODUCTS,
    ROUNDS,
    SITE,
    Yardstick,
    at_most,
    build,
    heading,
    median,
    milliseconds,
    percentile,
    run,
    sized,
    workspace,
)
from bench.rivals import Tantivy

LARGE = sized(100_000)
CATEGORIES = 24
COLD = 4  # Words are decoded and spellings found, which tantivy keeps decoded or does not offer.
WORKERS, CLIENTS_A_WORKER = 2, 4

Times = dict[str, list[float]]


def main() -> None:
    for count in (0, LARGE):
        with workspace() as directory:
            made = list(many(count) if count else documents())
            build(WhooshEngine(directory / "shop"), made)
            Tantivy(directory / "tantivy", made)
            heading(f"Search, {len(made):,} products, {len(queries()):,} real queries")
            del made
            _compare(directory)


def _compare(directory: Path) -> None:
    engine, tantivy = WhooshEngine(directory / "shop"), Tantivy(directory / "tantivy", None)
    _cold(engine, tantivy)
    for name, facets in (("single-valued", FACETS), ("multi-valued", MULTI_VALUED_FACETS)):
        pages = _interleaved(_page(engine, facets), lambda words, f=facets: tantivy.page(words, f), queries())  # type: ignore[misc]
        _report(f"search and ten {name} facets", pages)
        values = _common_levels(engine)
        counts = _interleaved(
            lambda value, f=facets: engine.search(SITE, PRODUCTS, _category(value, f)),  # type: ignore[misc]
            lambda value, f=facets: tantivy.counts(tantivy.category("level", value), f),  # type: ignore[misc]
            values * 10,
        )
        _report(f"ten {name} facets alone", counts)
    _concurrent(directory)


def _page(engine: WhooshEngine, facets: Sequence[str]) -> Callable[[str], object]:
    return lambda words: engine.search(SITE, PRODUCTS, SearchRequest(words=words, facets=tuple(facets)))


def _category(value: str, facets: Sequence[str]) -> SearchRequest:
    return SearchRequest(scope=(ValueFilter("level", (value,)),), facets=tuple(facets), per_page=0)


def _common_levels(engine: WhooshEngine) -> list[str]:
    counted = engine.search(SITE, PRODUCTS, SearchRequest(facets=("level",), per_page=0)).facets["level"]
    return [value for value, _ in counted[:CATEGORIES]]


def _interleaved(ours: Callable[[str], object], theirs: Callable[[str], object], queries: Sequence[str]) -> Times:
    """The median time of each question over the rounds, engines taking turns."""
    milliseconds(ours, queries)
    rounds: dict[str, list[list[float]]] = {"shop": [], "tantivy": []}
    for _ in range(ROUNDS):
        rounds["shop"].append(milliseconds(ours, queries))
        rounds["tantivy"].append(milliseconds(theirs, queries))
    return {name: [median(times) for times in zip(*lists, strict=True)] for name, lists in rounds.items()}


def _report(name: str, times: Times) -> None:
    for label, share in (("p50", 0.5), ("p95", 0.95)):
        at_most(f"{name}, {label}", percentile(times["shop"], share), _tantivy(percentile(times["tantivy"], share)))


def _cold(engine: WhooshEngine, tantivy: Tantivy) -> None:
    times = milliseconds(_page(engine, FACETS), queries())
    theirs = milliseconds(lambda words: tantivy.page(words, FACETS), queries())
    at_most("each query for the first time, p95", percentile(times, 0.95), COLD * _tantivy(percentile(theirs, 0.95)))


def _tantivy(value: float) -> Yardstick:
    return Yardstick("tantivy", value, "ms")


def _concurrent(directory: Path) -> None:
    """The engines take turns on the same processes: what else the machine does meets both. Each figure is the median
    of the rounds."""
    rounds: dict[str, list[list[float]]] = {"tantivy": [], "shop": []}
    with _workers() as workers:
        for _ in range(ROUNDS):
            for name, lists in rounds.items():
                lists.append(_under_load(workers, directory, name))
    clients = WORKERS * CLIENTS_A_WORKER
    for label, share in (("p50", 0.5), ("p95", 0.95)):
        figures = {name: median(percentile(times, share) for times in lists) for name, lists in rounds.items()}
        limit = _tantivy(figures["tantivy"])
        at_most(f"{clients} clients at once on {WORKERS} workers, {label}", figures["shop"], limit)


@contextmanager
def _workers() -> Iterator[list[Pool]]:
    """Processes whose threads take turns as those of a web process do, whichever engine answers."""
    with ExitStack() as stack:
        context = multiprocessing.get_context("spawn")
        yield [stack.enter_context(context.Pool(1, sys.setswitchinterval, (SWITCH_INTERVAL,))) for _ in range(WORKERS)]


def _under_load(workers: Sequence[Pool], directory: Path, name: str) -> list[float]:
    shares = [queries()[place::WORKERS] for place in range(WORKERS)]
    for serve in (_warm, _serve):
        answers = [
            worker.apply_async(serve, (directory, name, share)) for worker, share in zip(workers, shares, strict=True)
        ]
        times = [answer.get() for answer in answers]
    return [time for part in times for time in part]


def _warm(directory: Path, name: str, queries: Sequence[str]) -> list[float]:
    """One pass alone, whose times do not count."""
    return milliseconds(_page_of(directory, name), queries)


def _serve(directory: Path, name: str, queries: Sequence[str]) -> list[float]:
    """One worker process with four clients, each with a quarter of the queries."""
    page = _page_of(directory, name)
    shares = [queries[client::CLIENTS_A_WORKER] for client in range(CLIENTS_A_WORKER)]
    with ThreadPoolExecutor(CLIENTS_A_WORKER) as clients:
        return [time for part in clients.map(lambda share: milliseconds(page, share), shares) for time in part]


@cache
def _page_of(directory: Path, name: str) -> Callable[[str], object]:
    if name == "shop":
        return _page(WhooshEngine(directory / "shop"), FACETS)
    tantivy = Tantivy(directory / "tantivy", None)
    return lambda words: tantivy.page(words, FACETS)


if __name__ == "__main__":
    run(main)
