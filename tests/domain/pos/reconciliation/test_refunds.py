"""Money given back: once for each request, and never more than came in."""

from __future__ import annotations

import threading

import pytest
from flask import Flask

from app.domain.pos.models import PosAgent
from app.domain.pos.processor import Misconfigured, Rejected
from app.domain.pos.refunds import RefundRequest, RefundSummary, request_refund
from app.domain.shared.problems import Conflict, DomainError, Forbidden, Invalid, NotFound, Unprocessable
from app.extensions import db
from tests.domain.pos.reconciliation.refunding import WHY, given_back, refund, refunds
from tests.domain.pos.shop_with_till import ShopWithTill, stored
from tests.fakes.payment_processor import MISCONFIGURED, REJECTED


def test_a_part_and_then_the_rest_is_given_back(till: ShopWithTill, paid: str) -> None:
    assert refund(till, paid, 500).status == "SUCCEEDED"
    assert (stored(paid).status, stored(paid).refunded_amount) == ("PARTIALLY_REFUNDED", 500)
    assert refund(till, paid).amount == 750
    assert (stored(paid).status, stored(paid).refunded_amount) == ("REFUNDED", 1_250)
    assert given_back(till, paid) == 1_250


@pytest.mark.parametrize(
    ("amount", "error", "code"),
    [(0, Unprocessable, "amount_invalid"), (-5, Unprocessable, "amount_invalid"),
     (1_251, Unprocessable, "refund_exceeds_payment"), (10**12, Unprocessable, "refund_exceeds_payment")],
)  # fmt: skip
def test_amounts_that_cannot_be_given_back_are_refused_and_nothing_happens(
    till: ShopWithTill, paid: str, amount: int, error: type[DomainError], code: str
) -> None:
    with pytest.raises(error) as raised:
        refund(till, paid, amount)
    assert raised.value.code == code and refunds() == []
    assert till.processor.made("refund") == 0


def test_only_what_was_paid_is_refunded(till: ShopWithTill, paid: str) -> None:
    with pytest.raises(Conflict) as raised:
        refund(till, till.payment())
    assert raised.value.code == "payment_not_refundable"
    refund(till, paid)
    with pytest.raises(Conflict) as raised:
        refund(till, paid)
    assert raised.value.code == "already_refunded"


def test_a_card_payment_of_another_processor_is_given_back_in_cash_alone(till: ShopWithTill) -> None:
    elsewhere = till.payment("SUCCEEDED", processor="demo", captured_amount=1_250)
    with pytest.raises(Conflict, match="made with Demo, which the shop does not use now"):
        refund(till, elsewhere)
    assert refunds() == [] and till.processor.made("refund") == 0
    in_cash = RefundRequest(elsewhere, 500, WHY, tender_type="CASH")
    assert request_refund(till.context, till.author, till.processor, in_cash).status == "SUCCEEDED"


def test_a_refund_has_a_reason_without_card_numbers(till: ShopWithTill, paid: str) -> None:
    for reason in ("", "  ", "x" * 201, "card 4242 4242 4242 4242"):
        with pytest.raises(Invalid):
            request_refund(till.context, till.author, till.processor, RefundRequest(paid, None, reason))
    assert refunds() == []


def test_agents_refund_their_own_payments_when_they_may(till: ShopWithTill, paid: str) -> None:
    agent = db.session.get_one(PosAgent, till.agent_id)
    db.session.expunge(agent)

    def requested() -> RefundSummary:
        wanted = RefundRequest(paid, 100, WHY, agent=agent, location_id=till.location_id)
        return request_refund(till.context, till.author, till.processor, wanted)

    agent.can_refund = False
    with pytest.raises(Forbidden):
        requested()
    agent.can_refund = True
    assert requested().status == "SUCCEEDED"
    agent.id += 1
    with pytest.raises(NotFound):
        requested()
    with pytest.raises(NotFound):
        elsewhere = RefundRequest(paid, 100, WHY, location_id=till.location_id + 1)
        request_refund(till.context, till.author, till.processor, elsewhere)


def test_a_request_under_one_key_is_one_refund(till: ShopWithTill, paid: str) -> None:
    first, second = refund(till, paid, 500, "k"), refund(till, paid, 500, "k")
    assert (first.id, first.is_replayed, second.is_replayed) == (second.id, False, True)
    assert refunds() == [(500, "SUCCEEDED")] and given_back(till, paid) == 500
    with pytest.raises(Unprocessable) as raised:
        refund(till, paid, 501, "k")
    assert raised.value.code == "idempotency_mismatch"


def test_the_key_of_a_part_is_not_that_of_all_that_is_left(till: ShopWithTill, paid: str) -> None:
    refund(till, paid, 500, "part")
    with pytest.raises(Unprocessable) as raised:
        refund(till, paid, None, "part")
    assert raised.value.code == "idempotency_mismatch"
    first, second = refund(till, paid, None, "rest"), refund(till, paid, None, "rest")
    assert (first.id, first.amount, second.is_replayed) == (second.id, 750, True)
    assert given_back(till, paid) == 1_250


@pytest.mark.parametrize(("fault", "error"), [(REJECTED, Rejected), (MISCONFIGURED, Misconfigured)])
def test_what_the_processor_refuses_is_said_at_once_and_takes_nothing(
    till: ShopWithTill, paid: str, fault: object, error: type[DomainError]
) -> None:
    till.processor.fail("refund", fault)
    with pytest.raises(error):
        refund(till, paid, 500)
    assert refunds() == [(500, "FAILED")] and stored(paid).refunded_amount == 0
    assert refund(till, paid).amount == 1_250


@pytest.mark.concurrent
def test_many_who_refund_at_once_never_give_back_more_than_came_in(app: Flask, till: ShopWithTill, paid: str) -> None:
    together, refused = threading.Barrier(8), list[DomainError]()

    def press() -> None:
        with app.app_context():
            together.wait()
            try:
                refund(till, paid, 400)
            except DomainError as error:
                refused.append(error)
            db.session.remove()

    db.session.remove()
    threads = [threading.Thread(target=press) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 5 and {error.code for error in refused} == {"refund_exceeds_payment"}
    assert (stored(paid).refunded_amount, given_back(till, paid)) == (1_200, 1_200)
