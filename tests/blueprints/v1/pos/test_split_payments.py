"""An order is paid by several payments, by card and in cash, and never by more than it comes to."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app import ports
from app.domain.catalogue.models import Product
from app.domain.orders.models import Order
from app.domain.pos.journal_models import PosJournalEntry
from app.domain.pos.payments import transitions
from app.domain.pos.processor import IntentStatus
from app.domain.pos.states import PAID_TWICE
from app.domain.shared.author import Author
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.v1.pos.conftest import OTHER_AGENT, TillClient, Tills, problem, stored_payments
from tests.blueprints.v1.pos.test_cash import refund, take, void
from tests.factories import make_product
from tests.fakes.payment_processor import REJECTED, TIMEOUT_BEFORE

TOTAL = 2_500


@pytest.fixture
def basket(app: Flask, fair: int, agent: TillClient) -> str:
    """A basket of 25.00 that the agent filled through the API."""
    with app.app_context(), transaction():
        make_product(db.session.get(Site, fair), sku="KETTLE", price=TOTAL)
    body = {"locationId": agent.location, "lines": [{"skuCode": "KETTLE", "quantity": 1}]}
    answer = agent.api.call("POST", "/v1/basket", body)
    assert answer.status_code == 201, answer.text
    found: str = answer.json["id"]
    return found


def card(till: TillClient, basket: str, amount: int | None = None, **more: object) -> TestResponse:
    body = {"locationId": till.location, "amountInPence": amount} | more
    return till.api.call("POST", f"/v1/basket/{basket}/paymentIntent", body)


def tap(till: TillClient, intent: TestResponse) -> str:
    """Hold a card to the reader; return the id of the transaction."""
    assert intent.status_code == 201, intent.text
    till.processor.tap(intent.json["id"])
    found: str = till.capture(intent.json["id"]).json["transactionId"]
    return found


def read(till: TillClient, basket: str) -> dict[str, Any]:
    answer = till.api.call("GET", f"/v1/basket/{basket}")
    assert answer.status_code == 200
    return answer.json


def submit(till: TillClient, basket: str) -> TestResponse:
    return till.api.call("PUT", f"/v1/basket/{basket}/submit")


def sums(till: TillClient, basket: str) -> tuple[int, int]:
    shown = read(till, basket)
    return shown["amountPaid"], shown["amountDue"]


def test_an_order_is_paid_in_parts_of_both_kinds(app: Flask, agent: TillClient, basket: str) -> None:
    assert sums(agent, basket) == (0, TOTAL)
    assert take(agent, 1_000, orderId=basket, tenderedInPence=2_000).json["changeInPence"] == 1_000
    assert sums(agent, basket) == (1_000, 1_500)
    refused = submit(agent, basket)
    assert (*problem(refused), refused.json["amountDueInPence"]) == (409, "payment_required", 1_500)
    tap(agent, card(agent, basket, 1_200))
    assert sums(agent, basket) == (2_200, 300)
    last = card(agent, basket)
    assert last.json["amount"] == 300, "all that is due, where no part is named"
    tap(agent, last)
    shown = read(agent, basket)
    assert (shown["amountPaid"], shown["amountDue"], shown["paymentState"]) == (TOTAL, 0, "PAID")
    assert sorted((paid["tenderType"], paid["amountInPence"]) for paid in shown["payments"]) == [
        ("CARD", 300),
        ("CARD", 1_200),
        ("CASH", 1_000),
    ]
    assert "metadata" not in shown["payments"][0]
    assert submit(agent, basket).json["status"] == "SUBMITTED"
    assert read(agent, basket)["amountDue"] == 0


def test_more_than_is_due_is_refused(agent: TillClient, basket: str) -> None:
    take(agent, 2_000, orderId=basket)
    for refused in (take(agent, 501, orderId=basket), card(agent, basket, 501)):
        assert (*problem(refused), refused.json["amountDueInPence"]) == (422, "amount_exceeds_due", 500)
    assert take(agent, 500, orderId=basket, tenderedInPence=2_000).status_code == 201
    assert problem(take(agent, 1, orderId=basket)) == (409, "order_already_paid")
    assert problem(card(agent, basket)) == (409, "order_already_paid")


def test_what_a_card_under_way_may_take_is_reserved(agent: TillClient, basket: str) -> None:
    under_way = card(agent, basket, 1_500)
    assert sums(agent, basket) == (0, TOTAL)
    refused = take(agent, 1_001, orderId=basket)
    assert problem(refused) == (409, "payment_in_progress")
    assert refused.json["paymentIntentId"] == under_way.json["id"]
    assert problem(card(agent, basket)) == (409, "payment_in_progress"), "all that is due is more than is free"
    assert take(agent, 1_000, orderId=basket).status_code == 201
    assert problem(submit(agent, basket)) == (409, "payment_required")
    tap(agent, under_way)
    assert submit(agent, basket).status_code == 200


def test_a_card_that_nobody_held_sets_the_amount_free(agent: TillClient, basket: str) -> None:
    under_way = card(agent, basket, 1_500)
    agent.cancel(under_way.json["id"])
    assert take(agent, TOTAL, orderId=basket).status_code == 201
    agent.processor.fail("create_intent", REJECTED)


def test_nothing_is_taken_twice_while_nobody_knows_of_a_card(agent: TillClient, basket: str) -> None:
    agent.processor.fail("create_intent", TIMEOUT_BEFORE)
    assert card(agent, basket, 1_500).status_code == 504
    assert problem(take(agent, 1_001, orderId=basket)) == (409, "outcome_unknown")
    assert take(agent, 1_000, orderId=basket).status_code == 201


def test_the_contents_stay_from_the_first_payment_until_all_are_taken_back(
    app: Flask, agent: TillClient, basket: str
) -> None:
    paid = take(agent, 1_000, orderId=basket).json["id"]
    with app.app_context(), transaction():
        db.session.query(Product).filter_by(sku="KETTLE").one().price = 9_900
    change = {"lines": [{"skuCode": "KETTLE", "quantity": 2}], "revision": read(agent, basket)["revision"]}
    assert problem(agent.api.call("PUT", f"/v1/basket/{basket}", change)) == (409, "basket_locked")
    assert sums(agent, basket) == (1_000, 1_500), "at the price that the customer saw"
    assert void(agent, paid).status_code == 200
    assert sums(agent, basket) == (0, 9_900)
    assert agent.api.call("PUT", f"/v1/basket/{basket}", change).status_code == 200


def test_a_part_is_given_back_before_the_order_is_submitted(
    agent: TillClient, basket: str, set_agent: Callable[..., None]
) -> None:
    set_agent(can_refund=True)
    by_card = tap(agent, card(agent, basket, 1_500))
    take(agent, 1_000, orderId=basket)
    assert refund(agent, by_card, amountInPence=500).status_code == 201
    assert sums(agent, basket) == (2_000, 500)
    assert problem(submit(agent, basket)) == (409, "payment_required")
    take(agent, 500, orderId=basket)
    assert submit(agent, basket).status_code == 200
    refund(agent, by_card)
    assert read(agent, basket)["amountDue"] == 0, "what is given back of an order is not due again"


def test_only_the_last_payment_of_an_order_is_rounded(
    agent: TillClient, basket: str, set_site: Callable[..., None]
) -> None:
    set_site(posCashRounding=10)
    assert take(agent, 1_003, orderId=basket).json["roundingInPence"] == 0
    last = take(agent, 1_497, orderId=basket, tenderedInPence=2_000).json
    assert (last["amountInPence"], last["roundingInPence"], last["changeInPence"]) == (1_497, 3, 500)
    assert sums(agent, basket) == (TOTAL, 0)


def test_cash_of_a_submitted_order_is_not_taken_back(agent: TillClient, basket: str) -> None:
    paid = take(agent, TOTAL, orderId=basket).json["id"]
    submit(agent, basket)
    assert problem(void(agent, paid)) == (409, "void_not_allowed")


def test_a_colleague_takes_the_rest_in_cash(agent: TillClient, till: Tills, basket: str) -> None:
    take(agent, 1_000, orderId=basket)
    other = till(OTHER_AGENT)
    assert take(other, 1_500, orderId=basket).status_code == 201
    assert submit(agent, basket).status_code == 200


def pays_late(app: Flask, agent: TillClient, begun: dict) -> None:
    """A card pays 15.00 after its payment was cancelled."""
    paid = replace(agent.processor.intent(begun["id"]), status=IntentStatus.SUCCEEDED, amount_received=1_500)
    with app.app_context(), transaction():
        author = Author(1, "payment processor", ports.clock())
        transitions.apply_intent(author, begun["transactionId"], paid, "event")


def test_a_card_that_paid_late_what_cash_had_settled_is_an_anomaly(app: Flask, agent: TillClient, basket: str) -> None:
    begun = card(agent, basket, 1_500).json
    agent.cancel(begun["id"])
    take(agent, TOTAL, orderId=basket)
    pays_late(app, agent, begun)
    late = next(payment for payment in stored_payments(app) if payment.tender_type == "CARD")
    assert (late.status, late.is_surplus, late.anomaly) == ("SUCCEEDED", True, PAID_TWICE)
    assert sums(agent, basket) == (TOTAL, 0)
    assert submit(agent, basket).status_code == 200


def test_a_card_that_paid_late_pays_the_basket_once_the_cash_goes_back(
    app: Flask, agent: TillClient, basket: str
) -> None:
    begun = card(agent, basket, 1_500).json
    agent.cancel(begun["id"])
    cash = take(agent, TOTAL, orderId=basket).json["id"]
    pays_late(app, agent, begun)
    assert void(agent, cash).status_code == 200
    assert sums(agent, basket) == (1_500, TOTAL - 1_500)
    assert read(agent, basket)["paymentState"] == "IN_PROGRESS", "its contents are locked"
    take(agent, TOTAL - 1_500, orderId=basket)
    assert submit(agent, basket).status_code == 200
    late = next(payment for payment in stored_payments(app) if payment.tender_type == "CARD")
    assert not late.is_surplus


def test_a_surplus_pays_the_basket_once_the_cash_is_taken_back(app: Flask, agent: TillClient, basket: str) -> None:
    begun = card(agent, basket).json
    agent.cancel(begun["id"])
    cash = take(agent, TOTAL, orderId=basket).json["id"]
    paid = replace(agent.processor.intent(begun["id"]), status=IntentStatus.SUCCEEDED, amount_received=TOTAL)
    with app.app_context(), transaction():
        author = Author(1, "payment processor", ports.clock())
        transitions.apply_intent(author, begun["transactionId"], paid, "event")
    assert void(agent, cash).status_code == 200
    assert sums(agent, basket) == (TOTAL, 0)
    assert problem(take(agent, TOTAL, orderId=basket)) == (409, "order_already_paid")
    assert submit(agent, basket).status_code == 200
    late = next(payment for payment in stored_payments(app) if payment.tender_type == "CARD")
    assert (late.is_surplus, late.anomaly) == (False, None)


def test_a_card_that_paid_late_more_than_is_due_counts_and_waits_for_staff(
    app: Flask, agent: TillClient, basket: str, set_agent: Callable[..., None]
) -> None:
    begun = card(agent, basket, 1_500).json
    agent.cancel(begun["id"])
    take(agent, 2_000, orderId=basket)
    pays_late(app, agent, begun)
    assert sums(agent, basket) == (3_500, 0)
    assert problem(submit(agent, basket)) == (409, "amount_mismatch")
    set_agent(can_refund=True)
    cash = next(payment.id for payment in stored_payments(app) if payment.tender_type == "CASH")
    refund(agent, cash, amountInPence=1_000)
    assert submit(agent, basket).status_code == 200


def test_a_tip_is_no_part_of_the_order(
    app: Flask, agent: TillClient, basket: str, set_site: Callable[..., None]
) -> None:
    assert problem(card(agent, basket, 1_000, tipInPence=100)) == (422, "tips_disabled")
    set_site(posTipsEnabled=True)
    assert problem(card(agent, basket, 1_000, tipInPence=-1)) == (422, "amount_invalid")
    begun = card(agent, basket, 1_000, tipInPence=150)
    assert begun.json["amount"] == 1_150, "the card is asked for both"
    tap(agent, begun)
    [payment] = read(agent, basket)["payments"]
    assert (payment["amountInPence"], payment["tipInPence"], payment["status"]) == (1_000, 150, "SUCCEEDED")
    assert sums(agent, basket) == (1_000, 1_500)
    with app.app_context():
        assert [entry.amount for entry in db.session.query(PosJournalEntry)] == [1_150]


def test_the_limit_counts_the_tip(agent: TillClient, basket: str, set_site: Callable[..., None]) -> None:
    set_site(posTipsEnabled=True, posMaxTransactionAmount=2_600)
    assert problem(card(agent, basket, tipInPence=101)) == (422, "amount_exceeds_limit")
    assert card(agent, basket, tipInPence=100).status_code == 201


@pytest.mark.concurrent
def test_agents_who_take_the_last_part_at_once_take_it_once(
    app: Flask, agent: TillClient, till: Tills, basket: str
) -> None:
    take(agent, 1_000, orderId=basket)
    tills = [agent, till(OTHER_AGENT)]

    def act(number: int) -> int:
        who = tills[number % 2]
        answer = take(who, 1_500, orderId=basket) if number % 4 < 2 else card(who, basket)
        return answer.status_code

    with ThreadPoolExecutor(8) as threads:
        codes = list(threads.map(act, range(16)))
    assert codes.count(201) == 1 and set(codes) == {201, 409}
    with app.app_context():
        order = db.session.get(Order, basket)
        assert order.paid_amount + order.reserved_amount == TOTAL
    assert sum(payment.amount_in_pence for payment in stored_payments(app)) == TOTAL
    assert PAID_TWICE not in {payment.anomaly for payment in stored_payments(app)}
