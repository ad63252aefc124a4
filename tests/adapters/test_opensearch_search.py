"""What a search on a cluster costs, against a real node."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.domain.search.engine import Alternatives, SearchEngine, SearchRequest
from tests.contracts.search_engine_contract import PRODUCTS, SITE, rebuild, shoe
from tests.shared_node import engine_of, own_settings


class Trips(logging.Handler):
    """The round trips of searches, by what the client logs of each."""

    def __init__(self) -> None:
        super().__init__()
        self._made: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        said = record.getMessage()
        self._made += [said] if "/_msearch" in said or "/_termvectors" in said else []

    def __len__(self) -> int:
        return len(self._made)

    def begin(self) -> None:
        logging.getLogger("opensearch").setLevel(logging.INFO)  # The adapter keeps its client quiet.
        self._made.clear()


@pytest.fixture
def trips() -> Iterator[Trips]:
    log, trips = logging.getLogger("opensearch"), Trips()
    log.addHandler(trips)
    yield trips
    log.removeHandler(trips)
    log.setLevel(logging.ERROR)


@pytest.fixture
def engine(opensearch_url: str, tmp_path: Path) -> Iterator[SearchEngine]:
    with own_settings(opensearch_url) as settings:
        yield engine_of(settings, tmp_path)


def test_an_ordinary_search_takes_two_round_trips_and_many_share_theirs(engine: SearchEngine, trips: Trips) -> None:
    rebuild(engine, [shoe(n, "Blue shoe", values={"level": ("root", "shoes")}) for n in range(20)])
    request = SearchRequest(words="blue shoe", facets=("brand", "colour"), range_facets=("price",))
    for requests in ([request], [replace(request, page=page, per_page=5) for page in (1, 2, 3)]):
        trips.begin()
        assert all(result.total == 20 for result in engine.search_many(SITE, PRODUCTS, requests))
        assert len(trips) == 2


def test_a_search_that_finds_too_little_takes_a_few_more(engine: SearchEngine, trips: Trips) -> None:
    rebuild(engine, [shoe(n, "Blue shoe") for n in range(20)])
    for words in ("blue shoe kettle", "blue shoo", "blu"):
        trips.begin()
        assert engine.search(SITE, PRODUCTS, SearchRequest(words=words)).total == 20
        assert len(trips) <= 10, words


@pytest.mark.parametrize("found", [True, False])
def test_a_search_as_long_as_they_come_is_answered(engine: SearchEngine, found: bool) -> None:
    typed = [f"word{letter}" for letter in "abcdefghijklmnop"]
    rebuild(engine, [shoe(n, " ".join(typed[: 15 + found])) for n in range(2)])
    runs = [Alternatives(n, 1, tuple((f"{word}{m}", "or", "other") for m in range(8))) for n, word in enumerate(typed)]
    request = SearchRequest(words=" ".join(typed), alternatives=tuple(runs))
    assert {hit.id for hit in engine.search(SITE, PRODUCTS, request).hits} == {"P0", "P1"}
