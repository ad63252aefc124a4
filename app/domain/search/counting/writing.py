"""Writes batches of events into the daily counts, each exactly once. Call it within a transaction."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from sqlalchemy import case, select
from sqlalchemy.dialects import postgresql, sqlite

from app.domain.search.counting import windows
from app.domain.search.counting.days import today
from app.domain.search.counting.models import CountedBatch, SearchDay, SearchWordDay
from app.domain.search.counting.spool import Batch
from app.domain.search.counting.tally import FOLLOWING, REST, DayWord, believable, tally, within_bounds
from app.domain.search.counting.windows import SUMMED, WordChange
from app.domain.shared.clock import Clock
from app.domain.sites.models import Site
from app.extensions import db

AT_ONCE = 500  # Rows of a statement.
LATEST = ("last_at", "last_result_count")


Tallied = Mapping[int, Sequence[WordChange]]  # By site.


def count_batch(clock: Clock, batch: Batch) -> bool:
    """What `count_tallied` does with the batch as `tallied` gives it."""
    return count_tallied(clock, batch.id, tallied(batch))


def tallied(batch: Batch) -> Tallied:
    """What a batch changes. Needs no transaction."""
    by_site = defaultdict(list)
    for event in batch.events:
        by_site[event.site_id].append(event)
    return {site_id: tally(events) for site_id, events in by_site.items()}


def count_tallied(clock: Clock, batch_id: str, by_site: Tallied) -> bool:
    """False for a batch that is in the counts already. Events of a site that is gone count nowhere."""
    if db.session.get(CountedBatch, batch_id) is not None:
        return False
    db.session.add(CountedBatch(id=batch_id, at=clock.now()))
    zones = db.session.execute(select(Site.id, Site.time_zone).where(Site.id.in_(by_site)).order_by(Site.id))
    for site_id, time_zone in zones.all():
        _count(site_id, today(clock, time_zone), by_site[site_id])
    return True


def _count(site_id: int, site_today: date, changes: Sequence[WordChange]) -> None:
    """The site's windows are held first: machines that count at the same time take turns, so that none counts a word
    as new to the day that another is just adding."""
    windows.hold(site_id)
    days = {change.day for change in changes}
    full = select(SearchDay.day, SearchDay.words).where(SearchDay.site_id == site_id, SearchDay.day.in_(days))
    words = {day: number for day, number in db.session.execute(full)}
    stored = _stored(site_id, changes)
    fitting, new = within_bounds(changes, words, stored)
    fitting.sort(key=lambda change: (change.day, change.word))
    kept = [believable(change, stored.get((change.day, change.word))) for change in fitting]
    _add(SearchWordDay, [_row(site_id, change) for change in kept], ("site_id", "day", "word"), SUMMED)
    _add(SearchDay, _day_rows(site_id, kept, new), ("site_id", "day"), (*SUMMED, "words"))
    windows.include(site_id, site_today, kept)


def _stored(site_id: int, changes: Iterable[WordChange]) -> dict[DayWord, WordChange]:
    """Those of the words that have a row on their day, and REST, with what `believable` asks for."""
    by_day: dict[date, list[str]] = defaultdict(lambda: [REST])
    for change in changes:
        by_day[change.day].append(change.word)
    columns = [getattr(SearchWordDay, name) for name in ("day", "word", "last_at", "followed", *FOLLOWING)]
    found: dict[DayWord, WordChange] = {}
    for day, words in by_day.items():
        for some in _portions(words):
            rows = select(*columns).where(
                SearchWordDay.site_id == site_id, SearchWordDay.day == day, SearchWordDay.word.in_(some)
            )
            found |= {(row["day"], row["word"]): WordChange(**row) for row in db.session.execute(rows).mappings()}
    return found


def _row(site_id: int, change: WordChange) -> dict[str, Any]:
    latest = {name: getattr(change, name) for name in LATEST}
    return {"site_id": site_id, "day": change.day, "word": change.word, **_sums(change), **latest}


def _day_rows(site_id: int, changes: Iterable[WordChange], new: Counter[date]) -> list[dict[str, Any]]:
    rows: dict[date, dict[str, Any]] = {}
    for change in changes:
        empty = {"site_id": site_id, "day": change.day, "words": new[change.day], **dict.fromkeys(SUMMED, 0)}
        row = rows.setdefault(change.day, empty)
        for name, number in _sums(change).items():
            row[name] += number
    return list(rows.values())


def _sums(change: WordChange) -> dict[str, int]:
    return {name: getattr(change, name) for name in SUMMED}


def _add(model: Any, rows: Sequence[dict[str, Any]], key: Sequence[str], summed: Sequence[str]) -> None:
    """Adds to the rows that are there, makes the others. What a word found last changes with a later search alone."""
    insert = postgresql.insert if db.session.get_bind().dialect.name == "postgresql" else sqlite.insert
    if not rows:
        return
    statement = insert(model)
    coming = statement.excluded
    changed: dict[str, Any] = {name: getattr(model, name) + coming[name] for name in summed}
    if model is SearchWordDay:
        later = (coming.searches > 0) & (coming.last_at >= model.last_at)
        changed |= {name: case((later, coming[name]), else_=getattr(model, name)) for name in LATEST}
    # One statement, sent for each row: one with the values of many would take longer to write than to run.
    db.session.connection().execute(statement.on_conflict_do_update(index_elements=list(key), set_=changed), list(rows))


def _portions(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    yield from (rows[start : start + AT_ONCE] for start in range(0, len(rows), AT_ONCE))
