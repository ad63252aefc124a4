"""A search for suggestions as work: sources that fail or take long, workers that die, and who requests one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask

from app.domain.relevance import synonym_suggestions
from app.domain.relevance.models import SuggestionRun
from app.domain.relevance.synonym_mining import Candidate, MinedSuggestions, Question, SuggestionsFailed
from app.domain.relevance.synonym_suggestions import SUGGESTIONS
from app.domain.search.engine import SearchContext
from app.domain.shared.author import Author
from app.domain.work import leases
from app.extensions import db
from app.transaction import transaction
from tests.domain.relevance.synonyms.suggested import (
    MINED,
    request_suggestions,
    searched_in_vain,
    shop_of_kettles,
    suggestions,
)
from tests.fakes.clock import StoppedClock
from tests.waiting import wait_until_one_waits


class Broken:
    name = "AI"

    def suggest(self, question: Question) -> list[Candidate]:
        raise SuggestionsFailed("The AI endpoint gave no answer.")


class Bursting:
    name = "AI"

    def suggest(self, question: Question) -> list[Candidate]:
        raise KeyError("choices")


class Slow:
    """Thinks for as long as it is told, of what the shop's own words say; `meanwhile` is what others do then."""

    name = "AI"

    def __init__(self, clock: StoppedClock, seconds: float, meanwhile: Callable[[], object] = lambda: None) -> None:
        self._clock, self._seconds, self._meanwhile = clock, seconds, meanwhile

    def suggest(self, question: Question) -> list[Candidate]:
        self._clock.move(seconds=self._seconds)
        self._meanwhile()
        return MinedSuggestions().suggest(question)


@pytest.fixture
def site_id(app: Flask, indexing: SearchContext) -> int:
    return shop_of_kettles(app, indexing)


@pytest.mark.usefixtures("context")
def test_a_source_that_fails_is_told_and_the_others_count(
    indexing: SearchContext, site_id: int, clock: StoppedClock
) -> None:
    searched_in_vain(site_id, clock, "hewlett packard", 43)
    run = request_suggestions(indexing, site_id, Broken(), MinedSuggestions())
    assert (run.state, run.added, run.error) == ("failed", 1, "The AI endpoint gave no answer.")


@pytest.mark.usefixtures("context")
def test_a_source_that_bursts_ends_the_run_with_a_sentence_and_the_others_count(
    indexing: SearchContext, site_id: int, clock: StoppedClock
) -> None:
    searched_in_vain(site_id, clock, "hewlett packard", 43)
    run = request_suggestions(indexing, site_id, Bursting(), MinedSuggestions())
    assert (run.state, run.added, run.error) == ("failed", 1, synonym_suggestions.UNEXPECTED)
    assert leases.free_keys(SUGGESTIONS, clock) == []


@pytest.mark.usefixtures("context")
def test_what_bursts_while_candidates_are_tried_ends_the_run(
    indexing: SearchContext, site_id: int, clock: StoppedClock
) -> None:
    searched_in_vain(site_id, clock, "hewlett packard", 43)
    nothing: Any = None
    run = request_suggestions(replace(indexing, engine=nothing), site_id)
    assert (run.state, run.added, run.error) == ("failed", 0, synonym_suggestions.UNEXPECTED)


@pytest.mark.usefixtures("context")
def test_a_run_that_keeps_breaking_off_is_given_up(indexing: SearchContext, site_id: int, clock: StoppedClock) -> None:
    def die() -> None:
        raise SystemExit

    with transaction():
        synonym_suggestions.request_run(Author(site_id, "Mia Moss", clock))
    for _ in range(synonym_suggestions.MOST_ATTEMPTS):
        assert leases.free_keys(SUGGESTIONS, clock) == [site_id]
        with pytest.raises(SystemExit):
            synonym_suggestions.run_suggestions(indexing, [Slow(clock, 1, die)], site_id)
        clock.move(seconds=SUGGESTIONS.lease.total_seconds())
    synonym_suggestions.run_suggestions(indexing, MINED, site_id)
    run = db.session.get(SuggestionRun, site_id, populate_existing=True)
    assert (run.state, run.error) == ("failed", SUGGESTIONS.exhausted)
    assert request_suggestions(indexing, site_id).state == "done"


