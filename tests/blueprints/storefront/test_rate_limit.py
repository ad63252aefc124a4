"""Nobody fills the counts or the table of baskets faster than people shop."""

from __future__ import annotations

from flask import Flask

from app.blueprints.storefront import rate_limit
from app.domain.orders.models import Order
from app.domain.search_statistics.models import SearchDay
from app.extensions import db
from app.jobs.search_statistics import drain
from tests.blueprints.storefront.conftest import Get
from tests.blueprints.storefront.shopper import Shopper
from tests.fakes.clock import StoppedClock


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
