"""The lists of searches."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.domain.search_statistics import reports
from app.domain.search_statistics.counting import rolling_sums
from app.domain.search_statistics.counting.queries import site_today
from app.domain.search_statistics.measures import ListName, ListRequest, Period, SortKey
from app.domain.sites.settings import change_settings
from app.transaction import transaction
from tests.counted_searches import count
from tests.factories import make_site
from tests.fakes.clock import StoppedClock

pytestmark = pytest.mark.usefixtures("context")


@pytest.fixture
def site_id(context: None) -> int:
    with transaction():
        return make_site().id


@pytest.fixture
def month(clock: StoppedClock, site_id: int) -> Period:
    return Period(30, site_today(clock, site_id))


def counted(site_id: int, period: Period, word: str, days_ago: int = 0, finds: int | None = 3, **counts: int) -> None:
    with transaction():
        count(site_id, period.today, period.today - timedelta(days=days_ago), word, finds, **counts)


def words(site_id: int, period: Period, name: ListName) -> list[str]:
    return [row.word for row in reports.first_rows(site_id, period, [name], 10)[name]]


def test_top_searches_are_the_most_common_of_the_period(site_id: int, month: Period) -> None:
    counted(site_id, month, "stove", searches=5)
    counted(site_id, month, "tent", searches=3)
    counted(site_id, month, "tent", days_ago=29, searches=3)
    counted(site_id, month, "boots", days_ago=30, searches=100)
    counted(site_id, month, "", searches=1000)
    assert words(site_id, month, ListName.TOP) == ["tent", "stove"]
    assert words(site_id, Period(7, month.today), ListName.TOP) == ["stove", "tent"]
    assert words(site_id, Period(90, month.today), ListName.TOP) == ["boots", "tent", "stove"]


def test_what_found_nothing_is_listed_with_what_it_finds_now(site_id: int, month: Period) -> None:
    counted(site_id, month, "wellies", days_ago=1, finds=0, searches=4, found_nothing=4)
    counted(site_id, month, "wellies", finds=7)
    counted(site_id, month, "tent", searches=9)
    (row,) = reports.first_rows(site_id, month, [ListName.NOTHING], 10)[ListName.NOTHING]
    assert (row.word, row.sums.found_nothing, row.sums.searches, row.finds) == ("wellies", 4, 5, 7)


@pytest.mark.parametrize(
    ("counts", "finds", "listed"),
    [
        ({"searches": 10, "clicked": 0}, 3, True),
        ({"searches": 9, "clicked": 0}, 3, False),
        ({"searches": 100, "clicked": 9}, 3, True),
        ({"searches": 100, "clicked": 10}, 3, False),
        ({"searches": 100, "followed": 20, "clicked": 2}, 3, False),
        ({"searches": 100, "followed": 0, "clicked": 0}, 3, False),
        ({"searches": 100, "followed": 9, "clicked": 0}, 3, True),
        ({"searches": 100, "followed": 1, "clicked": 1}, 3, False),
        ({"searches": 10, "clicked": 0}, 0, False),
        ({"searches": 10, "clicked": 0}, None, False),
    ],
)
def test_rarely_clicked_is_what_is_searched_often_finds_products_and_is_clicked_under_ten_per_cent(
    site_id: int, month: Period, counts: dict[str, int], finds: int | None, listed: bool
) -> None:
    counted(site_id, month, "tent", finds=finds, **counts)
    assert bool(words(site_id, month, ListName.RARELY)) is listed


def test_a_list_can_be_filtered_ordered_and_paged(site_id: int, month: Period) -> None:
    with transaction():
        for number in range(60):
            count(site_id, month.today, month.today, f"tent {number:02}", searches=60 - number, revenue=number)
    listing = ListRequest.read(ListName.LEADS, {"p": "2", "sort": "revenue", "q": "TENT"})
    page = reports.page_of(site_id, month, listing)
    assert (page.total_items, page.total_pages, len(page.items)) == (60, 2, 10)
    assert page.items[0].word == "tent 09"
    assert [row.word for row in reports.every_row(site_id, month, ListRequest.read(ListName.TOP, {"q": "t 5"}))] == [
        f"tent {number}" for number in range(50, 60)
    ]
    assert reports.page_of(site_id, month, ListRequest.read(ListName.TOP, {"q": "%"})).total_items == 0


def test_the_trend_of_a_row_is_of_what_its_list_is_about(site_id: int, month: Period) -> None:
    counted(site_id, month, "tent", days_ago=29, searches=2, found_nothing=2)
    counted(site_id, month, "tent", searches=8)
    report = reports.with_trends(
        site_id,
        month,
        reports.first_rows(site_id, month, (ListName.TOP, ListName.NOTHING), 1),
    )
    ends = {name: (rows[0].trend[0], rows[0].trend[-1], len(rows[0].trend)) for name, rows in report.items()}
    assert ends == {ListName.TOP: (2, 8, 30), ListName.NOTHING: (2, 0, 30)}


def test_a_list_is_right_although_the_day_is_over_and_the_sums_are_old(site_id: int, month: Period) -> None:
    counted(site_id, month, "tent", days_ago=29, searches=5)
    counted(site_id, month, "stove", searches=2)
    tomorrow = Period(30, month.today + timedelta(days=1))
    assert words(site_id, tomorrow, ListName.TOP) == ["stove"]
    with transaction():
        rolling_sums.advance(site_id, tomorrow.today)
    assert words(site_id, tomorrow, ListName.TOP) == ["stove"]


def test_another_site_has_its_own_lists(site_id: int, month: Period) -> None:
    with transaction():
        other = make_site("other.localhost").id
    counted(other, month, "canary", searches=10)
    for name in ListName:
        assert words(site_id, month, name) == []
    assert words(other, month, ListName.TOP) == ["canary"]


def test_a_report_compares_only_with_a_period_that_was_counted_whole(
    site_id: int, month: Period, clock: StoppedClock
) -> None:
    counted(site_id, month, "tent", days_ago=58, searches=4)
    counted(site_id, month, "tent", searches=5)
    report = reports.report(clock, site_id, 30)
    assert report.measures[0].comparison is None and not report.began_within
    counted(site_id, month, "tent", days_ago=59)
    assert reports.report(clock, site_id, 30).measures[0].comparison is not None
    assert reports.report(clock, site_id, 90).began_within


def test_searches_of_today_are_unknown_while_they_are_not_counted(
    site_id: int, month: Period, clock: StoppedClock
) -> None:
    counted(site_id, month, "tent", searches=4)
    assert reports.searches_today(clock, site_id) == 4
    with transaction():
        change_settings(site_id, {"search-term-tracking-enabled": False})
    assert reports.searches_today(clock, site_id) is None


def test_an_address_that_says_nonsense_is_the_usual_list() -> None:
    listing = ListRequest.read(ListName.NOTHING, {"days": "8", "sort": "word; drop", "p": "-1", "q": "\0"})
    assert (listing.days, listing.order, listing.page, listing.words) == (30, SortKey.NOTHING, 1, "")
    assert listing.query(page=3) == "days=30&p=3"
