"""The Analytics pages, their tables for spreadsheets, and what the Overview tells of them."""

from __future__ import annotations

import csv
from collections.abc import Callable
from datetime import timedelta
from io import StringIO

import pytest
from flask import Flask

from app.domain.search.engine import SearchContext
from app.domain.search.index.rebuild import rebuild
from app.domain.search_statistics.counting.queries import site_today
from app.domain.search_statistics.models import SuggestionDay
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.jobs.search_statistics import LOOK_EVERY, StaleWindows, drain
from app.transaction import transaction
from tests.counted_searches import count
from tests.factories import make_site
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient
from tests.searching import request
from tests.statements import statements

PAGE = "/admin/search/analytics"
Counted = Callable[..., None]


@pytest.fixture
def counted(app: Flask, site_id: int, clock: StoppedClock) -> Counted:
    def count_some(word: str, days_ago: int = 0, finds: int | None = 3, site: int = site_id, **counts: int) -> None:
        with app.app_context(), transaction():
            today = site_today(clock, site)
            count(site, today, today - timedelta(days=days_ago), word, finds, **counts)

    return count_some


@pytest.fixture
def switched(app: Flask, site_id: int) -> Callable[..., None]:
    def switch(**settings: bool) -> None:
        with app.app_context(), transaction():
            change_settings(site_id, {name.replace("_", "-"): value for name, value in settings.items()})

    return switch


def text(browser: PageClient, path: str = PAGE) -> str:
    browser.get(path)
    return " ".join(browser.client.get(path).text.split())


def links(browser: PageClient, path: str) -> list[str]:
    return [link["href"] for link in browser.get(path).all("a") if "href" in link]


def test_before_any_search_the_page_says_what_it_is_for(signed_in) -> None:
    assert "No search was counted yet" in text(signed_in())


def test_every_measure_and_list_of_the_period_is_shown(signed_in, counted: Counted) -> None:
    counted("kettle", searches=40, clicked=10, added_to_basket=4, ordered=2, revenue=12_345)
    counted("wellies", days_ago=6, finds=0, searches=8, found_nothing=8)
    counted("stove", days_ago=7, searches=99)
    html = text(signed_in(), f"{PAGE}?days=7")
    assert "stove" not in html and "£123.45" in html
    for result in ("48", "16.7%", "20.8%", "8.3%", "4.2%"):
        assert f">{result}<" in html
    assert html.count('class="chart"') == 6 and html.count('class="spark"') == 5


def test_today_is_drawn_and_listed_as_a_day_that_is_not_over(signed_in, counted: Counted) -> None:
    counted("kettle", searches=4)
    counted("kettle", days_ago=1, searches=30)
    html = text(signed_in(), f"{PAGE}?days=7")
    assert "November, so far: 4</title>" in html and html.count('class="now so-far"') == 6
    assert html.count('class="so-far"') == 1 + html.count('class="spark"'), "of the key too"
    assert 'so far</th><td class="n">4</td>' in html and "Today is not over" not in html, "there is no period before"


def test_rows_open_the_page_that_mends_them_with_the_word_filled_in(signed_in, counted: Counted) -> None:
    counted("rain & “coat”", finds=0, searches=12, found_nothing=12)
    counted("50% off?", searches=10)
    nothing = links(signed_in(), f"{PAGE}/found-nothing")
    word = "rain+%26+%E2%80%9Ccoat%E2%80%9D"
    for address in (f"/synonyms?word={word}", f"/terms?term={word}", f"/test?q={word}"):
        assert f"/admin/search{address}" in nothing
    rarely = links(signed_in(), f"{PAGE}/rarely-clicked")
    for address in ("/synonyms?word=50%25+off%3F", "/ranking/new?term=50%25+off%3F", "/test?q=50%25+off%3F"):
        assert f"/admin/search{address}" in rarely


@pytest.mark.parametrize("path", [f"{PAGE}/top", f"{PAGE}/leads-to", "/admin/search"])
def test_a_search_that_finds_nothing_is_offered_what_helps_it_in_every_list(
    signed_in, counted: Counted, path: str
) -> None:
    counted("wellies", finds=0, searches=12, followed=12)
    shown = links(signed_in(), path)
    assert {"/admin/search/synonyms?word=wellies", "/admin/search/terms?term=wellies"} <= set(shown)
    assert "/admin/search/ranking/new?term=wellies" not in shown


