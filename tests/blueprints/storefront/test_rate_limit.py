"""Nobody fills the counts or the table of baskets faster than people shop."""

from __future__ import annotations

from datetime import timedelta

from flask import Flask

from app.blueprints.storefront import rate_limit
from app.blueprints.storefront.rate_limit import RateLimit
from app.domain.orders.models import Order
from app.domain.search_statistics.counting.models import SearchDay
from app.extensions import db
from app.jobs.counting import drain
from tests.blueprints.storefront.conftest import Get
from tests.blueprints.storefront.shopper import Shopper
from tests.fakes.clock import StoppedClock

HERE = "192.0.2.7"


def test_a_bucket_empties_and_fills_again(clock: StoppedClock) -> None:
    some = RateLimit(per_minute=3)
    assert [some.allows(HERE, clock.now()) for _ in range(5)] == [True, True, True, False, False]
    assert some.allows("192.0.2.8", clock.now()), "another address has one of its own"
    clock.move(seconds=20)
    assert [some.allows(HERE, clock.now()) for _ in range(2)] == [True, False]
    clock.move(hours=1)
    assert [some.allows(HERE, clock.now()) for _ in range(4)] == [True, True, True, False]


def test_a_household_of_ipv6_has_one_bucket(clock: StoppedClock) -> None:
    some = RateLimit(per_minute=1)
    assert some.allows("2001:db8::1", clock.now()) and not some.allows("2001:db8::ffff", clock.now())


def test_only_so_many_addresses_are_known_and_none_as_it_is(clock: StoppedClock) -> None:
    some = RateLimit(most_addresses=10)
    for number in range(50):
        some.allows(f"192.0.2.{number}", clock.now())
    assert len(some) == 10 and "192.0.2" not in repr(vars(some))


def test_a_clock_that_is_turned_back_gives_nothing_away(clock: StoppedClock) -> None:
    some = RateLimit(per_minute=1)
    assert some.allows(HERE, clock.now()) and not some.allows(HERE, clock.now() - timedelta(hours=1))


def test_searches_beyond_what_people_make_are_answered_and_not_counted(app: Flask, site_id: int, get: Get) -> None:
    for number in range(rate_limit.PER_MINUTE + 5):
        assert get(f"/search?q=word{number}", User_Agent="Mozilla/5.0").status_code == 200
    with app.app_context():
        drain()
        assert db.session.query(SearchDay).one().searches == rate_limit.PER_MINUTE


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
