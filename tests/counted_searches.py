"""Searches of past days, as they stand once they are counted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta

from app.domain.search_statistics.counting.aggregation import WordChange
from app.domain.search_statistics.counting.daily_counts import aggregate_by_site, write_counts
from app.domain.search_statistics.counting.events import Event, EventKind
from app.domain.search_statistics.counting.models import SearchDay, SearchWordDay
from app.domain.search_statistics.counting.rolling_sums import add
from app.domain.search_statistics.counting.spool import EventBatch
from app.domain.search_statistics.counting.sums import SUMMED
from app.domain.shared.clock import Clock
from app.extensions import db


def count_batch(clock: Clock, batch: EventBatch) -> bool:
    return write_counts(clock, batch.id, aggregate_by_site(batch))


def visit(site_id: int, now: datetime, days_ago: int, word: str, next_word: str) -> tuple[Event, ...]:
    """The events of a visit that opened nothing from the first search and something from the next."""
    at = now - timedelta(days=days_ago)
    day = at.date()
    searches = (Event(EventKind.SEARCHED, site_id, words, day, at, 3, followed=True) for words in (word, next_word))
    clicked = Event(EventKind.CLICKED, site_id, next_word, day, at)
    return (*searches, clicked, Event(EventKind.REPHRASED, site_id, word, day, at, next_word=next_word))


def count(site_id: int, today: date, day: date, word: str, finds: int | None = 3, **counts: int) -> None:
    """One search of `word` on `day` unless `searches` says how many; all are followed unless `followed` says otherwise,
    and each of another network unless `networks` does."""
    searches = counts.get("searches", 1)
    counts = {"searches": searches, "followed": searches, "networks": searches} | counts
    count_changes(site_id, today, [WordChange(day, word, datetime.combine(day, time(9), UTC), finds, **counts)])


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
        row.word, row.last_at, row.last_result_count = change.word, change.last_at, change.last_result_count
        row.networks = 0
    else:
        row.words = 0
    db.session.add(row)
    return row
