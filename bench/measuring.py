"""Timing, memory and the lines that a benchmark prints: each figure with its limit and the ratio to it."""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from app.adapters.whoosh import WhooshEngine
from app.domain.search.engine import IndexDocument, IndexName

T = TypeVar("T")
SITE = 1
PRODUCTS = IndexName.PRODUCTS
ROUNDS = 3


@contextmanager
def workspace() -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(prefix="bench-"))
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def build(engine: WhooshEngine, documents: Iterable[IndexDocument]) -> None:
    """A rebuild as the shop does it: durable, verified and swapped in."""
    generation = engine.start_generation(SITE, PRODUCTS)
    generation.add(documents)
    generation.seal()
    with engine.exclusive(SITE, PRODUCTS):
        generation.publish([])
    generation.discard()


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def milliseconds(work: Callable[[T], object], arguments: Iterable[T]) -> list[float]:
    return [1000 * seconds(lambda argument=argument: work(argument)) for argument in arguments]  # type: ignore[misc]


def percentile(values: Iterable[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def median(values: Iterable[float]) -> float:
    return statistics.median(values)


def resident_megabytes() -> tuple[float, float]:
    """(resident memory of this process, the part of it that is not a file shared with other processes)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    pairs = (line.split(":") for line in lines if line.endswith("kB"))
    kilobytes = {name: int(rest.split()[0]) for name, rest in pairs}
    return kilobytes["VmRSS"] / 1024, kilobytes["RssAnon"] / 1024


def at_most(name: str, figure: float, limit: float, unit: str, source: str) -> bool:
    """Prints a figure that should not exceed its limit; whether it does not."""
    return _line(name, figure, limit, unit, source, figure <= limit)


def at_least(name: str, figure: float, limit: float, unit: str, source: str) -> bool:
    return _line(name, figure, limit, unit, source, figure >= limit)


def _line(name: str, figure: float, limit: float, unit: str, source: str, good: bool) -> bool:
    ratio = figure / limit if limit else float("inf")
    verdict = "ok  " if good else "MISS"
    print(f"{verdict} {name:<56} {figure:>10.3f} {unit:<6} limit {limit:>10.3f} ({source})  x{ratio:.2f}", flush=True)
    return good


def heading(text: str) -> None:
    print(f"\n{text}  [load {os.getloadavg()[0]:.1f}]")
