"""A payment that was begun is read, captured or cancelled; money wins every race."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from flask import Flask

from app.domain.pos.processor import AccountRef
from tests.blueprints.v1.pos.conftest import (
    ADMIN,
    ELSEWHERE,
    OTHER_AGENT,
    SHOP,
    TillClient,
    Tills,
    problem,
    stored_payments,
)
from tests.fakes.payment_processor import MISCONFIGURED, RATE_LIMITED_429, TIMEOUT_AFTER, TIMEOUT_BEFORE

Change = Callable[..., None]


def status(app: Flask) -> str:
    return stored_payments(app)[-1].status


def test_the_tap_pays_and_the_capture_brings_the_shop_up_to_date(app: Flask, agent: TillClient) -> None:
    intent_id = agent.began()
    agent.processor.tap(intent_id)
    answer, payment = agent.capture(intent_id), stored_payments(app)[0]
    assert (answer.status_code, agent.processor.made("capture_intent")) == (200, 0)
    assert answer.json == {
        "id": intent_id,
        "status": "succeeded",
        "amount": 1_250,
        "currency": "gbp",
        "amountReceived": 1_250,
        "transactionId": payment.id,
        "transaction": {
            "id": payment.id,
            "agentId": str(payment.agent_id),
            "amountInPence": 1_250,
            "currency": "gbp",
            "status": "SUCCEEDED",
            "transactionType": "QUICK_PAYMENT",
            "orderId": None,
            "orderNumber": None,
            "cardBrand": "visa",
            "cardLast4": "4242",
            "tenderType": "CARD",
            "tipInPence": 0,
            "changeInPence": None,
            "roundingInPence": None,
            "clientSaleId": None,
            "created": "2026-11-20T12:00:00Z",
        },
    }
    assert (agent.capture(intent_id).status_code, agent.capture(intent_id).json) == (200, answer.json)


def test_a_card_that_was_only_authorised_is_captured(app: Flask, agent: TillClient) -> None:
    intent_id = agent.began()
    agent.processor.tap(intent_id, "stuck_capture")
    assert agent.capture(intent_id).json["status"] == "succeeded"
    keys = [call.key for call in agent.processor.calls if call.operation == "capture_intent"]
    assert keys == [f"pos-capture-{stored_payments(app)[0].id}"]


@pytest.mark.parametrize("fault", (TIMEOUT_BEFORE, TIMEOUT_AFTER))
def test_a_capture_whose_answer_got_lost_is_read_again(agent: TillClient, fault: object) -> None:
    intent_id = agent.began()
    agent.processor.tap(intent_id, "stuck_capture")
    agent.processor.fail("capture_intent", fault)
    first, second = agent.capture(intent_id), agent.capture(intent_id)
    assert first.status_code == (200 if fault is TIMEOUT_AFTER else 202)
    assert (second.status_code, second.json["status"]) == (200, "succeeded")
    assert sum(agent.processor.ledger().values()) == 1_250


def test_before_a_tap_there_is_nothing_to_capture(app: Flask, agent: TillClient) -> None:
    answer = agent.capture(intent_id := agent.began())
    assert problem(answer) == (409, "payment_not_collected")
    assert answer.json["paymentIntentId"] == intent_id
    assert (status(app), agent.read(intent_id).json["lastError"]) == ("PENDING", None)


def test_a_declined_card_can_be_followed_by_another(app: Flask, agent: TillClient) -> None:
    intent_id = agent.began()
    agent.processor.tap(intent_id, "insufficient")
    answer = agent.capture(intent_id)
    assert problem(answer) == (402, "card_declined")
    assert (answer.json["declineCode"], answer.json["retryable"]) == ("insufficient_funds", True)
    assert (status(app), stored_payments(app)[0].attempts) == ("PENDING", 1)
    error = {"code": "card_declined", "declineCode": "insufficient_funds"}
    assert agent.read(intent_id).json["lastError"] == error
    agent.processor.tap(intent_id)
    assert agent.capture(intent_id).status_code == 200
    assert agent.read(intent_id).json["lastError"] is None


def test_what_is_being_processed_is_asked_for_again(agent: TillClient) -> None:
    intent_id = agent.began()
    agent.processor.tap(intent_id, "slow")
    answer = agent.capture(intent_id)
    assert (answer.status_code, answer.headers["Retry-After"], answer.json["status"]) == (202, "2", "processing")
    assert problem(agent.cancel(intent_id)) == (409, "payment_processing")
    agent.processor.finish(intent_id)
    assert agent.capture(intent_id).status_code == 200


def test_without_an_answer_a_capture_is_unknown_until_it_is_read(app: Flask, agent: TillClient) -> None:
    intent_id = agent.began()
    agent.processor.tap(intent_id)
    agent.processor.fail("retrieve_intent", TIMEOUT_BEFORE)
    answer = agent.capture(intent_id)
    assert (answer.status_code, answer.headers["Retry-After"]) == (202, "2")
    assert (answer.json["status"], answer.json["transaction"]["status"]) == ("processing", "UNKNOWN")
    assert status(app) == "UNKNOWN"
    assert agent.read(intent_id).json["status"] == "succeeded"


@pytest.mark.parametrize(
    ("fault", "refused"),
    ((RATE_LIMITED_429, (503, "processor_unavailable")), (MISCONFIGURED, (502, "processor_misconfigured"))),
)
def test_a_processor_that_refuses_changes_nothing(
    app: Flask, agent: TillClient, fault: object, refused: tuple[int, str]
) -> None:
    intent_id = agent.began()
    for call, operation in ((agent.capture, "retrieve_intent"), (agent.cancel, "cancel_intent")):
        agent.processor.fail(operation, fault)
        answer = call(intent_id)
        assert problem(answer) == refused
        assert answer.json["transactionId"] == stored_payments(app)[0].id
    assert status(app) == "PENDING"


def test_a_payment_is_cancelled_once(app: Flask, agent: TillClient) -> None:
    intent_id = agent.began()
    first, again = agent.cancel(intent_id, reason="requested_by_customer"), agent.cancel(intent_id)
    assert (first.status_code, first.json) == (again.status_code, again.json)
    assert first.json == {
        "id": intent_id,
        "status": "canceled",
        "amount": 1_250,
        "currency": "gbp",
        "transactionId": stored_payments(app)[0].id,
    }
    assert agent.processor.made("cancel_intent") == 1
    assert problem(agent.capture(intent_id)) == (409, "payment_canceled")
    assert agent.read(intent_id).json["clientSecret"] is None


def test_a_cancellation_that_lost_the_race_shows_the_payment(app: Flask, agent: TillClient) -> None:
    intent_id = agent.began()
    agent.processor.tap(intent_id)
    for _ in range(2):
        answer = agent.cancel(intent_id)
        assert problem(answer) == (409, "already_captured")
        assert answer.json["transaction"]["status"] == status(app) == "SUCCEEDED"


@pytest.mark.parametrize("fault", (TIMEOUT_BEFORE, TIMEOUT_AFTER))
def test_a_cancellation_without_an_answer_is_unknown(app: Flask, agent: TillClient, fault: object) -> None:
    intent_id = agent.began()
    agent.processor.fail("cancel_intent", fault)
    answer = agent.cancel(intent_id)
    assert (answer.status_code, answer.headers["Retry-After"], status(app)) == (202, "2", "UNKNOWN")
    assert (agent.cancel(intent_id).status_code, status(app)) == (200, "CANCELLED")


def test_a_reason_is_one_of_four(agent: TillClient) -> None:
    intent_id = agent.began()
    assert problem(agent.cancel(intent_id, reason="bored")) == (400, "invalid")
    assert problem(agent.cancel(intent_id, why="bored")) == (400, "invalid")


def test_an_agent_acts_on_their_own_payments_and_an_admin_on_all(till: Tills, agent: TillClient) -> None:
    intent_id = agent.began()
    other, admin = till(OTHER_AGENT), till(ADMIN)
    assert problem(other.capture(intent_id)) == problem(other.cancel(intent_id)) == (404, "payment_intent_not_found")
    for reader in (other, admin):
        shown = reader.read(intent_id)
        assert (shown.status_code, shown.json["clientSecret"]) == (200, None)
    assert agent.read(intent_id).json["clientSecret"] is not None
    assert admin.cancel(intent_id).status_code == 200


@pytest.mark.parametrize("location", (SHOP, ELSEWHERE))
def test_a_payment_of_another_location_is_not_found(till: Tills, agent: TillClient, location: str) -> None:
    intent_id, admin = agent.began(), till(ADMIN, location)
    expected = (404, "payment_intent_not_found" if location == SHOP else "location_not_found")
    assert {
        problem(answer) for answer in (admin.read(intent_id), admin.capture(intent_id), admin.cancel(intent_id))
    } == {expected}


def test_money_is_settled_while_payments_are_switched_off(agent: TillClient, set_site: Change) -> None:
    paid, given_up = agent.began(), agent.began()
    agent.processor.tap(paid)
    set_site(posEnabled=False)
    assert problem(agent.create()) == (403, "pos_disabled")
    assert problem(agent.call("POST", "connectionToken")) == (403, "pos_disabled")
    assert agent.capture(paid).status_code == agent.cancel(given_up).status_code == agent.list().status_code == 200


def test_a_disabled_agent_settles_nothing_any_more(till: Tills, agent: TillClient, set_agent: Change) -> None:
    intent_id = agent.began()
    set_agent(enabled=False)
    assert problem(agent.capture(intent_id)) == (403, "agent_disabled")
    assert problem(agent.cancel(intent_id)) == (403, "agent_disabled")
    assert till(ADMIN).cancel(intent_id).status_code == 200


def test_captures_and_cancellations_share_a_limit(agent: TillClient) -> None:
    intent_id = agent.began()
    answers = [agent.capture(intent_id) for _ in range(40)] + [agent.cancel(intent_id) for _ in range(21)]
    assert 429 not in [answer.status_code for answer in answers[:60]]
    assert problem(answers[60]) == (429, "rate_limited")


@pytest.mark.parametrize("card", ("4242", "stuck_capture", None))
def test_of_captures_and_cancellations_at_once_the_processor_decides(
    app: Flask, agent: TillClient, card: str | None
) -> None:
    for _ in range(5):
        intent_id = agent.began()
        if card:
            agent.processor.tap(intent_id, card)
        apps = [replace(agent, api=replace(agent.api, client=app.test_client())) for _ in range(4)]

        def race(numbered: tuple[int, TillClient], intent_id: str = intent_id) -> int:
            number, one = numbered
            return (one.capture if number % 2 else one.cancel)(intent_id).status_code

        with ThreadPoolExecutor(4) as pool:
            statuses = list(pool.map(race, enumerate(apps)))
        assert set(statuses) <= {200, 202, 409}
        at_processor = agent.processor.retrieve_intent(AccountRef(), intent_id).status.value
        expected = {"succeeded": "SUCCEEDED", "canceled": "CANCELLED"}[at_processor]
        assert next(one.status for one in stored_payments(app) if one.processor_intent_id == intent_id) == expected
