"""Searches that found nothing, each with what it finds now: what was solved since needs no more work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.merchandising.shop import ContentLink
from app.domain.search.engine import Searching, SearchRequest, SearchUnavailable
from app.domain.search.listings.content import answering_content
from app.domain.search.serving import configuration
from app.domain.search.serving.plan import plan
from app.domain.search.serving.query import UnderstoodSearch, search_understood, understand_served
from app.domain.search_statistics.counting.queries import (
    NO_RESULTS_DAYS,
    SearchWithoutResults,
    searches_without_results,
)
from app.domain.shared.clock import Clock

MOST = 50  # Searches in a list, each of which is run again.


@dataclass(frozen=True, slots=True)
class AnswerNow:
    """The current answer to a search: how many products it finds, the address to which a rule redirects it, or the page
    or collection that answers it where no product does."""

    finds: int = 0
    redirect: str | None = None
    page: ContentLink | None = None

    @property
    def is_something(self) -> bool:
        return bool(self.finds or self.redirect or self.page)


@dataclass(frozen=True, slots=True)
class NoResultsRow:
    """A search that found nothing so many times, and its answer now."""

    word: str
    times: int
    now: AnswerNow

    @property
    def is_solved(self) -> bool:
        return self.now.is_something


@dataclass(frozen=True, slots=True)
class NoResults:
    """The searches of a period that found nothing, most frequent first. `rows` are the first of `total`."""

    rows: tuple[NoResultsRow, ...] = ()
    total: int = 0

    @property
    def unsolved(self) -> tuple[NoResultsRow, ...]:
        return tuple(row for row in self.rows if not row.is_solved)

    @property
    def solved(self) -> tuple[NoResultsRow, ...]:
        return tuple(row for row in self.rows if row.is_solved)

    @property
    def remaining(self) -> int:
        """The number of searches that still find nothing; those beyond `rows` are taken to do so."""
        return self.total - len(self.solved)

    @property
    def is_whole(self) -> bool:
        return len(self.rows) == self.total


def no_results(
    clock: Clock, engine: Searching, site_id: int, period: int = NO_RESULTS_DAYS, most: int = MOST
) -> NoResults:
    """Return the searches of a period of days that found nothing. While search is unavailable, each has the result
    count of its latest search as its answer now."""
    found, total = searches_without_results(clock, site_id, period, most)
    now = answers_now(clock, engine, site_id, [one.word for one in found])
    rows = (NoResultsRow(one.word, one.times, now.get(one.word) or _latest_answer(one)) for one in found)
    return NoResults(tuple(rows), total)


def answers_now(clock: Clock, engine: Searching, site_id: int, words: Sequence[str]) -> dict[str, AnswerNow]:
    """Return the answer to each search as the shop gives it now, by the words; empty while search is unavailable.
    Nothing is counted."""
    try:
        return _answers(clock, engine, site_id, words)
    except SearchUnavailable:
        return {}


def _answers(clock: Clock, engine: Searching, site_id: int, words: Sequence[str]) -> dict[str, AnswerNow]:
    """Return the current answer to each search, by the words. Raises SearchUnavailable."""
    served, now = configuration.served(site_id), clock.now()
    plans = {word: plan(word, served, now) for word in words}
    answers = {word: AnswerNow(redirect=planned.redirect) for word, planned in plans.items()}
    searched = [word for word, planned in plans.items() if not planned.redirect]
    searches = [
        UnderstoodSearch(SearchRequest(words=word, per_page=0), plans[word], meaning)
        for word, meaning in zip(searched, understand_served(engine, site_id, searched, served), strict=True)
    ]
    found = search_understood(engine, site_id, searches, served.stop_words) if searches else []
    for word, answered in zip(searched, found, strict=True):
        answers[word] = AnswerNow(answered.answer.result.total)
    nothing = [word for word, answer in answers.items() if not answer.is_something]
    pages = answering_content(engine, site_id, nothing)
    return answers | {word: AnswerNow(page=page) for word, page in pages.items()}


def _latest_answer(search: SearchWithoutResults) -> AnswerNow:
    return AnswerNow(search.last_result_count or 0)
