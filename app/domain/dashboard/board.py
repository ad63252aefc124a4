"""The dashboard of the admin: how the shop does in a period, what needs attention, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from zoneinfo import ZoneInfo

from app.domain.appearance.appearances import appearance_of
from app.domain.appearance.declaration import Appearance
from app.domain.catalogue.queries import CatalogueCounts, ProductRow, counts, products_by_id
from app.domain.dashboard.attention import Attention, needs_attention
from app.domain.dashboard.figures import (
    WEEK,
    BoardPeriod,
    Figure,
    FigureKey,
    sales_figures,
    search_figures,
)
from app.domain.delivery.declaration import Delivery
from app.domain.delivery.deliveries import delivery_of
from app.domain.merchandising.trees import has_categories
from app.domain.orders import queries as orders
from app.domain.orders import sales
from app.domain.orders.sales import RunningOut
from app.domain.pos import reports as tills
from app.domain.pos.reports import Today
from app.domain.relevance.no_results import NoResultsRow, no_results
from app.domain.relevance.overview import Overview, load_overview
from app.domain.search.engine import SearchEngine
from app.domain.search_statistics import reports as searches
from app.domain.search_statistics.reports import TrackingStatus
from app.domain.shared.clock import Clock, ends_at, same_time_before, starts_at
from app.domain.shared.text import numbered
from app.domain.sites.sites import time_zone_of

TOP = 5  # Products.
DAYS_LEFT = 14  # Stock that lasts longer is no concern of today.
MOST_RUNNING_OUT = 6
MOST_WORDS = 5
TRIED_WORDS = 10  # Searches that found nothing, of which those are shown that still do.


@dataclass(frozen=True, slots=True)
class InSight:
    """What a user may see besides search and catalogue: orders with their revenue, and what tills took."""

    orders: bool
    tills: bool


@dataclass(frozen=True, slots=True)
class TopProduct:
    """A product that sold well, in minor units; `revenue` is None for users who may not see orders."""

    product: ProductRow
    units: int
    revenue: int | None


@dataclass(frozen=True, slots=True)
class BestSellers:
    """The products of a period that sold best. `since` is the day since which orders were read, where the period has
    more than are summed up."""

    products: tuple[TopProduct, ...]
    since: date | None


@dataclass(frozen=True, slots=True)
class EndingStock:
    """A product, or its variant of these options, that is sold out soon. `per_day` are the units sold a day."""

    product: ProductRow
    options: str
    stock: int
    per_day: float
    days_left: int

    @property
    def words(self) -> str:
        if self.days_left < 1:
            return "Less than a day left"
        return f"About {numbered(self.days_left, 'day')} left"

    @property
    def rate(self) -> str:
        """The sales per day in words: "1.5 sold a day"."""
        return f"{f'{self.per_day:.1f}'.removesuffix('.0')} sold a day"


@dataclass(frozen=True, slots=True)
class FirstSteps:
    """Which of the steps of a new shop were taken, besides products and the search index."""

    categories: bool
    appearance: bool
    delivery: bool


@dataclass(frozen=True, slots=True)
class Dashboard:
    """The dashboard of a period. `words` found nothing in the last `word_days` days and still find nothing. `tills` is
    None where the shop has none, or for users who may not see them. `first_steps` is None for a shop that can sell."""

    period: BoardPeriod
    currency: str
    counts: CatalogueCounts
    search: Overview
    attention: tuple[Attention, ...]
    figures: tuple[Figure, ...]
    tracking: TrackingStatus
    top: BestSellers
    ending: tuple[EndingStock, ...]
    words: tuple[NoResultsRow, ...]
    word_days: int
    tills: Today | None
    in_sight: InSight
    first_steps: FirstSteps | None


def load_dashboard(
    clock: Clock, engine: SearchEngine, site_id: int, parameters: Mapping[str, str], in_sight: InSight
) -> Dashboard:
    """Return the dashboard of the period that an address names. The number of statements is the same however many
    orders and products there are. While search does not answer, all but the state of search is there."""
    zone = ZoneInfo(time_zone_of(site_id))
    period = BoardPeriod.read(parameters, clock.now().astimezone(zone).date())
    counted, search = counts(site_id), load_overview(clock, engine, site_id)
    tracking = searches.tracking_status(site_id)
    currency, word_days = tracking.currency, max(period.days, WEEK)
    found_nothing = no_results(clock, engine, site_id, word_days, TRIED_WORDS)
    sales_shown = _sales_figures(clock, site_id, currency, period, zone) if in_sight.orders else ()
    waiting = orders.counts_to_act_on(clock, site_id) if in_sight.orders else {}
    return Dashboard(
        period=period,
        currency=currency,
        counts=counted,
        search=search,
        attention=needs_attention(site_id, counted, search, waiting),
        figures=(*sales_shown, *_search_figures(site_id, period, tracking, in_sight)),
        tracking=tracking,
        top=_top_products(site_id, currency, period, zone, in_sight),
        ending=_ending_stock(clock, site_id),
        words=found_nothing.unsolved[:MOST_WORDS],
        word_days=word_days,
        tills=_tills(clock, site_id) if in_sight.tills else None,
        in_sight=in_sight,
        first_steps=_first_steps(site_id) if _is_new_shop(counted, search) else None,
    )


def _is_new_shop(counted: CatalogueCounts, search: Overview) -> bool:
    """Whether the shop cannot sell yet: it has no product, or its index was never built."""
    return counted.products_shown + counted.products_hidden == 0 or search.was_never_built


def _first_steps(site_id: int) -> FirstSteps:
    return FirstSteps(
        categories=has_categories(site_id),
        appearance=appearance_of(site_id) != Appearance(),
        delivery=delivery_of(site_id) != Delivery(),
    )


def _sales_figures(
    clock: Clock, site_id: int, currency: str, period: BoardPeriod, zone: ZoneInfo
) -> tuple[Figure, ...]:
    drawn, until = period.drawn, same_time_before(clock.now(), WEEK, zone)
    by_day = sales.sales_by_day(site_id, currency, (*drawn.before.dates, *drawn.dates), zone)
    begin = starts_at(until.astimezone(zone).date(), zone)
    return sales_figures(period, by_day, sales.sales_between(site_id, currency, begin, until))


def _search_figures(
    site_id: int, period: BoardPeriod, tracking: TrackingStatus, in_sight: InSight
) -> tuple[Figure, ...]:
    """Return the figures of what is counted. Users who see no sales see what was not found instead."""
    if not tracking.searches:
        return ()
    keys = [FigureKey.SEARCHES, *([] if in_sight.orders else [FigureKey.NOTHING])]
    if tracking.clicks:
        keys.append(FigureKey.CONVERSION)
    before = period.drawn.before
    by_day = searches.sums_by_day(site_id, before.first, period.today)
    compares = tracking.since is not None and tracking.since <= before.first
    return search_figures(period, by_day, keys, compares)


def _top_products(site_id: int, currency: str, period: BoardPeriod, zone: ZoneInfo, in_sight: InSight) -> BestSellers:
    begin, end = starts_at(period.summed.first, zone), ends_at(period.today, zone)
    since = sales.latest_since(site_id, begin, end)
    found = sales.top_products(site_id, currency, since, end, TOP, by_revenue=in_sight.orders)
    sold = {one.product_id: one for one in found}
    products = tuple(
        TopProduct(row, sold[row.id].units, sold[row.id].revenue if in_sight.orders else None)
        for row in products_by_id(site_id, list(sold))
    )
    return BestSellers(products, since.astimezone(zone).date() if since > begin else None)


def _ending_stock(clock: Clock, site_id: int) -> tuple[EndingStock, ...]:
    found = sales.running_out(site_id, clock.now(), DAYS_LEFT, MOST_RUNNING_OUT)
    rows = {row.id: row for row in products_by_id(site_id, [one.product_id for one in found])}
    return tuple(_stock_of(rows[one.product_id], one) for one in found if one.product_id in rows)


def _stock_of(row: ProductRow, one: RunningOut) -> EndingStock:
    return EndingStock(row, ", ".join(one.options.values()), one.stock, one.per_day, one.days_left)


def _tills(clock: Clock, site_id: int) -> Today | None:
    """Return what tills took today; None for a shop that has no agents and took nothing."""
    if not tills.has_agents(site_id):
        return None
    return tills.figures_of_today(clock, site_id)