@pytest.mark.usefixtures("context")
def test_sources_that_take_long_one_after_the_other_keep_the_run(
    indexing: SearchContext, site_id: int, clock: StoppedClock
) -> None:
    held: list[list[int]] = []

    def look() -> None:
        held.append(leases.free_keys(SUGGESTIONS, clock))

    searched_in_vain(site_id, clock, "hewlett packard", 43)
    assert request_suggestions(indexing, site_id, *[Slow(clock, 100, look)] * 4).state == "done"
    assert held == [[]] * 4


@pytest.mark.usefixtures("context")
def test_candidates_that_take_long_to_try_keep_the_run(
    indexing: SearchContext, site_id: int, clock: StoppedClock
) -> None:
    held: list[list[int]] = []

    class SlowEngine:
        def __getattr__(self, name: str) -> Any:
            clock.move(seconds=50)
            held.append(leases.free_keys(SUGGESTIONS, clock))
            return getattr(indexing.engine, name)

    for word in ("ketle", "kettel", "kettlle", "kettla"):
        searched_in_vain(site_id, clock, word, 9)
    engine: Any = SlowEngine()
    assert request_suggestions(replace(indexing, engine=engine), site_id).state == "done"
    assert len(held) * 50 > SUGGESTIONS.lease.total_seconds() and not any(held)


@pytest.mark.usefixtures("context")
def test_who_was_silent_for_too_long_changes_nothing(
    indexing: SearchContext, site_id: int, clock: StoppedClock
) -> None:
    def another_worker_does_it_and_a_user_requests_again() -> None:
        synonym_suggestions.run_suggestions(indexing, (), site_id)
        with transaction():
            assert synonym_suggestions.request_run(Author(site_id, "Max Moor", clock))
        with transaction():
            run = db.session.get_one(SuggestionRun, site_id)
            run.state, run.attempts, run.fence, run.lease_until = "running", 1, run.fence + 1, clock.now()

    searched_in_vain(site_id, clock, "hewlett packard", 43)
    late = Slow(clock, SUGGESTIONS.lease.total_seconds() + 1, another_worker_does_it_and_a_user_requests_again)
    run = request_suggestions(indexing, site_id, late, Bursting())
    assert (run.state, run.added, run.error, run.requested_by) == ("running", 0, None, "Max Moor")
    assert suggestions(site_id) == []


@pytest.mark.usefixtures("context")
def test_only_one_asks_at_a_time_and_a_dead_one_blocks_nobody(
    indexing: SearchContext, site_id: int, clock: StoppedClock
) -> None:
    with transaction():
        assert synonym_suggestions.request_run(Author(site_id, "Mia Moss", clock))
    with transaction():
        assert not synonym_suggestions.request_run(Author(site_id, "Max Moor", clock))
    with transaction():
        db.session.get(SuggestionRun, site_id).state = "running"
        db.session.get(SuggestionRun, site_id).lease_until = clock.now() + SUGGESTIONS.lease
    assert leases.free_keys(SUGGESTIONS, clock) == []
    clock.move(seconds=SUGGESTIONS.lease.total_seconds())
    assert leases.free_keys(SUGGESTIONS, clock) == [site_id]
    synonym_suggestions.run_suggestions(indexing, MINED, site_id)
    assert db.session.get(SuggestionRun, site_id, populate_existing=True).state == "done"


@pytest.mark.usefixtures("context")
def test_a_run_counts_the_searches_that_it_compared(indexing: SearchContext, site_id: int, clock: StoppedClock) -> None:
    for word in ("qqqq", "zzzz"):
        searched_in_vain(site_id, clock, word, 3)
    run = request_suggestions(indexing, site_id)
    assert (run.state, run.added, run.compared) == ("done", 0, 2)


@pytest.mark.concurrent
@pytest.mark.usefixtures("context")
def test_who_asks_at_the_same_moment_as_the_first_person_joins_that_search(
    app: Flask, site_id: int, clock: StoppedClock
) -> None:
    requests: list[bool] = []

    def request_too() -> None:
        with app.app_context(), transaction():
            requests.append(synonym_suggestions.request_run(Author(site_id, "Max Moor", clock)))

    other = threading.Thread(target=request_too)
    with transaction():
        assert synonym_suggestions.request_run(Author(site_id, "Mia Moss", clock))
        db.session.flush()
        other.start()
        wait_until_one_waits()
    other.join()
    assert requests == [False]
    assert db.session.get(SuggestionRun, site_id, populate_existing=True).requested_by == "Mia Moss"
