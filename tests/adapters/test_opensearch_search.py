"""What a search on a cluster costs, against a real node."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.adapters.opensearch.ordering import FIRST
from app.domain.search.engine import (
    RESULT_WINDOW,
    Alternatives,
    EngineFault,
    IndexDocument,
    SearchEngine,
    SearchRequest,
    SearchUnavailable,
    Sort,
    ValueFilter,
)
from tests.contracts.search_engine_contract import PRODUCTS, SITE, rebuild, shoe
from tests.shared_node import engine_of, own_settings


class Trips(logging.Handler):
    """The round trips of searches, by what the client logs of each: its address, and what was sent."""

    def __init__(self) -> None:
        super().__init__()
        self._made: list[str] = []
        self._sent: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        said = record.getMessage()
        self._made += [said] if record.levelno == logging.INFO else []
        self._sent += [said] if said.startswith("> ") else []

    def __len__(self) -> int:
        return len(self._made)

    def begin(self) -> None:
        logging.getLogger("opensearch").setLevel(logging.DEBUG)  # The adapter keeps its client quiet.
        self._made.clear()
        self._sent.clear()

    @property
    def preferences(self) -> set[str]:
        """What the parts of the trips prefer, of those that name a preference."""
        said = " ".join((*self._made, *self._sent))
        return set(re.findall(r'preference(?:=|":")(\w+)', said))


@pytest.fixture
def trips() -> Iterator[Trips]:
    log, trips = logging.getLogger("opensearch"), Trips()
    log.addHandler(trips)
    yield trips
    log.removeHandler(trips)
    log.setLevel(logging.ERROR)


@pytest.fixture
def engine(opensearch_url: str, tmp_path: Path) -> Iterator[SearchEngine]:
    with own_settings(
        opensearch_url, seconds=20
    ) as settings:  # How long one takes on a busy machine is not the matter.
        yield engine_of(settings, tmp_path)


def test_an_ordinary_search_takes_two_round_trips_and_many_share_theirs(engine: SearchEngine, trips: Trips) -> None:
    rebuild(engine, [shoe(n, "Blue shoe", values={"level": ("root", "shoes")}) for n in range(20)])
    request = SearchRequest(words="blue shoe", facets=("brand", "colour"), range_facets=("price",))
    engine.search(SITE, PRODUCTS, SearchRequest())  # Now it is known which index is live.
    for requests in ([request], [replace(request, page=page, per_page=5) for page in (1, 2, 3)]):
        trips.begin()
        assert all(result.total == 20 for result in engine.search_many(SITE, PRODUCTS, requests))
        assert len(trips) == 2


def test_a_search_that_finds_too_little_takes_a_few_more(engine: SearchEngine, trips: Trips) -> None:
    rebuild(engine, [shoe(n, "Blue shoe") for n in range(20)])
    engine.search(SITE, PRODUCTS, SearchRequest())
    for words in ("blue shoe kettle", "blue shoo", "blu"):
        trips.begin()
        assert engine.search(SITE, PRODUCTS, SearchRequest(words=words)).total == 20
        assert len(trips) <= 10, words


def test_all_trips_of_a_search_and_its_other_pages_are_to_the_same_copy_of_the_index(
    engine: SearchEngine, trips: Trips
) -> None:
    rebuild(engine, [shoe(n, "Blue shoe", values={"level": ("root", "shoes")}) for n in range(20)])
    request = SearchRequest(words="blue shoo kettle", facets=("brand",), per_page=5)
    of_pages = []
    for other in (
        request,
        replace(request, page=2, sort=Sort.PRICE_ASC),
        replace(request, filters=(ValueFilter("level", ("shoes",)),)),
    ):
        trips.begin()
        engine.search(SITE, PRODUCTS, other)
        of_pages.append(trips.preferences)
    trips.begin()
    engine.explain(SITE, PRODUCTS, request, "P1")
    of_pages.append(trips.preferences)
    assert len(of_pages[0]) == 1 and of_pages == [of_pages[0]] * 4
    trips.begin()
    engine.search(SITE, PRODUCTS, replace(request, words="another search"))
    assert trips.preferences != of_pages[0], "searches share the copies"


def test_what_another_machine_published_is_found_by_the_next_search(opensearch_url: str, tmp_path: Path) -> None:
    """Also where one of the generations has no documents, so that nothing found names an index."""
    with own_settings(opensearch_url) as settings:
        here, there = (engine_of(settings, tmp_path) for _ in range(2))
        for documents in (
            [shoe(1, "Blue shoe")],
            [shoe(1, "Blue shoe"), shoe(2, "Red shoe")],
            [],
            [],
            [shoe(3, "Hat")],
        ):
            rebuild(there, documents)
            assert here.search(SITE, PRODUCTS, SearchRequest()).total == len(documents)
            found = here.search(SITE, PRODUCTS, SearchRequest(words="shoe"))
            assert found.total == sum("shoe" in document.name for document in documents)


def test_where_the_last_generation_is_gone_since_others_were_published_the_live_one_answers(
    opensearch_url: str, tmp_path: Path
) -> None:
    with own_settings(opensearch_url) as settings:
        here, there = (engine_of(settings, tmp_path) for _ in range(2))
        rebuild(there, [shoe(1, "Blue shoe")])
        assert here.search(SITE, PRODUCTS, SearchRequest(words="shoe")).total == 1
        for count in (2, 3, 4):
            rebuild(there, [shoe(number, "Blue shoe") for number in range(count)])
        assert here.search(SITE, PRODUCTS, SearchRequest(words="shoe")).total == 4
        there.forget(SITE)
        with pytest.raises(SearchUnavailable) as refused:
            here.search(SITE, PRODUCTS, SearchRequest(words="shoe"))
        assert refused.value.fault is EngineFault.INDEX
        rebuild(there, [shoe(1, "Blue shoe")])
        assert here.search(SITE, PRODUCTS, SearchRequest(words="shoe")).total == 1


@pytest.mark.parametrize("found", [True, False])
def test_a_search_as_long_as_they_come_is_answered(engine: SearchEngine, found: bool) -> None:
    typed = [f"word{letter}" for letter in "abcdefghijklmnop"]
    rebuild(engine, [shoe(n, " ".join(typed[: 15 + found])) for n in range(2)])
    runs = [Alternatives(n, 1, tuple((f"{word}{m}", "or", "other") for m in range(8))) for n, word in enumerate(typed)]
    request = SearchRequest(words=" ".join(typed), alternatives=tuple(runs))
    assert {hit.id for hit in engine.search(SITE, PRODUCTS, request).hits} == {"P0", "P1"}


def test_a_document_behind_all_pages_is_said_to_be_far_down(engine: SearchEngine) -> None:
    """Its exact rank would take a trip for every ten thousand before it."""
    many = (IndexDocument(f"P{number}", "Shoe", digest="x") for number in range(RESULT_WINDOW + FIRST + 2))
    rebuild(engine, many)
    last = engine.explain(SITE, PRODUCTS, SearchRequest(words="shoe"), "P9999")
    assert (last.indexed, last.rank, last.is_far_down) == (True, None, True)
    assert last.score
    first = engine.explain(SITE, PRODUCTS, SearchRequest(words="shoe"), "P10")
    assert (first.rank, first.is_far_down) == (3, False)
