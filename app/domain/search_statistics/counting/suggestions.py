"""Count the lists of suggestions that shoppers were shown: a number for each day, apart from the counts of searches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from sqlalchemy import func, select

from app.domain.search_statistics.counting.counted_batches import note_batch
from app.domain.search_statistics.counting.models import SuggestionDay
from app.domain.search_statistics.counting.spool import EventBatch
from app.domain.shared.clock import Clock
from app.domain.shared.upserting import upsert
from app.domain.sites.models import Site
from app.extensions import db


@dataclass(frozen=True, slots=True)
class SuggestionsShown:
    """A list of suggestions that a shopper was shown on a day of the site; not for which words."""

    site_id: int
    day: date


def as_json(shown: SuggestionsShown) -> list[Any]:
    """Return the form that `from_json` reads."""
    return [shown.site_id, shown.day.isoformat()]


def from_json(value: Any) -> SuggestionsShown | None:
    """Return the event of a line; None for anything else, such as the beginning of a line that a full disk cut off."""
    try:
        site_id, day, *_later = value
        return SuggestionsShown(int(site_id), date.fromisoformat(day))
    except (TypeError, ValueError, OverflowError):
        return None


def sums_by_day(batch: EventBatch[SuggestionsShown]) -> Mapping[tuple[int, date], int]:
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
