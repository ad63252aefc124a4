from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import inspect

from app.domain.orders import basket_contents, lifecycle, queries
from app.domain.orders.listing import Channel, OrderFilter, OrderList
from app.domain.orders.models import Order, OrderLine
from app.domain.orders.purge import CONTACT_KEPT, CONTACT_KEPT_AT_MOST, RETENTIONS, UNTOUCHED
from app.domain.shared.author import Author
from app.extensions import db
from app.transaction import transaction
from tests.domain.orders.conftest import Shopper
from tests.factories import make_order, make_site
from tests.fakes.clock import StoppedClock
from tests.purging import purged


def test_a_basket_that_nobody_touched_goes(mia: Shopper, ben: Shopper, clock: StoppedClock) -> None:
    mia.add("MUG")
    clock.move(seconds=UNTOUCHED.total_seconds())
    ben.add("MUG")
    assert purged(clock, *RETENTIONS) == 0, "on the last day it is still there"
    clock.move(seconds=1)
    assert purged(clock, *RETENTIONS) == 1
    assert (mia.basket.items, ben.basket.items) == (0, 1)
    assert db.session.query(OrderLine).count() == 1


def test_a_basket_goes_without_a_look_at_all_payments(mia: Shopper) -> None:
    """The database looks for the payments of each deleted basket, while nobody else can write."""
    indexed = inspect(db.engine).get_indexes("pos_transactions")
    whole = [index for index in indexed if not any(key.endswith("_where") for key in index.get("dialect_options", {}))]
    assert "order_id" in {index["column_names"][0] for index in whole}


def test_touching_a_basket_keeps_it(mia: Shopper, clock: StoppedClock) -> None:
    mia.add("MUG")
    clock.move(days=29)
    mia.add("MUG")
    clock.move(days=29)
    assert purged(clock, *RETENTIONS) == 0


@pytest.mark.parametrize("settle", [lifecycle.collect, lifecycle.cancel])
def test_who_ordered_is_forgotten_long_after_and_what_was_sold_stays(mia: Shopper, clock: StoppedClock, settle) -> None:
    mia.add("MUG", 2)
    token, order_id = mia.token or "", mia.order().order.id
    clock.move(days=400)
    assert purged(clock, *RETENTIONS) == 0, "what is not settled is still needed"
    with transaction():
        settle(Author(mia.site_id, "Ben", clock), order_id)
    clock.move(seconds=(CONTACT_KEPT + timedelta(seconds=1)).total_seconds())
    assert purged(clock, *RETENTIONS) == 1
    assert purged(clock, *RETENTIONS) == 0
    order = lifecycle.order_of(mia.site_id, order_id)
    assert (order.contact_name, order.contact_email, order.total, order.lines[0].quantity) == ("", "", 1_000, 2)
    assert basket_contents.order_by_token(mia.site_id, token) is None


def test_who_ordered_what_nobody_ever_settled_is_forgotten_after_two_years(mia: Shopper, clock: StoppedClock) -> None:
    mia.add("MUG")
    order_id = mia.order().order.id
    clock.move(seconds=CONTACT_KEPT_AT_MOST.total_seconds())
    assert purged(clock, *RETENTIONS) == 0
    clock.move(seconds=1)
    assert (purged(clock, *RETENTIONS), purged(clock, *RETENTIONS)) == (1, 0)
    order = lifecycle.order_of(mia.site_id, order_id)
    assert (order.contact_name, order.token_hash, order.status) == ("", None, "SUBMITTED")


def test_what_waits_for_over_two_weeks_is_overdue(mia: Shopper, ben: Shopper, clock: StoppedClock) -> None:
    mia.add("MUG")
    late_id = mia.order().order.id
    clock.move(days=14)
    ben.add("MUG")
    ben.order()
    assert queries.counts(clock, mia.site_id)[OrderFilter.OVERDUE] == 0
    clock.move(seconds=1)
    assert [(row.number, row.is_overdue) for row in queries.orders(clock, mia.site_id, OrderList()).items] == [
        (2, False),
        (1, True),
    ]
    late = queries.orders(clock, mia.site_id, OrderList(status=OrderFilter.OVERDUE))
    assert ([row.number for row in late.items], queries.counts(clock, mia.site_id)[OrderFilter.OVERDUE]) == ([1], 1)
    with transaction():
        lifecycle.collect(Author(mia.site_id, "Ada", clock), late_id)
    assert queries.counts(clock, mia.site_id)[OrderFilter.OVERDUE] == 0


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("mo", {1}),
        ("MIA@", {1}),
        ("7946", {2}),
        ("2", {2}),
        ("#1", {1}),
        ("kettle", {1, 2}),
        ("SKU-9", {1, 2}),
        ("%", set()),
    ],
)
def test_orders_are_found_by_what_people_know_of_them(
    context: None, clock: StoppedClock, words: str, found: set[int]
) -> None:
    with transaction():
        site = make_site()
        make_order(site, number=1, contact_name="Mia Moss", contact_email="mia@home.test")
        make_order(site, number=2, contact_name="Ben", contact_email="", contact_phone="020 7946 0000")
        make_order(make_site("other.test"), number=1, contact_name="Moritz")
    page = queries.orders(clock, site.id, OrderList(words=words))
    assert {row.number for row in page.items} == found


def test_baskets_are_no_orders(mia: Shopper, ben: Shopper) -> None:
    mia.add("MUG")
    ben.add("MUG", 3)
    ben.order()
    page = queries.orders(mia.clock, mia.site_id, OrderList())
    assert [(row.number, row.items, row.status) for row in page.items] == [(1, 3, "SUBMITTED")]
    assert queries.counts(mia.clock, mia.site_id) == {
        OrderFilter.ALL: 1,
        OrderFilter.SUBMITTED: 1,
        OrderFilter.READY: 0,
        OrderFilter.OVERDUE: 0,
        OrderFilter.UNSUBMITTED: 0,
        OrderFilter.COLLECTED: 0,
        OrderFilter.CANCELLED: 0,
    }


def test_the_newest_order_comes_first_page_by_page(context: None, clock: StoppedClock) -> None:
    with transaction():
        site = make_site()
        for number in range(1, 52):
            make_order(site, number=number, submitted_at=clock.now() + timedelta(minutes=number))
    first, second = (queries.orders(clock, site.id, OrderList(page=page)) for page in (1, 2))
    assert [row.number for row in first.items] == list(range(51, 1, -1))
    assert [row.number for row in second.items] == [1]
    assert (first.total_items, db.session.query(Order).count()) == (51, 51)


@pytest.mark.parametrize("address", [{}, {"status": "nonsense", "p": "-1"}, {"q": "\0  "}, {"p": "x"}])
def test_what_an_address_says_wrongly_counts_as_not_said(address: dict[str, str]) -> None:
    assert OrderList.read(address) == OrderList()


def test_an_address_reads_as_it_was_written() -> None:
    request = OrderList("mia & co", OrderFilter.COLLECTED, 3)
    assert request.query(page=3) == "q=mia+%26+co&status=collected&p=3"
    assert OrderList.read({"q": "mia & co", "status": "collected", "p": "3"}) == request
    tills = OrderList(channel=Channel.POS)
    assert (tills.query(), OrderList.read({"channel": "pos"})) == ("channel=pos", tills)
    assert request.query(status=OrderFilter.ALL) == "q=mia+%26+co"
