"""Visits of crawlers, from the user agent to the report."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select

from app.domain.search.listings.listing import is_listing_parameter, listing_parameters
from app.domain.search_statistics.counting.events import EventBatch
from app.domain.search_statistics.counting.file_spool import FileSpool
from app.domain.search_statistics.counting.queries import site_today
from app.domain.seo.crawler_hits import (
    MOST_PARAMETERS,
    MOST_ROWS,
    RETENTION,
    bound_parameters,
    crawler_report,
    names_in_addresses,
    summarize_hits,
    sums_by_day,
    write_visits,
)
from app.domain.seo.crawlers import (
    CRAWLER_VISITS,
    OTHER,
    OTHERS,
    CrawlerVisit,
    family_of,
    is_browser,
    parameter_of,
    visit_from_json,
    visit_to_json,
)
from app.domain.seo.models import CrawlerHits
from app.domain.seo.settings import SeoSettings
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_site
from tests.fakes.clock import StoppedClock
from tests.purging import purged

DAY = date(2026, 11, 20)
NOTHING_SET = SeoSettings(3, True, False, (), ())


@pytest.mark.parametrize(
    ("agent", "family"),
    [
        ("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Googlebot"),
        ("Mozilla/5.0 AppleWebKit/537.36 (compatible; bingbot/2.0) Chrome/116 Safari/537.36", "Bingbot"),
        ("DuckDuckBot/1.1", "DuckDuckBot"),
        ("Mozilla/5.0 (Macintosh) Safari/600.2.5 (Applebot/0.1)", "Applebot"),
        ("Mozilla/5.0 (compatible; YandexBot/3.0)", "YandexBot"),
        ("Mozilla/5.0 (compatible; Baiduspider/2.0)", "Baiduspider"),
        ("Mozilla/5.0 (compatible; GPTBot/1.2)", "GPTBot"),
        ("Mozilla/5.0 (compatible; ClaudeBot/1.0)", "ClaudeBot"),
        ("Mozilla/5.0 (compatible; PerplexityBot/1.0)", "PerplexityBot"),
        ("Mozilla/5.0 (Linux) (compatible; Bytespider)", "Bytespider"),
        ("Mozilla/5.0 (compatible; AhrefsBot/7.0)", "AhrefsBot"),
        ("Mozilla/5.0 (compatible; SemrushBot/7~bl)", "SemrushBot"),
        ("SomeCrawler/1.0", OTHER),
        ("Mozilla/5.0 (X11; Linux x86_64) Firefox/120.0", None),
        ("Mozilla/5.0 (Linux; CUBOT X30) Chrome/120 Mobile Safari/537.36", None),
        ("", None),
    ],
)
def test_families_are_known_by_their_markers(agent: str, family: str | None):
    assert family_of(agent) == family


@pytest.mark.parametrize(
    ("agent", "shopper"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", True),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 Version/18.1 Safari/604.1", True),
        ("Mozilla/5.0 (Linux; CUBOT X30) Chrome/120 Mobile Safari/537.36", True),
        ("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", False),
        ("curl/8.0", False),
        ("Go-http-client/2.0", False),
        ("", False),
    ],
)
def test_only_a_browser_is_a_person_s(agent: str, shopper: bool):
    assert is_browser(agent) is shopper


@pytest.mark.parametrize(
    ("reason", "parameter"),
    [
        ("facet_parameter:colour", "colour"),
        ("facet_parameter:" + "x" * 64, "x" * 64),
        ("facet_parameter:" + "x" * 65, OTHERS),
        ("facet_parameter:a\nb", OTHERS),
        ("search_words", "q"),
        ("sort_parameter", "sort"),
        ("page_size_parameter", "pageSizeOverride"),
        ("search_results", ""),
        ("not_for_search_engines", ""),
    ],
)
def test_the_parameter_that_decided_is_counted(reason: str, parameter: str):
    assert parameter_of(reason) == parameter


def visit(site_id: int = 1, parameter: str = "ref", family: str = "Googlebot", day: date = DAY) -> CrawlerVisit:
    return CrawlerVisit(site_id, day, family, parameter)


def test_a_visit_is_written_and_read_again_and_anything_else_is_none():
    assert visit_from_json(visit_to_json(visit())) == visit()
    assert [visit_from_json(value) for value in (None, 3, [1], [1, "x", "a", "b"], ["x", "2026-11-20", "a", "b"])] == [
        None
    ] * 5


def test_visits_wait_in_a_spool_that_outlasts_the_process(tmp_path: Path):
    FileSpool(CRAWLER_VISITS, tmp_path).note([visit(), visit(parameter="page")])

    with FileSpool(CRAWLER_VISITS, tmp_path).batches() as batches:
        assert [batch.events for batch in batches] == [(visit(), visit(parameter="page"))]


def test_a_day_keeps_so_many_names_and_those_with_most_visits_first():
    sums = Counter({("Googlebot", f"n{number}"): number + 1 for number in range(MOST_PARAMETERS + 50)})

    bounded = bound_parameters(sums, known=())

    names = {parameter for _, parameter in bounded}
    assert len(names) == MOST_PARAMETERS + 1
    assert f"n{MOST_PARAMETERS + 49}" in names and "n0" not in names
    assert bounded["Googlebot", OTHERS] == sum(range(1, 51))
    assert bounded.total() == sums.total()


def test_names_that_a_day_knows_stay_when_it_is_full():
    known = [f"n{number}" for number in range(MOST_PARAMETERS)]

    bounded = bound_parameters(Counter({("Bingbot", "n7"): 1, ("Bingbot", "new"): 9, ("Bingbot", ""): 2}), known)

    assert bounded == {("Bingbot", "n7"): 1, ("Bingbot", OTHERS): 9, ("Bingbot", ""): 2}


def test_a_report_has_most_visited_first_and_says_what_is_decided_already():
    set_already = SeoSettings(3, True, False, ("ref",), ("price_min", "price_max"))
    sums = [
        ("ref", "Bingbot", 2),
        ("colour", "Googlebot", 9),
        ("price", OTHER, 3),
        ("", "Googlebot", 1),
        ("a b", OTHER, 1),
    ]

    found = summarize_hits(sums, 30, set_already, {"colour", "price"})

    assert [row.parameter for row in found.rows] == ["colour", "price", "ref", "", "a b"]
    colour, price, ref, nothing, odd = found.rows
    assert colour.is_filter and price.is_filter and not ref.is_filter
    assert ref.is_tracking and not colour.is_tracking
    assert price.is_skipped and not ref.is_skipped
    assert not nothing.can_be_named and not odd.can_be_named and ref.can_be_named
    assert found.families == (("Googlebot", 10), (OTHER, 4), ("Bingbot", 2))
    assert colour.families == [("Googlebot", 9)]
    assert found.total == 16


def test_a_report_is_no_longer_than_people_read():
    found = summarize_hits([(f"n{number}", OTHER, 1) for number in range(MOST_ROWS + 3)], 7, NOTHING_SET, [])

    assert (len(found.rows), found.left_out, found.total) == (MOST_ROWS, 3, MOST_ROWS + 3)


def test_filters_are_known_by_all_their_spellings():
    assert {"colour", "weight_min", "weight_max", "price_min", "q", "sort"} <= listing_parameters(
        {"colour"}, {"weight"}
    )
    assert "weight" not in listing_parameters({"colour"}, {"weight"}), "a number is chosen by its ends"
    known = listing_parameters({"colour", "size_min"}, {"weight"})
    for name in (*known, "weight", "colour_min", "size", "size_max", "utm_source", ""):
        assert is_listing_parameter(name, {"colour", "size_min"}, {"weight"}) == (name in known), name
    assert names_in_addresses("price") == ("price_min", "price_max")
    assert names_in_addresses("ref") == ("ref",)


@pytest.mark.usefixtures("context")
class TestInTheDatabase:
    @pytest.fixture
    def site_id(self) -> int:
        with transaction():
            return make_site().id

    def write(self, clock: StoppedClock, name: str, *visits: CrawlerVisit) -> bool:
        with transaction():
            return write_visits(clock, name, sums_by_day(EventBatch(name, visits)))

    def test_batches_add_up_and_each_counts_once(self, clock: StoppedClock, site_id: int):
        assert self.write(clock, "a", visit(site_id), visit(site_id), visit(site_id, family="Bingbot"))
        assert not self.write(clock, "a", visit(site_id))
        assert self.write(clock, "b", visit(site_id))

        rows = db.session.execute(select(CrawlerHits.family, CrawlerHits.hits).order_by(CrawlerHits.family)).all()
        assert [tuple(row) for row in rows] == [("Bingbot", 1), ("Googlebot", 3)]

    def test_visits_of_a_site_that_is_gone_are_dropped(self, clock: StoppedClock, site_id: int):
        assert self.write(clock, "a", visit(site_id + 1))
        assert db.session.scalar(select(func.count()).select_from(CrawlerHits)) == 0

    def test_a_hundred_thousand_invented_names_leave_a_table_of_some_hundred_rows(
        self, clock: StoppedClock, site_id: int
    ):
        for part in range(10):
            invented = (visit(site_id, f"x{part}-{number}") for number in range(10_000))
            self.write(clock, f"batch {part}", *invented)

        names = db.session.scalar(select(func.count()).select_from(CrawlerHits))
        assert names == MOST_PARAMETERS + 1
        assert db.session.scalar(select(func.sum(CrawlerHits.hits))) == 100_000

    def test_a_report_has_the_days_that_were_asked_for(self, clock: StoppedClock, site_id: int):
        today = site_today(clock, site_id)
        self.write(clock, "a", *(visit(site_id, day=today - timedelta(days=ago)) for ago in (0, 6, 7, 29, 30)))

        assert [crawler_report(clock, site_id, days, []).total for days in (7, 30, 90)] == [2, 4, 5]

    def test_counts_are_kept_for_ninety_days(self, clock: StoppedClock, site_id: int):
        today = site_today(clock, site_id)
        self.write(clock, "a", *(visit(site_id, day=today - timedelta(days=ago)) for ago in (0, 89, 90)))

        assert purged(clock, RETENTION) == 1
        assert crawler_report(clock, site_id, 90, []).total == 2
