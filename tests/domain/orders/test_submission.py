"""A paid basket becomes an order: once, whole, and never lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from flask import Flask

from app.domain.alerts.alerts import open_alerts
from app.domain.catalogue.models import Product
from app.domain.orders import lifecycle
from app.domain.orders.models import Order
from app.domain.orders.payment import PaymentInProgress
from app.domain.shared.problems import Conflict, NotFound
from app.domain.sites.models import AuditEntry, StoredEvent
from app.extensions import db
from app.jobs import events
from app.transaction import transaction
from tests.domain.orders.conftest import change_product, stock
from tests.domain.orders.till import Till, order
from tests.factories import make_site


def history(order_id: str) -> list[str]:
    entries = db.session.query(AuditEntry).filter_by(subject_type="order", subject_id=order_id)
    return [entry.action for entry in entries.order_by(AuditEntry.id)]


def alerts(site_id: int) -> list[str]:
    return [alert.detail for alert in open_alerts(site_id)]


def refusal(till: Till, basket_id: str) -> str:
    with pytest.raises(Conflict) as refused:
        till.submit(basket_id)
    return refused.value.code


def test_a_paid_basket_becomes_an_order_and_takes_its_stock(till: Till) -> None:
    basket_id = till.fill({"KETTLE": 2, "TENT-L": 1, "MUG": 1})
    till.pay(basket_id)
    assert stock("KETTLE") == 3, "only the order takes stock"
    till.submit(basket_id)
    placed = order(basket_id)
    assert (placed.status, placed.total, placed.paid_amount) == ("SUBMITTED", 15_500, 15_500)
    assert [line.stock_taken for line in placed.lines] == [2, 1, 0]
    assert (stock("KETTLE"), stock("TENT-L"), stock("MUG")) == (1, 0, None)


def test_submitting_again_changes_nothing(till: Till) -> None:
    basket_id = till.fill({"KETTLE": 1})
    till.pay(basket_id)
    for _ in range(3):
        assert till.submit(basket_id).number == 1
        till.deliver()
    assert stock("KETTLE") == 2
    assert history(basket_id) == ["order.pay", "order.submit", "order.fulfil"]


def test_nothing_is_ordered_before_it_is_paid(till: Till) -> None:
    basket_id = till.fill({"KETTLE": 1})
    assert refusal(till, basket_id) == "payment_required"
    till.lock(basket_id)
    assert refusal(till, basket_id) == "payment_required"
    assert (order(basket_id).status, stock("KETTLE")) == ("OPEN", 3)


@pytest.mark.parametrize(("paid", "code"), [(1_999, "payment_required"), (2_001, "amount_mismatch")])
def test_nothing_is_ordered_for_another_amount_until_staff_accept_it(till: Till, paid: int, code: str) -> None:
    basket_id = till.fill({"KETTLE": 1})
    till.pay(basket_id, amount=paid)
    assert refusal(till, basket_id) == code
    assert till.submit(basket_id, accept_difference=True).status == "SUBMITTED"


def test_staff_place_no_basket_of_which_a_payment_is_under_way(till: Till) -> None:
    basket_id = till.fill({"KETTLE": 1})
    till.lock(basket_id)
    with pytest.raises(Conflict) as refused:
        till.submit(basket_id, accept_difference=True)
    assert refused.value.code == "payment_required" and refused.value.details["amountDueInPence"] == 2_000


def test_what_costs_nothing_needs_no_payment(till: Till) -> None:
    change_product("KETTLE", price=0)
    basket_id = till.fill({"KETTLE": 1})
    assert till.submit(basket_id).status == "SUBMITTED"
    short = till.fill({"KETTLE": 2})
    change_product("KETTLE", stock=1)
    assert refusal(till, short) == "out_of_stock"
    dearer = till.fill({"KETTLE": 1})
    change_product("KETTLE", price=1)
    assert refusal(till, dearer) == "payment_required"


def test_the_log_says_of_an_order_what_its_page_says(till: Till) -> None:
    basket_id = till.fill({"KETTLE": 1})
    till.pay(basket_id)
    till.submit(basket_id)
    with transaction():
        assert lifecycle.fulfil(till.author.clock, till.author.site_id, basket_id, is_short=True)
    entry = db.session.query(AuditEntry).filter_by(subject_id=basket_id, action="order.fulfil").one()
    assert entry.summary == "Order 1 is awaiting collection"


def test_an_empty_basket_and_one_of_another_shop_are_no_order(till: Till) -> None:
    assert refusal(till, till.fill({})) == "basket_empty"
    with transaction():
        till.author = replace(till.author, site_id=make_site("other.test").id)
    with pytest.raises(NotFound):
        till.submit(db.session.query(Order).one().id)


def test_a_paid_sale_is_placed_although_the_stock_ran_out(till: Till) -> None:
    basket_id = till.fill({"KETTLE": 3, "TENT-S": 1})
    till.pay(basket_id)
    change_product("KETTLE", stock=1, enabled=False)
    with transaction():
        db.session.delete(db.session.query(Product).filter_by(sku="TENT").one())
    till.submit(basket_id)
    placed = order(basket_id)
    assert (placed.status, [line.stock_taken for line in placed.lines], stock("KETTLE")) == ("SUBMITTED", [1, 0], 0)
    missing = "2 of 3 × Kettle (KETTLE), 1 of 1 × Tent (TENT-S)"
    assert alerts(till.author.site_id) == [f"Order 1 was paid, and these were not in stock: {missing}."]
    till.deliver()
    assert order(basket_id).status == "SUBMITTED", "staff hand over what there is"
    with transaction():
        lifecycle.collect(till.author, basket_id)
    assert alerts(till.author.site_id) == []


def test_what_is_sold_at_a_till_is_handed_over_at_once(till: Till) -> None:
    basket_id = till.fill({"KETTLE": 1})
    till.pay(basket_id)
    till.submit(basket_id)
    assert order(basket_id).fulfilled_at is None
    till.deliver()
    placed = order(basket_id)
    assert (placed.status, placed.fulfilled_at, placed.settled_at) == ("COLLECTED", *2 * [till.author.now()])


def test_fulfilment_follows_once_although_its_worker_dies_before_the_commit(till: Till) -> None:
    basket_id = till.fill({"KETTLE": 1})
    till.pay(basket_id)
    till.submit(basket_id)

    class Killed(BaseException):
        pass

    with pytest.raises(Killed), transaction():
        event = db.session.query(StoredEvent).one()
        events.HANDLERS[event.name](event)
        raise Killed
    assert order(basket_id).fulfilled_at is None
    till.deliver()
    fulfilled_at = order(basket_id).fulfilled_at
    till.author.clock.move(seconds=60)
    with transaction():
        assert not lifecycle.fulfil(till.author.clock, till.author.site_id, basket_id, is_short=False)
    assert (order(basket_id).fulfilled_at, db.session.query(StoredEvent).count()) == (fulfilled_at, 0)
    assert history(basket_id).count("order.fulfil") == 1


def test_an_order_that_was_cancelled_meanwhile_is_not_fulfilled(till: Till) -> None:
    basket_id = till.fill({"KETTLE": 1})
    till.pay(basket_id)
    till.submit(basket_id)
    with transaction():
        lifecycle.cancel(till.author, basket_id)
    till.deliver()
    assert (order(basket_id).fulfilled_at, stock("KETTLE")) == (None, 3)
    assert refusal(till, basket_id) == "order_cancelled"


@pytest.mark.concurrent
def test_twenty_submissions_at_once_take_the_stock_once(app: Flask, till: Till) -> None:
    basket_id = till.fill({"KETTLE": 2, "TENT-L": 1})
    till.pay(basket_id)
    db.session.remove()

    def press(_: int) -> tuple[str, int | None]:
        with app.app_context():
            placed = till.submit(basket_id)
            return placed.status, placed.number

    with ThreadPoolExecutor(20) as threads:
        assert set(threads.map(press, range(20))) == {("SUBMITTED", 1)}
    assert (stock("KETTLE"), stock("TENT-L")) == (1, 0)
    assert db.session.query(StoredEvent).count() == 1
    assert history(basket_id).count("order.submit") == 1


@pytest.mark.concurrent
def test_of_twenty_paid_baskets_none_is_lost_and_no_stock_is_sold_twice(app: Flask, till: Till) -> None:
    baskets = [till.fill({"KETTLE": 1, "TENT-S": 1}) for _ in range(20)]
    for basket_id in baskets:
        till.pay(basket_id)
    db.session.remove()

    def press(basket_id: str) -> list[int]:
        with app.app_context():
            return [line.stock_taken for line in till.submit(basket_id).lines]

    with ThreadPoolExecutor(10) as threads:
        taken = list(threads.map(press, baskets))
    assert [sum(line) for line in zip(*taken, strict=True)] == [3, 2], "as many as there were"
    assert (stock("KETTLE"), stock("TENT-S")) == (0, 0)
    assert db.session.query(Order).filter_by(status="SUBMITTED").count() == 20
    assert len(alerts(till.author.site_id)) == len([one for one in taken if one != [1, 1]])


@pytest.mark.concurrent
def test_one_of_twenty_payments_at_once_locks_a_basket(app: Flask, till: Till) -> None:
    basket_id = till.fill({"KETTLE": 1})
    db.session.remove()

    def begin(_: int) -> bool:
        with app.app_context():
            try:
                return till.lock(basket_id) == 2_000
            except PaymentInProgress:
                return False

    with ThreadPoolExecutor(10) as threads:
        assert sum(threads.map(begin, range(20))) == 1


@pytest.mark.concurrent
def test_who_pays_and_who_changes_at_once_agree_on_the_contents(app: Flask, till: Till) -> None:
    basket_id = till.fill({"MUG": 1})
    db.session.remove()

    def act(number: int) -> int | None:
        with app.app_context():
            try:
                if number % 2:
                    return till.replace(basket_id, {"MUG": 2}, revision=1).total
                return till.lock(basket_id)
            except Conflict:
                return None

    with ThreadPoolExecutor(8) as threads:
        due = [total for total in list(threads.map(act, range(8)))[::2] if total is not None]
    basket = order(basket_id)
    assert due == [basket.total] and basket.total == sum(line.unit_price * line.quantity for line in basket.lines)
