"""Nobody's mailbox is flooded by people who name it as theirs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask

from app.domain.orders import limits
from app.domain.orders.basket import Contact
from app.domain.orders.limits import MOST_A_DAY, MOST_AN_HOUR, Mailed, mailbox_of
from app.domain.orders.models import Order, OrderMail
from app.domain.shared.problems import TooManyRequests
from app.domain.sites.models import SignInFailure
from app.domain.sites.purge import RETENTIONS
from app.extensions import db
from app.transaction import transaction
from tests.domain.orders.conftest import Shopper, stock
from tests.fakes.clock import StoppedClock
from tests.purging import purged

KEY, SITE = b"a key of the shop alone, 32 bytes", 1


def order(mia: Shopper, email: str = "mia@home.test", number: int = 0) -> None:
    mia.add("MUG")
    mia.order(Contact("Mia", email, "020 7946 0000"[: 13 - number % 3]), address=f"203.0.113.{number}")


def note(clock: StoppedClock, email: str = "mia@home.test", mailed: Mailed = Mailed.ORDER, key: bytes = KEY) -> None:
    with transaction():
        limits.note_mail(clock, key, SITE, mailed, email)


def test_an_hour_takes_so_many_orders_for_one_recipient_from_wherever_they_come(mia: Shopper) -> None:
    for number in range(MOST_AN_HOUR):
        order(mia, number=number)
        mia.clock.move(minutes=1)
    mia.add("KETTLE", 2)
    with pytest.raises(TooManyRequests, match="has not been placed") as refused:
        order(mia, "M.I.A+spam@HOME.test", number=99)
    assert refused.value.retry_after == 3_001 - 60 * (MOST_AN_HOUR - 10)
    assert (stock("KETTLE"), mia.basket.items) == (3, 3), "nothing was taken, and the basket stays"
    assert db.session.query(OrderMail).count() == MOST_AN_HOUR
    mia.clock.move(seconds=refused.value.retry_after)
    order(mia)
    assert db.session.query(Order).filter_by(status="SUBMITTED").count() == MOST_AN_HOUR + 1


def test_a_refused_order_counts_for_no_limit(mia: Shopper) -> None:
    for number in range(MOST_AN_HOUR):
        order(mia, number=number)
    before = db.session.query(SignInFailure).count()
    for _ in range(3):
        with pytest.raises(TooManyRequests):
            order(mia, number=99)
    assert db.session.query(SignInFailure).count() == before


def test_who_gives_a_phone_number_alone_may_still_order(mia: Shopper, ben: Shopper) -> None:
    for number in range(MOST_AN_HOUR):
        order(mia, number=number)
    ben.add("MUG")
    assert ben.order(Contact("Mia", phone="020 7946 1111")).is_new
    assert ben.token


def test_a_day_takes_fewer_than_its_hours(clock: StoppedClock, site_id: int) -> None:
    for _ in range(MOST_A_DAY):
        note(clock)
        clock.move(minutes=30)
    with pytest.raises(TooManyRequests, match="15 hours") as refused:
        note(clock)
    clock.move(seconds=refused.value.retry_after)
    note(clock)


def test_others_are_not_held_up(clock: StoppedClock, site_id: int) -> None:
    for _ in range(MOST_AN_HOUR):
        note(clock)
    note(clock, "ben@home.test")
    note(clock, mailed=Mailed.RECEIPT)
    with transaction():
        limits.note_mail(clock, KEY, SITE + 1, Mailed.ORDER, "mia@home.test")
    with pytest.raises(TooManyRequests):
        note(clock)


@pytest.mark.parametrize(
    ("email", "mailbox"),
    [
        ("mia@home.test", "mia@home.test"),
        ("M.i.a+1@Home.TEST", "mia@home.test"),
        ("ｍｉａ@home.test", "mia@home.test"),
        ("+mia@home.test", "+mia@home.test"),
        ("mia@a.home.test", "mia@a.home.test"),
    ],
)
def test_spellings_of_one_mailbox_are_one(email: str, mailbox: str) -> None:
    assert mailbox_of(email) == mailbox


def test_no_address_is_kept_and_its_hash_not_for_long(clock: StoppedClock, site_id: int) -> None:
    note(clock)
    note(clock, key=b"another key, as of another shop's")
    keys = [key for (key,) in db.session.query(SignInFailure.key)]
    assert len(set(keys)) == 2 and not any("mia" in key or "home" in key for key in keys)
    clock.move(days=2)
    assert purged(clock, *RETENTIONS) == 2


@pytest.mark.concurrent
def test_mails_at_once_do_not_slip_past_the_limit(app: Flask, mia: Shopper) -> None:
    shoppers = [Shopper(mia.clock, mia.site_id) for _ in range(MOST_AN_HOUR + 3)]
    for one in shoppers:
        one.add("MUG")
    db.session.remove()

    def place(one: Shopper) -> bool:
        with app.app_context():
            try:
                return one.order().is_new
            except TooManyRequests:
                return False

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(place, shoppers)) == MOST_AN_HOUR
