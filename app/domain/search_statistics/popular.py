"""The searches that shoppers make most, as far as they may be shown to other shoppers."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError

from app.domain.search.suggestions import Names
from app.domain.search_statistics.counting.gathering import PhraseMatcher
from app.domain.search_statistics.counting.rolling_sums import first_day, window_end
from app.domain.search_statistics.models import SearchWordDay, SearchWordWindow
from app.domain.shared.clock import Clock
from app.extensions import db

DAYS = 30
FRESH = timedelta(minutes=5)
MOST = 500
# A network counts once a day. So a search from one network alone stays below EACH_DAY, however often it is made, and
# one from two networks, as by a person at home and on the way, has to come from both each day.
FEWEST_NETWORKS, FEWEST_DAYS, EACH_DAY = 8, 3, 2
LONGEST = 60  # Characters; longer searches are pasted texts.


@dataclass(frozen=True, slots=True)
class CountedSearch:
    """A search in the last DAYS days: in how many visits it was made, how many of them found nothing, from how many
    `networks` on how many `days`, each network counted once a day, and what the latest found, None where a rule sent it
    on or a page answers it."""

    words: str
    searches: int
    found_nothing: int
    networks: int
    days: int
    last_result_count: int | None


def presentable(counted: Iterable[CountedSearch], blocked: Sequence[str]) -> list[str]:
    """Return the searches that may be suggested to everybody, those of most networks first: made from
    several networks on several days, most of which found something, and without any of the blocked words. Pure."""
    is_blocked = PhraseMatcher(blocked)
    popular = [one for one in counted if _is_popular(one) and not is_blocked(one.words)]
    return [one.words for one in sorted(popular, key=lambda one: -one.networks)]


def _is_popular(one: CountedSearch) -> bool:
    is_many = one.networks >= max(FEWEST_NETWORKS, EACH_DAY * one.days) and one.days >= FEWEST_DAYS
    finds = one.last_result_count != 0 and 2 * one.found_nothing < one.searches
    return is_many and finds and 1 < len(one.words) <= LONGEST


@dataclass(frozen=True, slots=True)
class PopularSearches:
    """The popular searches of a shop, the most frequent first. `version` changes with the searches."""

    names: Names[str]
    version: int
    read_at: datetime
    blocked: tuple[str, ...]


class PopularCache:
    """Reads the popular searches of a shop every five minutes at most; while the database does not answer, those read
    before stay. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._popular: dict[int, PopularSearches] = {}

    def of(self, clock: Clock, site_id: int, blocked: Sequence[str]) -> PopularSearches:
        """Return the popular searches of a site. `blocked` are words that none of them may have."""
        now, known = clock.now(), self._popular.get(site_id)
        if known is not None and known.blocked == tuple(blocked) and abs(now - known.read_at) < FRESH:
            return known
        with self._lock:
            if self._popular.get(site_id) is known:
                self._popular[site_id] = _next(known, site_id, now, tuple(blocked))
            return self._popular[site_id]


def _next(known: PopularSearches | None, site_id: int, now: datetime, blocked: tuple[str, ...]) -> PopularSearches:
    try:
        words = tuple(presentable(counted_searches(site_id), blocked))
    except OperationalError:
        db.session.rollback()
        words = tuple(known.names) if known is not None and known.blocked == blocked else ()
    return PopularSearches(Names(zip(words, words, strict=True)), hash(words), now, blocked)


def counted_searches(site_id: int) -> list[CountedSearch]:
    """Return the MOST searches of the last DAYS days that several networks made on several days, those of most networks
    first, so that the searches of programs, in however many visits, displace no others."""
    until = window_end(site_id)
    if until is None:
        return []
    window, counted = SearchWordWindow, SearchWordDay
    networks, days = func.sum(counted.networks), func.count()
    is_counted = counted.day.between(first_day(until, DAYS), until) & (counted.networks > 0)
    columns = (window.searches, window.found_nothing, window.last_result_count)
    query = (
        select(window.word, *columns, networks.label("networks"), days.label("days_made"))
        .join(counted, (counted.site_id == window.site_id) & (counted.word == window.word) & is_counted)
        .where(window.site_id == site_id, window.days == DAYS, window.searches >= FEWEST_NETWORKS, window.word != "")
        .group_by(window.word, *columns)
        .having((networks >= FEWEST_NETWORKS) & (days >= FEWEST_DAYS) & (networks >= EACH_DAY * days))
        .order_by(networks.desc(), window.word)
        .limit(MOST)
    )
    return [
        CountedSearch(
            row.word, row.searches, row.found_nothing, int(row.networks), row.days_made, row.last_result_count
        )
        for row in db.session.execute(query)
    ]
