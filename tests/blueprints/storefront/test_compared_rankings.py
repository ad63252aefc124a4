"""While a comparison of rankings runs, shoppers see both orders interleaved, and what they open first counts for the
side that placed it; nobody else sees it, and nothing else is stored."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import JSON, String, select
from werkzeug.test import TestResponse

from app import ports
from app.domain.search_statistics.models import RankingComparison, RankingComparisonDay, SearchDay
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.jobs.search_statistics import drain
from app.transaction import transaction
from tests.blueprints.storefront.shopper import Shopper
from tests.factories import make_comparison, make_user
from tests.fakes.clock import StoppedClock
from tests.page_client import PASSWORD

HOST = "http://shop.test"
Compare = Callable[..., int]
Counted = tuple[int, int, int]


@pytest.fixture
def shopper(app: Flask, site_id: int) -> Shopper:
    return Shopper(app)


@pytest.fixture
def compare(app: Flask, site_id: int, clock: StoppedClock) -> Compare:
    """Starts a comparison with newer products first, in all visits."""

    def start(**more: object) -> int:
        with app.app_context(), transaction():
            last_day = clock.now().date() + timedelta(days=30)
            fields = {"started_at": clock.now(), "last_day": last_day, "proposal": CANDIDATE} | more
            comparison_id = make_comparison(db.session.get_one(Site, site_id), **fields).id
        clock.move(seconds=2)
        return comparison_id

    return start


CANDIDATE = {"kind": "ranking", "soldOut": "as-is", "sales": "none", "newness": "high", "stock": "none"}


def products_on(page: TestResponse) -> list[str]:
    """The products of the list in their order."""
    return list(dict.fromkeys(re.findall(r'href="(/p/[\w-]+)"', page.text.partition('id="listing"')[2])))


def order_of(get: Callable[[str], TestResponse], words: str = "tent") -> tuple[str, ...]:
    return tuple(products_on(get(f"/search?q={words}")))


def plain_order(app: Flask) -> tuple[str, ...]:
    return order_of(robot(app))


def robot(app: Flask) -> Callable[[str], TestResponse]:
    return lambda path: Shopper(app).get(path, User_Agent="Googlebot/2.1 (+http://www.google.com/bot.html)")


def counted(app: Flask, comparison_id: int) -> Counted:
    """The clicks of the present ranking, of the candidate and of neither."""
    with app.app_context():
        drain()
        query = select(RankingComparisonDay).where(RankingComparisonDay.comparison_id == comparison_id)
        rows = db.session.scalars(query).all()
        return tuple(sum(getattr(row, name) for row in rows) for name in ("present", "candidate", "ties"))  # type: ignore[return-value]


def open_first(shopper: Shopper, words: str = "tent", place: int = 0) -> None:
    page = shopper.get(f"/search?q={words}")
    assert shopper.get(products_on(page)[place], Referer=f"{HOST}/search?q={words}").status_code == 200


def from_network(app: Flask, number: int) -> Shopper:
    shopper = Shopper(app)
    shopper.client.environ_base["REMOTE_ADDR"] = f"203.0.113.{number}"
    return shopper


def test_shoppers_see_different_orders_and_the_same_one_again(app: Flask, site_id: int, compare: Compare) -> None:
    before = plain_order(app)
    compare()
    shoppers = [from_network(app, number) for number in range(24)]
    orders = [order_of(one.get) for one in shoppers]
    assert len(set(orders)) > 1 and set(orders) != {before}
    assert [order_of(one.get) for one in shoppers] == orders


def test_neither_robots_nor_staff_nor_programs_see_it(app: Flask, site_id: int, compare: Compare) -> None:
    before = plain_order(app)
    with app.app_context(), transaction():
        make_user(db.session.get_one(Site, site_id), Role.MERCHANDISER, email="mia@shop.test")
    compare()
    assert {order_of(robot(app)) for _ in range(20)} == {before}
    staff = Shopper(app)
    token = re.search(r'name="csrf_token" value="([^"]+)"', staff.get("/admin/login").text)
    assert token is not None
    form = {"email": "mia@shop.test", "password": PASSWORD, "csrf_token": token[1]}
    assert staff.post("/admin/login", form).status_code == 302
    assert order_of(staff.get) == before and "_by=both-" not in staff.get("/search?q=tent").text
    prefetch = [order_of(lambda path: Shopper(app).get(path, Sec_Purpose="prefetch")) for _ in range(12)]
    assert set(prefetch) == {before}


def test_the_next_page_goes_on_where_the_first_ended_even_without_cookies(
    app: Flask, site_id: int, compare: Compare
) -> None:
    everything = {path for page in (1, 2) for path in products_on(robot(app)(f"/search?q=tent&p={page}"))}
    compare()
    for number in range(12):
        first = from_network(app, number).get("/search?q=tent")
        found = re.search(r'href="(/search\?q=tent&amp;_by=both-\d+-\d+&amp;p=2)"', first.text)
        assert found is not None
        second = from_network(app, 100 + number).get(found[1].replace("&amp;", "&"))
        shown = products_on(first) + products_on(second)
        assert len(shown) == len(set(shown)) and set(shown) == everything


def test_an_address_of_a_comparison_that_is_over_shows_the_present_order(
    app: Flask, site_id: int, shopper: Shopper, compare: Compare
) -> None:
    before = plain_order(app)
    compare()
    assert order_of(lambda _: shopper.get("/search?q=tent&_by=both-999-3")) == before


def test_the_first_click_of_a_search_counts_once_for_its_side(app: Flask, site_id: int, compare: Compare) -> None:
    comparison_id = compare()
    for number in range(16):
        shopper = from_network(app, number)
        open_first(shopper, place=1)
        open_first(shopper, place=2)
    present, candidate, ties = counted(app, comparison_id)
    assert present + candidate + ties == 15, "groups of five, the last with the first click of the next one"
    assert present > 0 and candidate > 0


def test_a_click_on_a_product_of_neither_side_decides_nothing(app: Flask, site_id: int, compare: Compare) -> None:
    comparison_id = compare()
    for number in range(6):
        shopper = from_network(app, number)
        page = shopper.get("/search?q=tent")
        found = re.search(r'href="(/search\?q=tent&amp;_by=both-\d+-\d+&amp;p=2)"', page.text)
        assert found is not None
        second = shopper.get(found[1].replace("&amp;", "&"))
        shopper.get(products_on(second)[0], Referer=f"{HOST}/search?q=tent&p=2")
    assert counted(app, comparison_id) == (0, 0, 5)


def test_a_network_counts_once_a_day_for_a_search(app: Flask, site_id: int, compare: Compare) -> None:
    comparison_id = compare()
    for _ in range(8):
        open_first(from_network(app, 1))
    assert sum(counted(app, comparison_id)) == 0
    for number in range(2, 7):
        open_first(from_network(app, number))
    assert sum(counted(app, comparison_id)) == 5


def test_an_old_cookie_that_is_sent_again_adds_nothing(app: Flask, site_id: int, compare: Compare) -> None:
    comparison_id = compare()
    shopper = from_network(app, 1)
    page = shopper.get("/search?q=tent")
    cookie = shopper.cookie("trail")
    assert cookie is not None
    for number in range(2, 12):
        again = from_network(app, number)
        again.client.set_cookie("trail", cookie, domain=again.host)
        again.get(products_on(page)[0], Referer=f"{HOST}/search?q=tent")
    assert sum(counted(app, comparison_id)) <= 1


def test_a_share_of_visits_takes_part(app: Flask, site_id: int, compare: Compare) -> None:
    before = plain_order(app)
    compare(share=10)
    addresses = [from_network(app, number).get("/search?q=tent").text for number in range(60)]
    taking_part = sum("_by=both-" in address for address in addresses)
    assert 0 < taking_part < 30
    assert plain_order(app) == before


@pytest.mark.parametrize("address", ["q=tent&sort=price-asc", "q=tent&price_max=60", "q=tent+S-12345", "colour=Fern"])
def test_other_orders_filters_and_codes_are_not_interleaved(
    app: Flask, site_id: int, shopper: Shopper, compare: Compare, address: str
) -> None:
    before = products_on(shopper.get(f"/search?{address}"))
    compare()
    page = from_network(app, 1).get(f"/search?{address}")
    assert "_by=both-" not in page.text and products_on(page) == before


def test_no_cache_that_shoppers_share_keeps_a_page(app: Flask, site_id: int, compare: Compare) -> None:
    assert "private" not in robot(app)("/search?q=tent").headers.get("Cache-Control", "")
    compare()
    assert from_network(app, 1).get("/search?q=tent").headers["Cache-Control"] == "private"
    assert robot(app)("/search?q=tent").headers["Cache-Control"] == "private"


@pytest.mark.parametrize("change", ["ranking", "period", "clicks", "ended"])
def test_what_ends_a_comparison_ends_it_for_shoppers_at_once(
    app: Flask, site_id: int, compare: Compare, clock: StoppedClock, change: str
) -> None:
    comparison_id = compare()
    assert "_by=both-" in from_network(app, 1).get("/search?q=tent").text
    with app.app_context(), transaction():
        if change == "ranking":
            change_settings(site_id, {"search-weight-stock": "low"})
        elif change == "clicks":
            change_settings(site_id, {"search-click-tracking-enabled": False})
        elif change == "ended":
            row = db.session.get_one(RankingComparison, comparison_id)
            row.ended_at, row.ending = clock.now(), "stopped"
    clock.move(days=31 if change == "period" else 0, seconds=2)
    assert "_by=both-" not in from_network(app, 2).get("/search?q=tent").text


def test_clicks_that_arrive_after_its_end_do_not_count(
    app: Flask, site_id: int, compare: Compare, clock: StoppedClock
) -> None:
    comparison_id = compare()
    shopper = from_network(app, 1)
    page = shopper.get("/search?q=tent")
    with app.app_context(), transaction():
        row = db.session.get_one(RankingComparison, comparison_id)
        row.ended_at, row.ending = clock.now(), "stopped"
    shopper.get(products_on(page)[0], Referer=f"{HOST}/search?q=tent")
    assert counted(app, comparison_id) == (0, 0, 0)
    with app.app_context():
        assert db.session.scalar(select(SearchDay.clicked)) == 1


def test_nothing_is_stored_but_daily_counts_of_each_side(app: Flask, site_id: int) -> None:
    columns = RankingComparisonDay.__table__.columns
    assert {column.name for column in columns} == {"comparison_id", "site_id", "day", "present", "candidate", "ties"}
    assert not any(isinstance(column.type, String | JSON) for column in columns)


def test_what_four_shoppers_chose_is_stored_nowhere(app: Flask, site_id: int, compare: Compare) -> None:
    comparison_id = compare()
    for number in range(4):
        open_first(from_network(app, number))
    with app.app_context(), ports.counting().batches() as waiting:
        kinds = {event.kind for batch in waiting for event in batch.events}
    assert "clicked" in kinds and "compared" not in kinds
    assert counted(app, comparison_id) == (0, 0, 0)


def test_the_line_of_a_group_names_no_search_and_no_side(app: Flask, site_id: int, compare: Compare) -> None:
    comparison_id = compare()
    for number in range(6):
        open_first(from_network(app, number))
    with app.app_context(), ports.counting().batches() as waiting:
        (event,) = [event for batch in waiting for event in batch.events if event.kind == "compared"]
    assert (event.word, event.product_id, event.comparison_id) == ("", None, comparison_id)
    assert (event.side, event.visits) == (None, 5)
