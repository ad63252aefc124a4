"""Searches of past days, as they stand once they are counted."""

from __future__ import annotations

from datetime import UTC, date, datetime, time

from app.domain.search.counting.models import SearchDay, SearchWordDay
from app.domain.search.counting.windows import SUMMED, WordChange, include
from app.extensions import db


def count(site_id: int, today: date, day: date, word: str, finds: int | None = 3, **counts: int) -> None:
    """One search of `word` on `day` unless `searches` says how many; all are followed unless `followed` does."""
    searches = counts.get("searches", 1)
    counts = {"searches": searches, "followed": searches} | counts
    change = WordChange(day, word, datetime.combine(day, time(9), UTC), finds, **counts)
    for model, key in ((SearchWordDay, (site_id, day, word)), (SearchDay, (site_id, day))):
        row = db.session.get(model, key) or _empty(model, key, change)
        for name in SUMMED:
            setattr(row, name, getattr(row, name) + getattr(change, name))
    db.session.flush()
    include(site_id, today, [change])


def _empty(model: type, key: tuple, change: WordChange) -> SearchWordDay | SearchDay:
    row = model(site_id=key[0], day=key[1], **dict.fromkeys(SUMMED, 0))
    if isinstance(row, SearchWordDay):
        row.word, row.last_at, row.last_result_count = change.word, change.last_at, change.last_result_count
    else:
        row.words = 0
    db.session.add(row)
    return row