@pytest.mark.parametrize("address", ["synonyms?word=", "terms?term=", "ranking/new?term=", "test?q="])
def test_the_page_that_a_row_opens_has_the_word_filled_in(signed_in, counted: Counted, address: str) -> None:
    page = signed_in().get(f"/admin/search/{address}rain+%26+coat%3F")
    typed = [field.get("value") for field in page.all("input")]
    assert "rain & coat?" in typed or "rain & coat?" in page.texts.get("textarea", "")


def test_what_shoppers_typed_is_never_markup(signed_in, counted: Counted) -> None:
    counted("<img src=x onerror=alert(1)>", finds=0, found_nothing=1)
    for path in (PAGE, f"{PAGE}/top", "/admin/search"):
        assert "<img src=x" not in text(signed_in(), path)


def test_while_searches_are_not_counted_the_page_explains_it(signed_in, counted: Counted, switched) -> None:
    switched(search_term_tracking_enabled=False)
    page = text(signed_in())
    assert "Searches are not counted" in page and 'href="/admin/settings/search"' in page
    assert "What was counted before" not in page
    counted("kettle")
    page = text(signed_in())
    assert "What was counted before is still shown" in page and "kettle" in page
    overview = text(signed_in(), "/admin/search")
    assert "Searches today" not in overview and "Searches are not counted" in overview and "kettle" not in overview


def test_while_clicks_are_not_recorded_the_page_shows_searches_alone(signed_in, counted: Counted, switched) -> None:
    switched(search_click_tracking_enabled=False)
    counted("kettle", searches=50, clicked=1)
    page = text(signed_in())
    assert "Only searches are counted" in page and 'href="/admin/settings/search"' in page
    assert page.count('class="chart"') == 2
    assert "rarely clicked" not in page and 'id="leads-to"' not in page
    assert "Clicks are not recorded" in text(signed_in(), f"{PAGE}/leads-to")


def test_while_clicks_are_not_recorded_no_table_has_them(signed_in, counted: Counted, switched) -> None:
    switched(search_click_tracking_enabled=False)
    counted("kettle", searches=50, clicked=1)
    browser = signed_in()
    for name, columns in (("top", 5), ("found-nothing", 5), ("days", 3)):
        header, *_ = csv.reader(StringIO(browser.client.get(f"{PAGE}/{name}.csv").text.removeprefix("\ufeff")))
        assert header[1:3] == ["Searches", "Found nothing"] and len(header) == columns
    for name in ("rarely-clicked", "leads-to"):
        answer = browser.client.get(f"{PAGE}/{name}.csv")
        assert answer.status_code == 409 and "Record Search Clicks and Sales" in answer.text


def test_a_list_is_filtered_in_place(signed_in, counted: Counted) -> None:
    counted("kettle")
    counted("stove")
    answer = signed_in().client.get(f"{PAGE}/top?q=sto", headers={"HX-Request": "true"}).text
    assert answer.lstrip().startswith('<div id="results"') and "stove" in answer and "kettle" not in answer
    assert "No search matches" in text(signed_in(), f"{PAGE}/top?q=boots")
    assert "Nothing on page 9" in text(signed_in(), f"{PAGE}/top?p=9")


def test_a_list_that_does_not_exist_is_not_found(signed_in) -> None:
    signed_in().get(f"{PAGE}/secrets", status=404)


def test_a_list_comes_as_a_table_whose_cells_no_spreadsheet_runs(signed_in, counted: Counted) -> None:
    counted("=1+1", searches=20, followed=10, clicked=5, revenue=250)
    counted("kettle", finds=None)
    answer = signed_in().client.get(f"{PAGE}/top.csv?days=7")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="searches-top-7-days-2026-11-20.csv"'
    header, first, second = csv.reader(StringIO(answer.text.removeprefix("\ufeff")))
    assert first[:4] == ["'=1+1", "20", "0", "10"]
    assert dict(zip(header, first, strict=True))["Revenue (GBP)"] == "2.50"
    assert dict(zip(header, first, strict=True))["Clicked share"] == "50.0%"
    assert dict(zip(header, second, strict=True))["Results of the latest"] == "–"


