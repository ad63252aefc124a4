"""Write crawlers' visits into the daily counts, each batch exactly once. Call the writing function in a transaction."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import date, timedelta

from sqlalchemy import ColumnElement, and_, false, or_, select

from app.domain.retention.purging import Retention
from app.domain.search_statistics.counting.daily_counts import note_batch
from app.domain.search_statistics.counting.days import day_at
from app.domain.search_statistics.counting.events import EventBatch
from app.domain.seo.crawlers.visits import OTHERS, CrawlerVisit
from app.domain.seo.models import CrawlerHits
from app.domain.shared.clock import Clock
from app.domain.shared.upserting import upsert
from app.domain.sites.models import Site
from app.extensions import db

MOST_PARAMETERS = 200  # Different names kept per site and day; anybody can invent them without end.
KEPT = timedelta(days=90)  # Today among them.

Sums = Counter[tuple[str, str]]  # By family and parameter.


def sums_by_day(batch: EventBatch[CrawlerVisit]) -> Mapping[tuple[int, date], Sums]:
    """Return the visits of a batch by site and day. Needs no transaction."""
    sums: dict[tuple[int, date], Sums] = defaultdict(Counter)
    for visit in batch.events:
        sums[visit.site_id, visit.day][visit.family, visit.parameter] += 1
    return sums


def write_visits(clock: Clock, batch_id: str, by_day: Mapping[tuple[int, date], Sums]) -> bool:
    """Add the visits of a batch to the daily counts; return False for one that was added before. Visits of a deleted
    site are dropped."""
    if not note_batch(clock, batch_id):
        return False
    sites = frozenset(db.session.scalars(select(Site.id).where(Site.id.in_({site_id for site_id, _ in by_day}))))
    for (site_id, day), sums in sorted(by_day.items()):
        if site_id in sites:
            _write(site_id, day, sums)
    return True


def within_bounds(sums: Sums, known: Collection[str]) -> Sums:
    """Return the sums with the parameters that exceed MOST_PARAMETERS of a day as OTHERS; those with most visits keep
    their names. `known` are those that the day has already. Pure."""
    new: Counter[str] = Counter()
    for (_, parameter), hits in sums.items():
        if parameter not in known:
            new[parameter] += hits
    room = max(0, MOST_PARAMETERS - len(known))
    kept = {parameter for parameter, _ in new.most_common(room)} | set(known) | {OTHERS, ""}
    bounded: Sums = Counter()
    for (family, parameter), hits in sums.items():
        bounded[family, parameter if parameter in kept else OTHERS] += hits
    return bounded


def _write(site_id: int, day: date, sums: Sums) -> None:
    of_day = CrawlerHits.site_id == site_id, CrawlerHits.day == day
    known = frozenset(db.session.scalars(select(CrawlerHits.parameter).where(*of_day).distinct()))
    rows = [
        {"site_id": site_id, "day": day, "family": family, "parameter": parameter, "hits": hits}
        for (family, parameter), hits in sorted(within_bounds(sums, known).items())
    ]
    statement = upsert(CrawlerHits)
    added = {"hits": CrawlerHits.hits + statement.excluded.hits}
    key = ["site_id", "day", "family", "parameter"]
    db.session.connection().execute(statement.on_conflict_do_update(index_elements=key, set_=added), rows)


def _is_old(sites: Iterable[tuple[int, date]]) -> ColumnElement[bool]:
    of_sites = (and_(CrawlerHits.site_id == id, CrawlerHits.day <= today - KEPT) for id, today in sites)
    return or_(false(), *of_sites)


RETENTION = Retention(
    "daily counts of crawlers",
    CrawlerHits,
    dated=CrawlerHits.day,
    is_old=lambda now: _is_old(
        (id, day_at(now, zone)) for id, zone in db.session.execute(select(Site.id, Site.time_zone))
    ),
)
