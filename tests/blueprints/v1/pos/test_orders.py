"""A payment of an order is of exactly what is due, once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask

from app.domain.catalogue.models import Product
from app.domain.orders.models import Order
from app.domain.sites import accounts
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.v1.pos.conftest import ADMIN, AGENT, OTHER_AGENT, TillClient, Tills, problem, stored_payments
from tests.factories import make_order, make_product
from tests.fakes.payment_processor import REJECTED, TIMEOUT_BEFORE

MakeOrder = Callable[..., str]


@pytest.fixture
def order(app: Flask, fair: int) -> MakeOrder:
    """A basket of 25.00 that the agent filled."""

    def made(status: str = "OPEN", owner: str | None = AGENT, **more: object) -> str:
        with app.app_context(), transaction():
            site = db.session.get(Site, fair)
            owner_id = accounts.get_user(owner).id if owner else None
            found: str = make_order(site, make_product(site), status, owner_id=owner_id, **more).id
            return found

    return made


@pytest.fixture
def order_of(app: Flask) -> Callable[[str], Order]:
    def read(order_id: str) -> Order:
        with app.app_context():
            found = db.session.get(Order, order_id)
            db.session.expunge_all()
            return found

    return read


def pay(till: TillClient, order_id: str, amount: int = 2_500, **more: object) -> object:
    return till.create(orderId=order_id, amountInPence=amount, **more)


def test_an_order_is_not_paid_in_another_currency_than_the_one_it_was_placed_in(
    app: Flask, fair: int, agent: TillClient, order, order_of
) -> None:
    placed, basket = order("SUBMITTED", owner=None), order()
    with app.app_context(), transaction():
        db.session.get(Site, fair).currency = "jpy"  # As the import of a shop does.
    answer = pay(agent, placed, currency="jpy")
    assert problem(answer) == (422, "currency_not_supported")
    assert answer.json["detail"] == "This order was placed in GBP, and payments here are in JPY."
    assert (stored_payments(app), agent.processor.intents(), order_of(placed).is_locked) == ([], [], False)
    due = pay(agent, basket, amount=2 * 1_250, currency="jpy")
    assert due.status_code == 201, "a basket is priced anew"


def test_what_is_due_for_an_order_is_paid(app: Flask, agent: TillClient, order, order_of) -> None:
    order_id = order()
    answer = pay(agent, order_id)
    payment = stored_payments(app)[0]
    assert (answer.status_code, answer.json["amount"]) == (201, 2_500)
    assert (payment.type, payment.order_id, order_of(order_id).reserved_amount) == ("ORDER_PAYMENT", order_id, 2_500)
    agent.processor.tap(answer.json["id"])
    shown = agent.capture(answer.json["id"]).json["transaction"]
    assert (shown["transactionType"], shown["orderId"]) == ("ORDER_PAYMENT", order_id)
    assert (order_of(order_id).paid_amount, order_of(order_id).paid_at is None) == (2_500, False)
    assert problem(pay(agent, order_id)) == (409, "order_already_paid")


@pytest.mark.parametrize("amount", (2_499, 2_501, 30))
def test_another_amount_than_what_is_due_is_refused(
    app: Flask, agent: TillClient, order, order_of, amount: int
) -> None:
    order_id = order()
    answer = pay(agent, order_id, amount)
    assert problem(answer) == (422, "amount_mismatch")
    assert (order_of(order_id).is_locked, stored_payments(app)) == (False, [])


def test_one_payment_of_an_order_is_under_way_at_a_time(agent: TillClient, order) -> None:
    order_id = order()
    first = pay(agent, order_id).json["id"]
    second = pay(agent, order_id)
    assert problem(second) == (409, "payment_in_progress")
    assert second.json["paymentIntentId"] == first
    agent.cancel(first)
    assert pay(agent, order_id).status_code == 201


def test_nothing_is_charged_while_nobody_knows_about_the_last_payment(agent: TillClient, order) -> None:
    order_id = order()
    agent.processor.fail("create_intent", TIMEOUT_BEFORE)
    lost = pay(agent, order_id)
    answer = pay(agent, order_id)
    assert problem(answer) == (409, "outcome_unknown")
    assert (answer.json["transactionId"], answer.json["paymentIntentId"]) == (lost.json["transactionId"], None)


def test_a_payment_that_the_processor_refused_leaves_the_order_open(agent: TillClient, order, order_of) -> None:
    order_id = order()
    agent.processor.fail("create_intent", REJECTED)
    assert pay(agent, order_id).status_code == 502
    assert not order_of(order_id).is_locked
    assert pay(agent, order_id).status_code == 201


@pytest.mark.parametrize(
    ("owner", "status", "payer", "found"),
    (
        (AGENT, "OPEN", AGENT, True),
        (AGENT, "OPEN", OTHER_AGENT, False),
        (None, "OPEN", AGENT, False),
        (None, "SUBMITTED", AGENT, True),
        (AGENT, "SUBMITTED", OTHER_AGENT, False),
    ),
)
def test_agents_take_payments_of_their_own_baskets_and_of_orders_from_the_web(
    till: Tills, order, owner: str | None, status: str, payer: str, found: bool
) -> None:
    answer = pay(till(payer), order(status, owner))
    assert answer.status_code == (201 if found else 404)
    assert found or answer.json["code"] == "order_not_found"


def test_an_order_of_nothing_and_nowhere_is_not_found(agent: TillClient) -> None:
    for missing in ("nothing", "", "x" * 500):
        assert problem(pay(agent, missing)) == (404, "order_not_found")


def test_a_replay_is_answered_while_its_order_is_locked(agent: TillClient, order) -> None:
    order_id = order()
    first, again = (agent.create(key="k", orderId=order_id, amountInPence=2_500) for _ in range(2))
    assert (again.status_code, again.json) == (201, first.json)


def test_the_price_of_today_is_what_is_due(app: Flask, agent: TillClient, order) -> None:
    order_id = order()
    with app.app_context(), transaction():
        lines = db.session.get(Order, order_id).lines
        db.session.get(Product, lines[0].product_id).price = 2_000
    assert problem(pay(agent, order_id)) == (422, "amount_mismatch")
    assert pay(agent, order_id, 4_000).status_code == 201


def test_an_admin_who_is_no_agent_cancels_the_payment_of_an_order(agent: TillClient, till, order, order_of) -> None:
    order_id = order()
    intent_id = pay(agent, order_id).json["id"]
    assert till(ADMIN).cancel(intent_id).status_code == 200
    assert not order_of(order_id).is_locked
