"""The daily counts of crawlers' visits to pages that they may not list, by parameter and family of bots: written batch
by batch, each exactly once, and reported."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from sqlalchemy import ColumnElement, and_, false, func, or_, select

from app.domain.retention.purging import Retention
from app.domain.search_statistics.counting.daily_counts import note_batch
from app.domain.search_statistics.counting.days import day_at
from app.domain.search_statistics.counting.events import EventBatch
from app.domain.search_statistics.counting.queries import site_today
from app.domain.seo.crawlers import OTHERS, CrawlerVisit
from app.domain.seo.models import CrawlerHits
from app.domain.seo.settings import PAGE_PARAMETER, PARAMETER, SeoSettings, stored_settings
from app.domain.shared.clock import Clock
from app.domain.shared.records import upsert
from app.domain.sites.models import Site
from app.extensions import db

MOST_PARAMETERS = 200  # Different names kept per site and day; anybody can invent them without end.
KEPT = timedelta(days=90)  # Today among them.
PERIODS = (7, 30, KEPT.days)
MOST_ROWS = 100
PRICE, PRICE_PARAMETERS = "price", ("price_min", "price_max")
MEANINGS = {
    "": "No parameter (search results, basket)",
    OTHERS: "Other parameters (few visits or very long names)",
}

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
            _add_hits(site_id, day, sums)
    return True


def bound_parameters(sums: Sums, known: Collection[str]) -> Sums:
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


def _add_hits(site_id: int, day: date, sums: Sums) -> None:
    of_day = CrawlerHits.site_id == site_id, CrawlerHits.day == day
    known = frozenset(db.session.scalars(select(CrawlerHits.parameter).where(*of_day).distinct()))
    rows = [
        {"site_id": site_id, "day": day, "family": family, "parameter": parameter, "hits": hits}
        for (family, parameter), hits in sorted(bound_parameters(sums, known).items())
    ]
    statement = upsert(CrawlerHits)
    added = {"hits": CrawlerHits.hits + statement.excluded.hits}
    key = ["site_id", "day", "family", "parameter"]
    db.session.connection().execute(statement.on_conflict_do_update(index_elements=key, set_=added), rows)


@dataclass(frozen=True, slots=True)
class ParameterRow:
    """Visits by family to pages that a parameter keeps out of search engines. `is_filter`: products are filtered,
    sorted or searched by it, so it can never be a mere tracking parameter. `can_be_named`: an admin can decide on
    it."""

    parameter: str
    hits: Mapping[str, int]
    is_filter: bool
    is_tracking: bool
    is_skipped: bool

    @property
    def total(self) -> int:
        return sum(self.hits.values())

    @property
    def families(self) -> list[tuple[str, int]]:
        """Families with their visits, most first."""
        return most_first(self.hits)

    @property
    def meaning(self) -> str:
        return MEANINGS.get(self.parameter, "")

    @property
    def can_be_named(self) -> bool:
        return PARAMETER.fullmatch(self.parameter) is not None

    @property
    def can_be_skipped(self) -> bool:
        """Whether bots can be kept from its pages: all parameters but the page number, as later pages of a list are
        indexable."""
        return self.parameter != PAGE_PARAMETER


@dataclass(frozen=True, slots=True)
class CrawlerReport:
    """The report on crawlers in a period. `families` are those with visits in the period, most first, `rows` the
    parameters with most, `left_out` the number of those with fewer."""

    days: int
    families: tuple[tuple[str, int], ...]
    rows: tuple[ParameterRow, ...]
    left_out: int
    settings: SeoSettings

    @property
    def total(self) -> int:
        return sum(hits for _, hits in self.families)


def crawler_report(clock: Clock, site_id: int, days: int, filters: Collection[str]) -> CrawlerReport:
    """Return the report on crawlers. `filters` are the parameters by which listings are filtered, sorted or
    searched."""
    first = site_today(clock, site_id) - timedelta(days=days - 1)
    query = select(CrawlerHits.parameter, CrawlerHits.family, func.sum(CrawlerHits.hits))
    query = query.where(CrawlerHits.site_id == site_id, CrawlerHits.day >= first)
    rows = db.session.execute(query.group_by(CrawlerHits.parameter, CrawlerHits.family)).all()
    sums = [(parameter, family, int(hits)) for parameter, family, hits in rows]
    return summarize_hits(sums, days, stored_settings(site_id), filters)


def summarize_hits(
    sums: Iterable[tuple[str, str, int]], days: int, settings: SeoSettings, filters: Collection[str]
) -> CrawlerReport:
    """Return the report of (parameter, family, visits). Pure."""
    by_parameter: dict[str, Counter[str]] = {}
    for parameter, family, hits in sums:
        by_parameter.setdefault(parameter, Counter())[family] += hits
    rows = [
        ParameterRow(
            name,
            hits,
            is_filter=name in filters,
            is_tracking=name in settings.tracking,
            is_skipped=set(names_in_addresses(name)) <= set(settings.skipped),
        )
        for name, hits in by_parameter.items()
    ]
    rows.sort(key=lambda row: (-row.total, row.parameter))
    families = tuple(most_first(sum(by_parameter.values(), Counter())))
    return CrawlerReport(days, families, tuple(rows[:MOST_ROWS]), max(0, len(rows) - MOST_ROWS), settings)


def most_first(hits: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(hits.items(), key=lambda pair: (-pair[1], pair[0]))


def names_in_addresses(parameter: str) -> tuple[str, ...]:
    """Return how a parameter of the report is written in addresses: a price by its two ends."""
    return PRICE_PARAMETERS if parameter == PRICE else (parameter,)


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
