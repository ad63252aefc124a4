"""How often each redirect was followed: noted as events, and added to its row batch by batch, each exactly once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from sqlalchemy import Date, bindparam, case, or_, update

from app.domain.search_statistics.counting.daily_counts import note_batch
from app.domain.search_statistics.counting.events import EventBatch
from app.domain.search_statistics.counting.spool import EventFormat
from app.domain.seo.crawlers import LARGEST_SPOOL
from app.domain.seo.models import Redirect
from app.domain.shared.clock import Clock
from app.extensions import db


@dataclass(frozen=True, slots=True)
class RedirectHit:
    """A visitor, or a bot, that was sent on by a redirect. `day` is in the site's time zone."""

    redirect_id: int
    day: date


def hit_to_json(hit: RedirectHit) -> list[Any]:
    """Return a hit in the form that `hit_from_json` reads."""
    return [hit.redirect_id, hit.day.isoformat()]


def hit_from_json(value: Any) -> RedirectHit | None:
    """Read a hit from JSON; None for anything else, such as the beginning of a line that a full disk cut off."""
    try:
        redirect_id, day, *_later = value
        return RedirectHit(int(redirect_id), date.fromisoformat(day))
    except (TypeError, ValueError, OverflowError):
        return None


REDIRECT_HITS = EventFormat("redirects", hit_to_json, hit_from_json, LARGEST_SPOOL)


def sums_by_redirect(batch: EventBatch[RedirectHit]) -> Mapping[int, tuple[int, date]]:
    """Return the number of hits and their last day, by redirect. Needs no transaction."""
    hits = Counter(hit.redirect_id for hit in batch.events)
    last = {hit.redirect_id: hit.day for hit in sorted(batch.events, key=lambda hit: hit.day)}
    return {id: (count, last[id]) for id, count in hits.items()}


def write_hits(clock: Clock, batch_id: str, sums: Mapping[int, tuple[int, date]]) -> bool:
    """Add the hits of a batch to their redirects; return False for one that was added before. Hits of redirects that
    are gone are dropped."""
    if not note_batch(clock, batch_id):
        return False
    day = bindparam("day", type_=Date)
    is_later = or_(Redirect.last_hit_on.is_(None), Redirect.last_hit_on < day)
    statement = (
        update(Redirect)
        .where(Redirect.id == bindparam("redirect"))
        .values(hits=Redirect.hits + bindparam("count"), last_hit_on=case((is_later, day), else_=Redirect.last_hit_on))
    )
    rows = [{"redirect": id, "count": count, "day": last} for id, (count, last) in sorted(sums.items())]
    if rows:
        db.session.connection().execute(statement, rows)
    return True
