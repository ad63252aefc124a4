"""Report of pages that crawlers read although they may not list them, by parameter and family of bots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from sqlalchemy import func, select

from app.domain.search_statistics.counting.queries import site_today
from app.domain.seo.crawlers.daily_counts import KEPT
from app.domain.seo.crawlers.visits import OTHERS
from app.domain.seo.models import CrawlerHits
from app.domain.seo.settings import PAGE_PARAMETER, PARAMETER, SeoSettings, stored_settings
from app.domain.shared.clock import Clock
from app.extensions import db

PERIODS = (7, 30, KEPT.days)
MOST_ROWS = 100
PRICE, PRICE_PARAMETERS = "price", ("price_min", "price_max")
MEANINGS = {
    "": "No parameter (search results, basket)",
    OTHERS: "Other parameters (few visits or very long names)",
}


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


def report(clock: Clock, site_id: int, days: int, filters: Collection[str]) -> CrawlerReport:
    """Return the report on crawlers. `filters` are the parameters by which listings are filtered, sorted or
    searched."""
    first = site_today(clock, site_id) - timedelta(days=days - 1)
    return report_of(_sums(site_id, first), days, stored_settings(site_id), filters)


def report_of(
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


def _sums(site_id: int, first: date) -> list[tuple[str, str, int]]:
    query = select(CrawlerHits.parameter, CrawlerHits.family, func.sum(CrawlerHits.hits))
    query = query.where(CrawlerHits.site_id == site_id, CrawlerHits.day >= first)
    rows = db.session.execute(query.group_by(CrawlerHits.parameter, CrawlerHits.family)).all()
    return [(parameter, family, int(hits)) for parameter, family, hits in rows]
