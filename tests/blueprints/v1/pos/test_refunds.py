"""Refunds over the API."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.domain.alerts.alerts import open_alerts
from tests.blueprints.v1.pos.conftest import ADMIN, OTHER_AGENT, TillClient, Tills, problem, stored_payments
from tests.fakes.payment_processor import MISCONFIGURED, REJECTED, TIMEOUT_AFTER, FakeProcessor

BODY = {"amountInPence": 500, "reason": "One mug was broken"}


@pytest.fixture
def paid(agent: TillClient, set_agent: Callable[..., None], processor: FakeProcessor) -> str:
    """A payment of 12.50 by an agent who may give refunds."""
    set_agent(can_refund=True)
    intent_id = agent.began()
    processor.tap(intent_id)
    found: str = agent.capture(intent_id).json["transactionId"]
    return found


def refund(till: TillClient, payment: str, body: object = BODY, key: str | None = None) -> TestResponse:
    headers = {"Idempotency-Key": key} if key else {}
    return till.call("POST", f"transactions/{payment}/refunds", body, headers=headers)


def test_an_agent_who_may_gives_a_part_back_and_then_the_rest(app: Flask, agent: TillClient, paid: str) -> None:
    answer = refund(agent, paid)
    assert answer.status_code == 201
    assert answer.json == {
        "id": answer.json["id"],
        "transactionId": paid,
        "tender": "CARD",
        "amountInPence": 500,
        "roundingInPence": 0,
        "currency": "gbp",
        "reason": "One mug was broken",
        "status": "SUCCEEDED",
        "created": "2026-11-20T12:00:00Z",
    }
    assert refund(agent, paid, {"reason": "The other one, too"}).json["amountInPence"] == 750
    assert [payment.status for payment in stored_payments(app)] == ["REFUNDED"]
    assert problem(refund(agent, paid)) == (409, "already_refunded")


def test_a_key_makes_a_repetition_the_same_refund(agent: TillClient, paid: str, processor: FakeProcessor) -> None:
    first, second = refund(agent, paid, key="k"), refund(agent, paid, key="k")
    assert (second.status_code, second.json, second.headers["Idempotent-Replayed"]) == (201, first.json, "true")
    assert processor.made("refund") == 1
    assert problem(refund(agent, paid, BODY | {"amountInPence": 1}, key="k")) == (422, "idempotency_mismatch")


def test_what_took_no_money_cannot_be_given_back(agent: TillClient, set_agent: Callable[..., None]) -> None:
    set_agent(can_refund=True)
    payment = agent.create().json["transactionId"]
    answer = refund(agent, payment)
    assert problem(answer) == (409, "payment_not_refundable")
    assert (answer.json["status"], answer.json["transactionStatus"]) == (409, "PENDING")


def test_no_amount_is_the_rest_and_null_is_no_amount(agent: TillClient, paid: str) -> None:
    answer = refund(agent, paid, BODY | {"amountInPence": None})
    assert problem(answer) == (400, "invalid")
    (problems,) = answer.json["errors"]
    assert problems["pointer"] == "#/amountInPence"
    assert "must be a whole number, not null" in problems["message"]
    assert refund(agent, paid, {"reason": "All of it"}).json["amountInPence"] == 1_250


@pytest.mark.parametrize(
    "body",
    [{}, {"amountInPence": 500}, {"reason": ""}, {"reason": "x" * 201}, {"reason": "4242 4242 4242 4242"},
     BODY | {"amountInPence": "500"}, BODY | {"amountInPence": 5.5}, BODY | {"amountInPence": True},
     BODY | {"more": 1}],
)  # fmt: skip
def test_what_is_no_refund_is_refused_whole(agent: TillClient, paid: str, body: object) -> None:
    assert refund(agent, paid, body).status_code == 400


@pytest.mark.parametrize(
    ("amount", "code"), [(0, "amount_invalid"), (-1, "amount_invalid"), (1_251, "refund_exceeds_payment")]
)
def test_amounts_beyond_the_payment_are_refused(agent: TillClient, paid: str, amount: int, code: str) -> None:
    assert problem(refund(agent, paid, BODY | {"amountInPence": amount})) == (422, code)


def test_who_may_not_cannot(
    agent: TillClient, till: Tills, paid: str, set_agent: Callable[..., None], set_site: Callable[..., None]
) -> None:
    assert problem(refund(till(OTHER_AGENT), paid)) == (403, "refund_not_permitted")
    set_agent(can_refund=False)
    assert problem(refund(agent, paid)) == (403, "refund_not_permitted")
    assert problem(refund(agent, "nothing")) == (404, "transaction_not_found")
    set_site(posEnabled=False)
    assert refund(till(ADMIN, audience="api"), paid).status_code == 201, "money can be settled all the same"


def test_a_lost_answer_is_not_known_yet(agent: TillClient, paid: str, processor: FakeProcessor) -> None:
    processor.fail("refund", TIMEOUT_AFTER)
    answer = refund(agent, paid, key="k")
    assert (answer.status_code, answer.json["status"], answer.headers["Retry-After"]) == (202, "UNKNOWN", "2")
    assert refund(agent, paid, key="k").status_code == 202 and processor.made("refund") == 1


def test_a_refused_refund_is_an_error_however_often_it_is_asked_for(
    agent: TillClient, paid: str, processor: FakeProcessor
) -> None:
    processor.fail("refund", REJECTED)
    first, second = refund(agent, paid, key="k"), refund(agent, paid, key="k")
    assert problem(first) == problem(second) == (502, "processor_error")
    assert first.json["detail"] == second.json["detail"]
    assert first.json["transactionId"] == second.json["transactionId"] == paid
    assert processor.made("refund") == 1
    made = refund(agent, paid, key="another")
    assert made.status_code == 201
    shown = agent.call("GET", f"transactions/{paid}").json
    by_status = {one["status"]: one for one in shown["refunds"]}
    assert sorted(by_status) == ["FAILED", "SUCCEEDED"]
    assert by_status["SUCCEEDED"] == {name: made.json[name] for name in by_status["FAILED"]}
    assert shown["refundedAmount"] == 500


def test_a_wrong_key_of_the_shop_is_an_admins_matter(
    app: Flask, agent: TillClient, paid: str, processor: FakeProcessor
) -> None:
    processor.fail("refund", MISCONFIGURED)
    assert problem(refund(agent, paid)) == (502, "processor_misconfigured")
    with app.app_context():
        assert [alert.cause for alert in open_alerts(stored_payments(app)[0].site_id)] == ["processor_misconfigured"]
