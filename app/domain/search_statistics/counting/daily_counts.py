"""Write aggregated events into the daily counts, each batch exactly once: searches, and the lists of suggestions that
shoppers were shown. Call it within a transaction."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from typing import Any

from sqlalchemy import func, select

from app.domain.search.serving.plan import LearningMode
from app.domain.search.settings import LEARNING
from app.domain.search_statistics.counting import rolling_sums
from app.domain.search_statistics.counting.aggregation import (
    FOLLOWING,
    REST,
    SUMMED,
    DayWord,
    SiteChanges,
    WordChange,
    capped,
    within_bounds,
)
from app.domain.search_statistics.counting.comparison_counts import write_wins
from app.domain.search_statistics.counting.days import today
from app.domain.search_statistics.counting.events import Event, EventBatch
from app.domain.search_statistics.counting.rolling_sums import add_counts
from app.domain.search_statistics.counting.spool import EventFormat
from app.domain.search_statistics.counting.weekly_counts import write_products, write_rephrased
from app.domain.search_statistics.models import CountedBatch, SearchDay, SearchWordDay, SuggestionDay
from app.domain.shared.clock import Clock
from app.domain.shared.paging import batched
from app.domain.shared.records import upsert
from app.domain.sites.models import Site
from app.domain.sites.settings import settings_of
from app.extensions import db

LARGEST_SUGGESTION_SPOOL = 16 * 1024**2  # Bytes, some 800,000 lists.
ChangesBySite = Mapping[int, SiteChanges]


def note_batch(clock: Clock, batch_id: str) -> bool:
    """Note that a batch is counted, in the transaction that counts it; return False for one that was counted before.
    Where another machine is just counting it, that one is awaited."""
    midnight = clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
    row = upsert(CountedBatch).values(id=sha256(batch_id.encode()).hexdigest(), at=midnight)
    noted = row.on_conflict_do_nothing().returning(CountedBatch.id)
    return db.session.scalar(noted) is not None


def aggregate_by_site(batch: EventBatch[Event]) -> ChangesBySite:
    """Return what a batch changes. Needs no transaction."""
    by_site = defaultdict(list)
    for event in batch.events:
        by_site[event.site_id].append(event)
    return {site_id: SiteChanges.of(events) for site_id, events in by_site.items()}


def write_counts(clock: Clock, batch_id: str, by_site: ChangesBySite, *, advances: bool = True) -> bool:
    """Write the changes of a batch. Return False, and write nothing, for one that was written before. Events of a
    deleted site are dropped. The rolling windows then end today, or, where they should not advance, on their day."""
    if not note_batch(clock, batch_id):
        return False
    zones = db.session.execute(select(Site.id, Site.time_zone).where(Site.id.in_(by_site)).order_by(Site.id))
    for site_id, time_zone in zones.all():
        _write_words(site_id, today(clock, time_zone) if advances else None, by_site[site_id].words)
        write_wins(site_id, by_site[site_id].wins)
        write_rephrased(site_id, by_site[site_id].rephrased)
        if settings_of(site_id)[LEARNING] != LearningMode.OFF:
            write_products(site_id, by_site[site_id].products)
    return True


def _write_words(site_id: int, site_today: date | None, changes: Sequence[WordChange]) -> None:
    """Write the changes of words into the counts of words and days and the windows. The windows are locked first, so
    that machines that count at the same time take turns and none counts a word as new that another is just adding."""
    until = rolling_sums.lock_window(site_id)
    days = {change.day for change in changes}
    counted = select(SearchDay.day, SearchDay.words).where(SearchDay.site_id == site_id, SearchDay.day.in_(days))
    words = {day: number for day, number in db.session.execute(counted)}
    stored = _read_stored(site_id, changes)
    fitting, new = within_bounds(changes, words, stored)
    fitting.sort(key=lambda change: (change.day, change.word))
    written = [capped(change, stored.get((change.day, change.word))) for change in fitting]
    columns = ("day", "word", "last_result_count", *SUMMED, "networks")
    word_rows = [{"site_id": site_id} | {name: getattr(change, name) for name in columns} for change in written]
    add_counts(SearchWordDay, word_rows, also=["networks"])
    add_counts(SearchDay, _day_rows(site_id, written, new), also=["words"])
    rolling_sums.add(site_id, site_today or until, written)


def _read_stored(site_id: int, changes: Iterable[WordChange]) -> dict[DayWord, WordChange]:
    """Return the stored counts of the changes' words and of REST, by day and word, with the columns that `capped`
    needs."""
    by_day: dict[date, list[str]] = defaultdict(lambda: [REST])
    for change in changes:
        by_day[change.day].append(change.word)
    columns = [getattr(SearchWordDay, name) for name in ("day", "word", "followed", *FOLLOWING)]
    found: dict[DayWord, WordChange] = {}
    for day, words in by_day.items():
        for some in batched(words):
            rows = select(*columns).where(
                SearchWordDay.site_id == site_id, SearchWordDay.day == day, SearchWordDay.word.in_(some)
            )
            found |= {(row["day"], row["word"]): WordChange(**row) for row in db.session.execute(rows).mappings()}
    return found


def _day_rows(site_id: int, changes: Iterable[WordChange], new: Counter[date]) -> list[dict[str, Any]]:
    rows: dict[date, dict[str, Any]] = {}
    for change in changes:
        empty = {"site_id": site_id, "day": change.day, "words": new[change.day], **dict.fromkeys(SUMMED, 0)}
        row = rows.setdefault(change.day, empty)
        for name in SUMMED:
            row[name] += getattr(change, name)
    return list(rows.values())


@dataclass(frozen=True, slots=True)
class SuggestionsShown:
    """A list of suggestions that a shopper was shown on a day of the site; not for which words."""

    site_id: int
    day: date


def suggestions_as_json(shown: SuggestionsShown) -> list[Any]:
    """Return the form that `suggestions_from_json` reads."""
    return [shown.site_id, shown.day.isoformat()]


def suggestions_from_json(value: Any) -> SuggestionsShown | None:
    """Return the event of a line; None for anything else, such as the beginning of a line that a full disk cut off."""
    try:
        site_id, day, *_later = value
        return SuggestionsShown(int(site_id), date.fromisoformat(day))
    except (TypeError, ValueError, OverflowError):
        return None


SUGGESTIONS_SHOWN = EventFormat("suggestions", suggestions_as_json, suggestions_from_json, LARGEST_SUGGESTION_SPOOL)


def suggestions_by_day(batch: EventBatch[SuggestionsShown]) -> Mapping[tuple[int, date], int]:
    """Return the number of lists by site and day. Needs no transaction."""
    return Counter((shown.site_id, shown.day) for shown in batch.events)


def write_suggestions(clock: Clock, batch_id: str, by_day: Mapping[tuple[int, date], int]) -> bool:
    """Add to the daily counts, within a transaction. Return False for a batch that was written before; what belongs to
    a deleted site is dropped."""
    if not note_batch(clock, batch_id):
        return False
    sites = frozenset(db.session.scalars(select(Site.id).where(Site.id.in_({site_id for site_id, _ in by_day}))))
    rows = [
        {"site_id": site_id, "day": day, "shown": number}
        for (site_id, day), number in sorted(by_day.items())
        if site_id in sites
    ]
    if rows:
        statement = upsert(SuggestionDay)
        added = {"shown": SuggestionDay.shown + statement.excluded.shown}
        key = ["site_id", "day"]
        db.session.connection().execute(statement.on_conflict_do_update(index_elements=key, set_=added), rows)
    return True


def suggestions_shown(site_id: int, first: date, last: date) -> int:
    """Return how many lists of suggestions were shown from one day to another."""
    shown = select(func.sum(SuggestionDay.shown)).where(
        SuggestionDay.site_id == site_id, SuggestionDay.day.between(first, last)
    )
    return db.session.scalar(shown) or 0
