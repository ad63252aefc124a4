"""Timing, memory, and the figures that a benchmark prints, each with its limit and the ratio between them.

A limit is a multiple of a yardstick that the same run measured: `6 * bare_page`. A slower machine moves both."""

from __future__ import annotations

import json
import math
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TypeVar
from unittest import SkipTest

from app.domain.search.engine import IndexDocument, IndexName, SearchEngine
from app.operations.instance import UMASK

T = TypeVar("T")
SITE = 1
PRODUCTS = IndexName.PRODUCTS
ROUNDS = 3
FIGURES_FILE = "BENCH_FIGURES"  # Where `python -m bench` gathers the figures of the processes that it starts.
SMALL = "BENCH_SMALL"
QUERIES = "BENCH_QUERIES"  # Each rated query is printed with what was found.
ALL = "BENCH_ALL"  # Every benchmark is run, so that those which could go on for long keep it short.
_headings = [""]


@dataclass(frozen=True, slots=True)
class Yardstick:
    """A figure of the same run, perhaps times a number, that limits another."""

    name: str
    value: float
    unit: str
    times: float = 1

    def __rmul__(self, times: float) -> Yardstick:
        return replace(self, times=times * self.times)

    @property
    def limit(self) -> float:
        return self.times * self.value

    def __str__(self) -> str:
        return self.name if self.times == 1 else f"{self.times:g} x {self.name}"


@dataclass(frozen=True, slots=True)
class Figure:
    heading: str
    name: str
    value: float
    unit: str
    limit: float
    source: str
    kept: bool

    @property
    def ratio(self) -> str:
        """The figure in units of its limit; nothing is a multiple of a limit of 0."""
        return f"{self.value / self.limit:.2f}" if self.limit else "-"

    def __str__(self) -> str:
        limit = f"limit {self.limit:>10.3f} ({self.source})"
        verdict = "ok  " if self.kept else "MISS"
        return f"{verdict} {self.name:<56} {self.value:>10.3f} {self.unit:<6} {limit}  x{self.ratio}"


def run(benchmark: Callable[[], None]) -> None:
    """Run a benchmark, or say in a sentence what it lacks."""
    try:
        benchmark()
    except SkipTest as missing:
        print(f"Not measured: {missing}.")
        _keep({"missing": str(missing)})
    except ModuleNotFoundError as missing:
        if missing.name != "tantivy":
            raise
        print("Not measured: tantivy is not installed (`make bench` installs it).", file=sys.stderr)
        _keep({"missing": "tantivy is not installed (`make bench` installs it)"})


def sized(count: int) -> int:
    """So many records, or a tenth of them where a quick look was asked for."""
    return count // 10 if os.environ.get(SMALL) else count


def one_of_all() -> bool:
    return ALL in os.environ


@contextmanager
def workspace() -> Iterator[Path]:
    """A folder that is private, as what a shop stores is."""
    directory = Path(tempfile.mkdtemp(prefix="bench-"))
    before = os.umask(UMASK)
    try:
        yield directory
    finally:
        os.umask(before)
        shutil.rmtree(directory, ignore_errors=True)


def build(engine: SearchEngine, documents: Iterable[IndexDocument], site_id: int = SITE) -> None:
    """A rebuild as the shop does it: durable, verified and swapped in."""
    generation = engine.start_generation(site_id, PRODUCTS)
    generation.add(documents)
    generation.seal()
    with engine.exclusive(site_id, PRODUCTS):
        generation.publish()
    generation.discard()


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def milliseconds(work: Callable[[T], object], arguments: Iterable[T]) -> list[float]:
    return [1000 * seconds(lambda argument=argument: work(argument)) for argument in arguments]  # type: ignore[misc]


def percentile(values: Iterable[float], share: float) -> float:
    """Return the value at the nearest rank: of twenty, the 95th percentile is the last but one."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def median(values: Iterable[float]) -> float:
    return statistics.median(values)


def resident_megabytes() -> tuple[float, float]:
    """(resident memory of this process, the part of it that is not a file shared with other processes)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    pairs = (line.split(":") for line in lines if line.endswith("kB"))
    kilobytes = {name: int(rest.split()[0]) for name, rest in pairs}
    return kilobytes["VmRSS"] / 1024, kilobytes["RssAnon"] / 1024


def at_most(name: str, figure: float, limit: Yardstick) -> bool:
    """Print a figure that should not exceed its limit; return whether it does not."""
    return _record(name, figure, limit, figure <= limit.limit)


def at_least(name: str, figure: float, limit: Yardstick) -> bool:
    return _record(name, figure, limit, figure >= limit.limit)


def _record(name: str, value: float, limit: Yardstick, kept: bool) -> bool:
    figure = Figure(_headings[-1], name, value, limit.unit, limit.limit, str(limit), kept)
    print(figure, flush=True)
    _keep(asdict(figure))
    return kept


def _keep(entry: dict[str, object]) -> None:
    """Append to the file of the whole run, which processes of a benchmark write as well."""
    if file := os.environ.get(FIGURES_FILE):
        with open(file, "a") as lines:
            lines.write(json.dumps(entry) + "\n")


def heading(text: str) -> None:
    _headings.append(text)
    print(f"\n{text}  [load {os.getloadavg()[0]:.1f}]", flush=True)
