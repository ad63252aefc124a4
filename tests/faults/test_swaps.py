"""F26: readers of other processes while generations are swapped and commits made, one after the other."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.adapters.whoosh import WhooshEngine
from app.domain.search.engine import IndexDocument, SearchRequest, Upsert
from tests.adapters.test_whoosh_generations import generations, total
from tests.adapters.whoosh_catalogue import PRODUCTS, SITE, apply
from tests.examples import examples
from tests.injected_faults import injected

READERS = 2
fork = multiprocessing.get_context("fork")
pytestmark = pytest.mark.fault("F26")


def test_many_swaps_under_readers_lose_nobody_and_pile_nothing_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each generation holds products of one mark only, so a mixed answer would show two marks."""
    monkeypatch.setattr("os.fsync", lambda _descriptor: None)  # Readers see the same with and without.
    _publish_marked(tmp_path, 0)
    most = 1 + 2 * READERS  # The live one; a reader holds two while it goes from one to another.
    with _reading(_read_until, tmp_path):
        for mark in range(1, examples(1_000) + 1):
            _publish_marked(tmp_path, mark)
            injected()
            assert len(generations(tmp_path)) <= most
    assert total(WhooshEngine(tmp_path)) == 20
    _publish_marked(tmp_path, 0)
    assert len(generations(tmp_path)) == 1


def test_a_generation_stays_for_as_long_as_somebody_reads_it(tmp_path: Path) -> None:
    _publish_marked(tmp_path, 0)
    read, reader = generations(tmp_path), WhooshEngine(tmp_path)
    assert total(reader) == 20
    for mark in (1, 2, 3):
        _publish_marked(tmp_path, mark)
        injected()
        assert read < generations(tmp_path)
    assert total(reader) == 20, "of the new one"
    _publish_marked(tmp_path, 4)
    assert not read & generations(tmp_path)


def test_commits_under_readers_are_seen_whole(tmp_path: Path) -> None:
    """Every commit replaces two products by each other's mark; no reader may see one without the other."""
    _publish_marked(tmp_path, 0)
    with _reading(_read_pairs_until, tmp_path):
        engine = WhooshEngine(tmp_path)
        for mark in range(1, 150):
            apply(engine, Upsert(_marked(7, mark)), Upsert(_marked(8, mark)))
            injected()


@contextmanager
def _reading(read_until: Callable[..., None], directory: Path) -> Iterator[None]:
    """Processes that read meanwhile, and end with the test whether it fails or not."""
    stop, failures = fork.Event(), fork.Queue()
    readers = [fork.Process(target=read_until, args=(directory, stop, failures), daemon=True) for _ in range(READERS)]
    for reader in readers:
        reader.start()
    try:
        yield
    finally:
        stop.set()
        for reader in readers:
            reader.join(30)
    assert failures.empty(), failures.get()
    assert [reader.exitcode for reader in readers] == [0] * READERS


def _read_pairs_until(
    directory: Path, stop: multiprocessing.synchronize.Event, failures: multiprocessing.Queue[str]
) -> None:
    engine = WhooshEngine(directory)
    reads = 0
    while not stop.is_set() or not reads:
        hits = engine.search(SITE, PRODUCTS, SearchRequest(per_page=100)).hits
        marks = [hit.card["mark"] for hit in hits if hit.id in ("P7", "P8")]
        if len(hits) != 20 or len(marks) != 2 or len(set(marks)) != 1:
            failures.put(f"{len(hits)} hits, marks {marks}")
        reads += 1
        time.sleep(0.005)


def _publish_marked(directory: Path, mark: int) -> None:
    engine = WhooshEngine(directory)
    generation = engine.start_generation(SITE, PRODUCTS)
    generation.add(_marked(number, mark) for number in range(20))
    generation.seal()
    with engine.exclusive(SITE, PRODUCTS):
        generation.publish()
    generation.discard()
    if mark % 5 == 0:
        apply(engine, Upsert(_marked(3, mark)))


def _marked(number: int, mark: int) -> IndexDocument:
    return IndexDocument(id=f"P{number}", name=f"Tent {number}", values={"mark": (str(mark),)}, card={"mark": mark})


def _read_until(directory: Path, stop: multiprocessing.synchronize.Event, failures: multiprocessing.Queue[str]) -> None:
    engine = WhooshEngine(directory)
    reads = 0
    while not stop.is_set() or not reads:
        result = engine.search(SITE, PRODUCTS, SearchRequest(words="tent", facets=("mark",)))
        marks = {hit.card["mark"] for hit in result.hits}
        if result.total != 20 or len(marks) != 1 or len(result.facets["mark"]) != 1:
            failures.put(f"{result.total} hits of the marks {marks}")
        reads += 1
        time.sleep(0.005)
