"""Saves that become findable, memory, and the first answer of a new process, on 100,000 products."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from pathlib import Path

from app.adapters.whoosh import WhooshEngine
from app.domain.search.engine import Change, SearchRequest, Upsert
from bench.catalogue import FACETS, copied, many, queries
from bench.measuring import (
    PRODUCTS,
    SITE,
    Yardstick,
    at_most,
    build,
    heading,
    median,
    milliseconds,
    resident_megabytes,
    run,
    seconds,
    sized,
    workspace,
)
from bench.yardsticks import durable_write_and_page

LARGE = sized(100_000)
MEMORY = Yardstick("own goal", 250, "MB")  # The same on every machine.
SAVES = 40
COMMIT, SLOWEST_COMMIT, AFTER, HUNDRED = 5, 50, 1, 20  # Of a durable write and a bare page.
FIRST = 10
PAGE = SearchRequest(words="laptop", facets=FACETS, range_facets=("price",))


def main() -> None:
    heading(f"Changes, memory and start, {LARGE:,} products")
    with workspace() as directory:
        build(WhooshEngine(directory), many(LARGE))
        _in_new_process(_start_and_memory, directory)
        _in_new_process(_changes, directory)


def _in_new_process(work: Callable[[Path], None], directory: Path) -> None:
    process = multiprocessing.get_context("spawn").Process(target=work, args=(directory,))
    process.start()
    process.join()


def _start_and_memory(directory: Path) -> None:
    engine = WhooshEngine(directory)
    first = seconds(lambda: engine.search(SITE, PRODUCTS, PAGE))
    at_most("a new worker's first answer", first, FIRST * _read(directory))
    milliseconds(lambda words: engine.search(SITE, PRODUCTS, SearchRequest(words=words, facets=FACETS)), queries())
    resident, own = resident_megabytes()
    print(f"     of which not shared with other workers: {own:.0f} MB")
    at_most("memory of a worker after 2,120 queries", resident, MEMORY)


def _read(directory: Path) -> Yardstick:
    took = seconds(lambda: [file.read_bytes() for file in directory.rglob("*") if file.is_file()])
    return Yardstick("its files read", took, "s")


def _changes(directory: Path) -> None:
    engine = WhooshEngine(directory)
    products = [copied(product, 1) for product in many(SAVES * 40)][::40]

    def search(_: object = None) -> None:
        engine.search(SITE, PRODUCTS, PAGE)

    def save(*changes: Change) -> None:
        with engine.exclusive(SITE, PRODUCTS):
            engine.apply(SITE, PRODUCTS, changes)

    warm = median(milliseconds(search, range(20))[5:])
    commits, firsts = [], []
    for product in products:
        commits.append(1000 * seconds(lambda product=product: save(Upsert(product))))  # type: ignore[misc]
        firsts.append(1000 * seconds(search))
    durable = durable_write_and_page(directory)
    at_most("commit of one product", median(commits), COMMIT * durable)
    at_most("the slowest of them", max(commits), SLOWEST_COMMIT * durable)
    at_most("the first search after it, on top of a warm one", median(firsts) - warm, AFTER * durable)
    hundred = [Upsert(product) for product in many(100)]
    at_most("100 changed products findable", 1000 * seconds(lambda: (save(*hundred), search())), HUNDRED * durable)


if __name__ == "__main__":
    run(main)
