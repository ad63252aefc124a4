"""Searches of past days, as they stand once they are counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta

from app.domain.search_statistics.counting.aggregation import SUMMED, WordChange
from app.domain.search_statistics.counting.daily_counts import aggregate_by_site, write_counts
from app.domain.search_statistics.counting.events import Event, EventBatch, EventKind
from app.domain.search_statistics.counting.rolling_sums import add
from app.domain.search_statistics.models import SearchDay, SearchProductWeek, SearchWordDay
from app.domain.shared.clock import Clock
from app.domain.shared.memory import week_of
from app.extensions import db


def count_batch(clock: Clock, batch: EventBatch) -> bool:
    return write_counts(clock, batch.id, aggregate_by_site(batch))


def visits(site_id: int, now: datetime, days_ago: int, word: str, next_word: str, number: int = 5) -> tuple[Event, ...]:
    """The events of so many visits that opened nothing from the first search and something from the next, as they pass
    once enough visits share them."""
    day = (now - timedelta(days=days_ago)).date()
    searches = [Event(EventKind.SEARCHED, site_id, words, day, 3, followed=True) for words in (word, next_word)]
    clicked = Event(EventKind.CLICKED, site_id, next_word, day)
    rephrased = Event(EventKind.REPHRASED, site_id, word, day, next_word=next_word, visits=number)
    return (*[*searches, clicked] * number, rephrased)


def count_opens(
    site_id: int,
    today: date,
    word: str,
    product_id: int,
    weeks_ago: Iterable[int] = range(1, 4),
    opens: int = 20,
    bought: int = 0,
) -> None:
    """Opens of a product from the top of a search in each of the weeks, as they stand once they are counted."""
    for ago in weeks_ago:
        week = week_of(today) - timedelta(weeks=ago)
        counts = {"opens": opens, "weight": 100 * opens, "bought": bought}
        db.session.add(SearchProductWeek(site_id=site_id, week=week, word=word, product_id=product_id, **counts))
    db.session.flush()


def count(site_id: int, today: date, day: date, word: str, finds: int | None = 3, **counts: int) -> None:
    """One search of `word` on `day` unless `searches` says how many; all are followed unless `followed` says otherwise,
    and each of another network unless `networks` does."""
    searches = counts.get("searches", 1)
    counts = {"searches": searches, "followed": searches, "networks": searches} | counts
    count_changes(site_id, today, [WordChange(day, word, finds, **counts)])


def count_changes(site_id: int, today: date, changes: Sequence[WordChange]) -> None:
    for change in changes:
        for model, key in ((SearchWordDay, (site_id, change.day, change.word)), (SearchDay, (site_id, change.day))):
            row = db.session.get(model, key) or _empty(model, key, change)
            for name in SUMMED:
                setattr(row, name, getattr(row, name) + getattr(change, name))
            if isinstance(row, SearchWordDay):
                row.networks += change.networks
    db.session.flush()
    add(site_id, today, changes)


def _empty(model: type, key: tuple, change: WordChange) -> SearchWordDay | SearchDay:
    row = model(site_id=key[0], day=key[1], **dict.fromkeys(SUMMED, 0))
    if isinstance(row, SearchWordDay):
        row.word, row.last_result_count = change.word, change.last_result_count
        row.networks = 0
    else:
        row.words = 0
    db.session.add(row)
    return row
