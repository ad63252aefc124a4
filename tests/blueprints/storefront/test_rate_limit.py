"""Nobody fills the counts or the table of baskets faster than people shop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from flask import Flask

from app.blueprints.storefront import rate_limit
from app.domain.orders.models import Order
from app.domain.search_statistics.counting.events import Event, EventKind
from app.domain.search_statistics.counting.models import SearchDay, SearchProductDay
from app.domain.shared.rate_limit import Rate
from app.extensions import db
from app.jobs.counting import drain
from app.ports import EXTENSION
from tests.blueprints.storefront.conftest import Get
from tests.blueprints.storefront.shopper import Shopper
from tests.fakes.clock import StoppedClock


def test_searches_beyond_what_people_make_are_answered_and_not_counted(app: Flask, site_id: int, get: Get) -> None:
    for number in range(rate_limit.PER_MINUTE + 5):
        assert get(f"/search?q=word{number}", User_Agent="Mozilla/5.0").status_code == 200
    with app.app_context():
        drain()
        assert db.session.query(SearchDay).one().searches == rate_limit.PER_MINUTE


def open_tent(app: Flask, address: str) -> None:
    """Search and open what is found, in a browser without cookies."""
    shopper = Shopper(app)
    shopper.client.environ_base["REMOTE_ADDR"] = address
    page = shopper.get("/search?q=tent").text
    start = page.index('href="/p/') + len('href="')
    shopper.get(page[start : page.index('"', start)], Referer="http://shop.test/search?q=tent")


def opens_by_day(app: Flask) -> list[int]:
    with app.app_context():
        drain()
        return [row.opens for row in db.session.query(SearchProductDay).order_by(SearchProductDay.day)]


def test_search_learns_once_a_day_from_one_network_that_a_product_was_opened(
    app: Flask, site_id: int, clock: StoppedClock
) -> None:
    for _ in range(5):
        open_tent(app, "203.0.113.7")
    open_tent(app, "198.51.100.7")
    clock.move(days=1)
    open_tent(app, "203.0.113.7")
    assert opens_by_day(app) == [2, 1]
    with app.app_context():
        assert sum(row.clicked for row in db.session.query(SearchDay)) == 7, "they are clicks as ever"


def test_the_addresses_of_one_network_are_one(app: Flask, site_id: int) -> None:
    for number in range(5):
        open_tent(app, f"2001:db8:7:1:{number:x}::1")
    open_tent(app, "2001:db8:7:2::1")
    assert opens_by_day(app) == [2]


def test_a_network_that_comes_back_day_by_day_is_one(app: Flask, site_id: int, clock: StoppedClock) -> None:
    for _ in range(3):
        open_tent(app, "203.0.113.7")
        open_tent(app, "2001:db8:7:1::1")
        clock.move(days=1)
    open_tent(app, "198.51.100.7")
    clock.move(days=57)
    open_tent(app, "203.0.113.7")
    assert opens_by_day(app) == [2, 2, 2, 1, 1]
    with app.app_context():
        rows = db.session.query(SearchProductDay).order_by(SearchProductDay.day)
        assert [row.networks for row in rows] == [2, 0, 0, 1, 1]


def test_what_a_search_before_midnight_leads_to_after_it_counts_for_its_day_once(
    app: Flask, site_id: int, clock: StoppedClock
) -> None:
    open_tent(app, "203.0.113.7")
    clock.move(hours=11, minutes=50)
    shopper = Shopper(app)
    shopper.client.environ_base["REMOTE_ADDR"] = "203.0.113.7"
    page = shopper.get("/search?q=tent").text
    clock.move(hours=13)
    start = page.index('href="/p/') + len('href="')
    shopper.get(page[start : page.index('"', start)], Referer="http://shop.test/search?q=tent")
    assert opens_by_day(app) == [1]


class Windows:
    """Windows that never end."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def take(self, key: str, rate: Rate, now: float) -> int:
        self.counts[key] += 1
        return int(self.counts[key] > rate.most)


@pytest.mark.parametrize(
    ("counts", "most", "event"),
    [
        (rate_limit.counts_rephrasing, rate_limit.REPHRASINGS_A_DAY, {"kind": EventKind.REPHRASED}),
        (rate_limit.counts_open, rate_limit.OPENS_A_DAY, {"kind": EventKind.OPENED, "product_id": 7}),
    ],
    ids=["rephrased", "opened"],
)
def test_what_a_network_does_beyond_the_most_of_a_day_makes_no_window(
    app: Flask, counts: Callable[[Event], bool], most: int, event: dict[str, Any]
) -> None:
    windows, minutes = Windows(), Windows()
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], day_windows=windows, rate_limits=minutes)
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    with app.test_request_context(environ_base={"REMOTE_ADDR": "203.0.113.7"}):
        counted = [
            counts(Event(site_id=1, word=f"word {number}", day=now.date(), at=now, next_word="tent", **event))
            for number in range(most + 20)
        ]
    assert counted == [True] * most + [False] * 20
    assert len(windows.counts) == most + 1 and not minutes.counts, "one for each that counts, and one for all of them"


def test_baskets_beyond_what_people_begin_are_refused_in_words(app: Flask, site_id: int, clock: StoppedClock) -> None:
    mia = Shopper(app)
    assert mia.add("S-7").status_code == 303
    answers = [Shopper(app).add("S-7") for _ in range(rate_limit.PER_MINUTE + 5)]
    assert [answer.status_code for answer in answers].count(303) == rate_limit.PER_MINUTE - 1
    assert (answers[-1].status_code, answers[-1].headers["Retry-After"]) == (429, "60")
    assert "try again in a minute" in answers[-1].text
    assert "try again in a minute" in Shopper(app).swap("/basket", {"sku": "S-7", "quantity": 1}).text
    assert mia.add("S-7").status_code == 303, "who has a basket goes on"
    with app.app_context():
        assert db.session.query(Order).count() == rate_limit.PER_MINUTE
    clock.move(minutes=1)
    assert Shopper(app).add("S-7").status_code == 303


def test_what_comes_from_this_machine_is_everybody_and_not_slowed_down(app: Flask, site_id: int, get: Get) -> None:
    mia = Shopper(app)
    mia.client.environ_base["REMOTE_ADDR"] = "127.0.0.1"
    for number in range(rate_limit.PER_MINUTE + 5):
        mia.get(f"/search?q=word{number}", User_Agent="Mozilla/5.0")
    with app.app_context():
        drain()
        assert db.session.query(SearchDay).one().searches == rate_limit.PER_MINUTE + 5
