"""How much one visitor may order without having paid for any of it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask

from app.domain.orders import lifecycle, limits
from app.domain.orders.basket import Contact
from app.domain.orders.models import Order
from app.domain.shared.author import Author
from app.domain.shared.problems import TooManyRequests
from app.domain.sites.models import SignInFailure
from app.domain.sites.purge import RETENTIONS
from app.extensions import db
from app.transaction import transaction
from tests.domain.orders.conftest import MIA, Shopper, stock
from tests.purging import purged

BY_PHONE = Contact("Mia Moss", phone="020 7946 0000")


def order(mia: Shopper, contact: Contact = MIA, address: str = "") -> str:
    mia.add("MUG")
    return mia.order(contact, address=address).order.id


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (MIA, Contact("M. Moss", "MIA@Home.test")),
        (Contact("Mia", phone="020 7946-0000"), Contact("Somebody", phone="(020) 79460000")),
        (Contact("Mia", "mia@home.test", "020 7946 0000"), Contact("Mia", "other@home.test", "020 7946 0000")),
    ],
)
def test_five_orders_of_one_person_may_wait_to_be_collected(mia: Shopper, first: Contact, again: Contact) -> None:
    ids = []
    for _ in range(limits.MOST_OPEN):
        ids.append(order(mia, first))
        mia.clock.move(hours=2)
    mia.add("KETTLE", 3)
    with pytest.raises(TooManyRequests, match="get one of them first"):
        mia.order(again)
    assert (stock("KETTLE"), mia.basket.items) == (3, 3), "nothing was taken, and the basket stays"
    with transaction():
        lifecycle.collect(Author(mia.site_id, "Ada", mia.clock), ids[0])
    assert mia.order(again).order.number == limits.MOST_OPEN + 1, "no number was lost"


def test_whom_others_share_nothing_with_they_do_not_hold_up(mia: Shopper, ben: Shopper) -> None:
    for _ in range(limits.MOST_OPEN):
        order(mia, Contact("Mia", "mia@home.test"))
        mia.clock.move(hours=2)
    assert order(ben, Contact("Ben", phone="020 7946 0000"))
    assert order(ben, Contact("Ben", "ben@home.test", "020 7946 0001"))


def _many(mia: Shopper, address: str, number: int = limits.MOST_OF_ADDRESS) -> None:
    for one in range(number):
        order(mia, Contact("Bot", f"bot-{address}-{one}@home.test"), address)


def test_an_hour_takes_so_many_orders_from_one_address(mia: Shopper) -> None:
    _many(mia, "203.0.113.9")
    mia.clock.move(minutes=59)
    with pytest.raises(TooManyRequests) as refused:
        order(mia, address="203.0.113.9")
    assert refused.value.retry_after == 61
    assert order(mia, address="203.0.113.10"), "another address is free"
    mia.clock.move(minutes=1)
    assert order(mia, address="203.0.113.9")


def test_a_household_has_half_of_an_address_of_the_new_kind(mia: Shopper) -> None:
    _many(mia, "2001:db8:1:2::1")
    with pytest.raises(TooManyRequests):
        order(mia, address="2001:db8:1:2:ffff::9")
    assert order(mia, address="2001:db8:1:3::1")


def test_an_address_is_kept_as_a_hash_and_not_for_long(mia: Shopper) -> None:
    order(mia, BY_PHONE, address="203.0.113.9")
    (key,) = db.session.query(SignInFailure.key).one()
    assert key.startswith("order:") and "203.0" not in key
    mia.clock.move(days=2)
    assert purged(mia.clock, *RETENTIONS) == 1


@pytest.mark.concurrent
def test_orders_at_once_do_not_slip_past_a_limit(app: Flask, mia: Shopper) -> None:
    shoppers = [Shopper(mia.clock, mia.site_id) for _ in range(limits.MOST_OPEN + 3)]
    for one in shoppers:
        one.add("MUG")
    db.session.remove()

    def place(one: Shopper) -> bool:
        with app.app_context():
            try:
                return one.order(BY_PHONE).is_new
            except TooManyRequests:
                return False

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(place, shoppers)) == limits.MOST_OPEN
    db.session.rollback()
    assert db.session.query(Order).filter_by(status="SUBMITTED").count() == limits.MOST_OPEN