def test_the_figures_of_each_day_come_as_a_table(signed_in, counted: Counted) -> None:
    counted("kettle", days_ago=6, searches=4)
    _, *days = csv.reader(StringIO(signed_in().client.get(f"{PAGE}/days.csv?days=7").text))
    assert len(days) == 7 and days[0][:2] == ["2026-11-14", "4"] and days[6][:2] == ["2026-11-20", "0"]


def test_other_shops_searches_are_nowhere(app: Flask, signed_in, counted: Counted) -> None:
    with app.app_context(), transaction():
        other = make_site("other.localhost").id
    counted("canary", site=other, finds=0, searches=77_713, found_nothing=77_713)
    for path in (PAGE, f"{PAGE}/top", f"{PAGE}/found-nothing.csv", f"{PAGE}/days.csv", "/admin/search"):
        answer = signed_in().client.get(path).text
        assert "canary" not in answer and "77,713" not in answer and "77713" not in answer


def test_the_overview_shows_today_and_the_week_with_what_to_do(signed_in, counted: Counted) -> None:
    counted("kettle", searches=1_234)
    counted("wellies", days_ago=3, finds=0, searches=5, found_nothing=5)
    browser = signed_in()
    page = text(browser, "/admin/search")
    assert "Searches today" in page and ">1,234</a>" in page
    assert {"/admin/search/synonyms?word=wellies", "/admin/search/terms?term=wellies"} <= set(
        links(browser, "/admin/search")
    )
    assert browser.client.get("/admin/search/rest/status").json["searchesToday"] == 1_234


def test_what_a_shopper_searches_for_is_on_the_page_once_it_is_counted(
    app: Flask, site_id: int, signed_in, indexing: SearchContext
) -> None:
    with app.app_context():
        rebuild(indexing, request(indexing, site_id))
    shopper, headers = app.test_client(), {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0"}
    for query in ("q=Zither+Strings", "q=zither++strings&p=2"):
        shopper.get(f"/search?{query}", base_url="http://localhost", headers=headers)
    with app.app_context():
        drain()
    (row,) = csv.DictReader(StringIO(signed_in().client.get(f"{PAGE}/found-nothing.csv").text.removeprefix("\ufeff")))
    assert (row["Search"], row["Searches"], row["Found nothing"]) == ("zither strings", "1", "1")


def test_the_page_takes_as_many_questions_to_the_database_however_many_searches_there_are(
    app: Flask, signed_in, counted: Counted
) -> None:
    counted("kettle", finds=0, found_nothing=1)
    browser = signed_in()
    with statements(app) as few:
        browser.client.get(PAGE)
    for number in range(15):
        counted(f"kettle {number}", finds=0, searches=12, found_nothing=12)
    with statements(app) as many:
        browser.client.get(PAGE)
    assert len(many) == len(few) <= 19


def test_once_the_day_is_over_the_scheduler_has_the_sums_renewed(
    app: Flask, signed_in, counted: Counted, clock: StoppedClock
) -> None:
    counted("kettle", days_ago=6)
    stale, query = StaleWindows(), []

    def at_once(name: str, work: Callable[[], object]) -> bool:
        query.append(name)
        work()
        return True

    with app.app_context():
        stale.look(at_once)
        clock.move(days=1)
        stale.look(at_once)
        clock.move(seconds=LOOK_EVERY)
        stale.look(at_once)
    assert len(query) == 1
    assert "kettle" not in text(signed_in(), f"{PAGE}?days=7")


def test_suggestions_are_counted_apart_from_searches(
    app: Flask, signed_in: Callable[..., PageClient], site_id: int, counted: Counted, clock: StoppedClock
) -> None:
    counted("tent")
    assert "suggestions" not in text(signed_in())
    with app.app_context(), transaction():
        today = site_today(clock, site_id)
        for ago, shown in ((0, 1_000), (6, 234), (40, 5_000)):
            db.session.add(SuggestionDay(site_id=site_id, day=today - timedelta(days=ago), shown=shown))
    assert "1,234 lists of suggestions shown as shoppers typed" in text(signed_in(), f"{PAGE}?days=7")
