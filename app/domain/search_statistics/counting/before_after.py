"""Compare what searches came to before and after a change went live, over equal periods, and record since when a
product has had each of its search terms.

A session listener records the terms of every product that goes through the session; code that changes products in bulk
calls `record`. A term that is older than this record has no row: its start is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from sqlalchemy import ColumnElement, Table, and_, case, delete, event, func, insert, inspect, select, tuple_
from sqlalchemy.orm import Session, UOWTransaction, scoped_session

from app.domain.catalogue.models import Product
from app.domain.search.serving.rules import normalized_term
from app.domain.search_statistics.counting.aggregation import SUMMED, Sums
from app.domain.search_statistics.counting.days import (
    DAY,
    PERIODS,
    Comparable,
    EqualPeriods,
    day_at,
    equal_periods,
    today,
)
from app.domain.search_statistics.counting.gathering import LONGEST_WORD
from app.domain.search_statistics.counting.purge import KEEP_WORDS
from app.domain.search_statistics.counting.rolling_sums import first_day, window_end
from app.domain.search_statistics.models import SearchDay, SearchTermStart, SearchWordDay, SearchWordWindow
from app.domain.shared.clock import Clock
from app.domain.shared.paging import batched
from app.domain.sites.sites import time_zone_of
from app.extensions import db

LONGEST_PERIOD = max(PERIODS)
WORDS_AT_ONCE = 900  # In one statement.

Searches = Callable[[str], bool] | str  # A predicate over counted words, or the one word.
STARTS: Table = SearchTermStart.__table__  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class LiveChange:
    """A change that went live at `since` and ends at `until`, and the searches that it concerns."""

    since: datetime
    searches: Searches
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """`before` and `after` are sums over `periods` of the searches concerned; empty where `comparable` is not YES.
    `counted_from` is the first day with any counts."""

    comparable: Comparable
    periods: EqualPeriods
    before: Sums = field(default_factory=Sums)
    after: Sums = field(default_factory=Sums)
    counted_from: date | None = None


def compare(site_id: int, clock: Clock, changes: Sequence[LiveChange]) -> list[BeforeAfter]:
    """Return one comparison for each change, in their order. The words of the days concerned are read once for all."""
    time_zone = time_zone_of(site_id)
    now = today(clock, time_zone)
    counted_from = db.session.scalar(select(func.min(SearchDay.day)).where(SearchDay.site_id == site_id))
    found = []
    for change in changes:
        until = day_at(change.until, time_zone) if change.until is not None else None
        since = day_at(change.since, time_zone)
        found.append(equal_periods(since, now, now - KEEP_WORDS + DAY, counted_from, until))
    words = _words_counted(
        site_id,
        [
            periods
            for change, (comparable, periods) in zip(changes, found, strict=True)
            if comparable is Comparable.YES and not isinstance(change.searches, str)
        ],
    )
    compared = []
    for change, (comparable, periods) in zip(changes, found, strict=True):
        searches = change.searches
        concerned = [searches] if isinstance(searches, str) else filter(searches, words)
        sums = _sums(site_id, periods, concerned) if comparable is Comparable.YES else (Sums(), Sums())
        compared.append(BeforeAfter(comparable, periods, *sums, counted_from))
    return compared


def _words_counted(site_id: int, compared: Sequence[EqualPeriods]) -> Sequence[str]:
    if not compared:
        return ()
    first, last = min(periods.before[0] for periods in compared), max(periods.after[1] for periods in compared)
    until = window_end(site_id)
    if until is not None and first_day(until, LONGEST_PERIOD) <= first and last <= until:
        # One row for each word, instead of one for each day on which it was searched.
        kept = select(SearchWordWindow.word).where(
            SearchWordWindow.site_id == site_id, SearchWordWindow.days == LONGEST_PERIOD, SearchWordWindow.word != ""
        )
        return db.session.scalars(kept).all()
    counted = select(SearchWordDay.word).where(
        SearchWordDay.site_id == site_id, SearchWordDay.day.between(first, last), SearchWordDay.word != ""
    )
    return db.session.scalars(counted.distinct()).all()


def _sums(site_id: int, periods: EqualPeriods, words: Iterable[str]) -> tuple[Sums, Sums]:
    before, after = dict.fromkeys(SUMMED, 0), dict.fromkeys(SUMMED, 0)
    for some in batched(sorted(words), WORDS_AT_ONCE):
        row = db.session.execute(
            select(*_sum_columns(periods.before, "before"), *_sum_columns(periods.after, "after")).where(
                SearchWordDay.site_id == site_id,
                SearchWordDay.word.in_(some),
                SearchWordDay.day.between(periods.before[0], periods.after[1]),
            )
        ).one()
        for name in SUMMED:
            before[name] += int(getattr(row, f"before_{name}") or 0)
            after[name] += int(getattr(row, f"after_{name}") or 0)
    return Sums(**before), Sums(**after)


def _sum_columns(period: tuple[date, date], label: str) -> Iterator[ColumnElement[int]]:
    within = and_(SearchWordDay.day >= period[0], SearchWordDay.day <= period[1])
    for name in SUMMED:
        yield func.sum(case((within, getattr(SearchWordDay, name)), else_=0)).label(f"{label}_{name}")


@dataclass(frozen=True, slots=True)
class TermsChange:
    """The search terms of a product before and after it was saved at `at`."""

    site_id: int
    product_id: int
    before: Sequence[str]
    after: Sequence[str]
    at: datetime


def listen(session_factory: Any) -> None:
    """Register the listener on the sessions of a factory, once for each factory."""
    if not event.contains(session_factory, "after_flush", _after_flush):
        event.listen(session_factory, "after_flush", _after_flush)


def record(session: Session | scoped_session[Any], changes: Iterable[TermsChange]) -> None:
    """Record changes within the transaction that makes them."""
    gone: list[tuple[int, str]] = []
    new: dict[tuple[int, str], dict[str, Any]] = {}
    for change in changes:
        before, after = normalized_terms(change.before), normalized_terms(change.after)
        gone += [(change.product_id, term) for term in before - after]
        for term in sorted(after - before):
            row = {"product_id": change.product_id, "term": term, "site_id": change.site_id, "since": change.at}
            new[change.product_id, term] = row
    connection = session.connection()
    for keys in batched([*gone, *new]):
        connection.execute(delete(STARTS).where(tuple_(STARTS.c.product_id, STARTS.c.term).in_(keys)))
    if new:
        connection.execute(insert(STARTS), list(new.values()))


def normalized_terms(terms: Iterable[str]) -> set[str]:
    """Return terms as they are stored here, folded: two that differ only in case are one."""
    return {normalized_term(term)[:LONGEST_WORD] for term in terms}


def starts_of(site_id: int, product_id: int) -> Mapping[str, datetime]:
    """Return when the product got each of its terms, as far as that is known, by normalized term."""
    known = select(SearchTermStart.term, SearchTermStart.since).where(
        SearchTermStart.site_id == site_id, SearchTermStart.product_id == product_id
    )
    return {term: since for term, since in db.session.execute(known)}


def _after_flush(session: Session, _flush: UOWTransaction) -> None:
    if changes := list(_terms_changes(session)):
        record(session, changes)


def _terms_changes(session: Session) -> Iterator[TermsChange]:
    for product in [one for one in session.new if isinstance(one, Product) and one.search_terms]:
        yield TermsChange(product.site_id, product.id, (), product.search_terms, product.updated_at)
    for product in [one for one in session.dirty if isinstance(one, Product)]:
        history = inspect(product).attrs.search_terms.history
        if history.has_changes():
            before = history.deleted[0] if history.deleted else ()
            yield TermsChange(product.site_id, product.id, before or (), product.search_terms, product.updated_at)
