"""Smart readers take cards for a till: its own payments, at its own location, each charged once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.blueprints.v1.conftest import WEBHOOK
from tests.blueprints.v1.pos.conftest import (
    ADMIN,
    ELSEWHERE,
    FAIR,
    OTHER_AGENT,
    SHOP,
    TillClient,
    Tills,
    problem,
    stored_payments,
)
from tests.fakes.payment_processor import (
    ERROR_500_AFTER,
    MISCONFIGURED,
    RATE_LIMITED_429,
    TIMEOUT_AFTER,
    TIMEOUT_BEFORE,
    Call,
    FakeProcessor,
)

Change = Callable[..., None]
WAITING = {"type": "process_payment_intent", "status": "in_progress", "failureCode": None, "failureMessage": None}


@pytest.fixture
def reader_id(processor: FakeProcessor) -> str:
    return processor.add_reader(FAIR)


def process(till: TillClient, reader_id: str, intent_id: str, **more: Any) -> TestResponse:
    return till.call("POST", f"readers/{reader_id}/process", {"paymentIntentId": intent_id}, **more)


def cancel(till: TillClient, reader_id: str) -> TestResponse:
    return till.call("POST", f"readers/{reader_id}/cancel")


def action(till: TillClient, reader_id: str) -> dict[str, Any] | None:
    answer = till.call("GET", f"readers/{reader_id}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] | None = answer.json["action"]
    return found


def waiting(intent_id: str) -> dict[str, Any]:
    return WAITING | {"paymentIntentId": intent_id}


# Looking at readers


def test_an_agent_sees_the_readers_of_the_location(agent: TillClient, reader_id: str) -> None:
    agent.processor.add_reader(SHOP, label="Of the shop")
    off = agent.processor.add_reader(FAIR, label="Door", status="offline")
    plain = {"deviceType": "stripe_s700", "action": None}
    assert agent.call("GET", "readers").json == {
        "items": [
            plain | {"id": off, "label": "Door", "status": "offline"},
            plain | {"id": reader_id, "label": "Counter", "status": "online"},
        ]
    }
    assert agent.call("GET", f"readers/{reader_id}").json["label"] == "Counter"


def test_a_location_without_readers_has_an_empty_list(agent: TillClient) -> None:
    assert agent.call("GET", "readers").json == {"items": []}


@pytest.mark.parametrize("number", ["tmr_unknown", "..", "a b", "tmr_1?x", "é", "x" * 300])
def test_what_is_no_reader_of_the_location_is_not_found(agent: TillClient, number: str) -> None:
    path = f"readers/{number.replace('?', '%3F').replace(' ', '%20')}"
    assert problem(agent.call("GET", path)) == (404, "reader_not_found")
    assert problem(agent.call("POST", f"{path}/cancel")) == (404, "reader_not_found")
    assert problem(process(agent, path.removeprefix("readers/"), agent.began())) == (404, "reader_not_found")


def test_a_reader_of_another_location_is_not_found(agent: TillClient) -> None:
    for place in (SHOP, ELSEWHERE):
        theirs = agent.processor.add_reader(place)
        for answer in (
            agent.call("GET", f"readers/{theirs}"),
            process(agent, theirs, agent.began()),
            cancel(agent, theirs),
        ):
            assert problem(answer) == (404, "reader_not_found")
    assert agent.processor.made("process_intent") == agent.processor.made("cancel_reader_action") == 0


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (MISCONFIGURED, (502, "processor_misconfigured")),
        (RATE_LIMITED_429, (503, "processor_unavailable")),
        (TIMEOUT_BEFORE, (504, "processor_timeout")),
    ],
)
@pytest.mark.parametrize("operation", ["list_readers", "retrieve_reader", "process_intent", "cancel_reader_action"])
def test_what_ails_the_processor_is_said(
    agent: TillClient, reader_id: str, operation: str, fault: Any, expected: tuple[int, str]
) -> None:
    intent_id = agent.began()
    calls = {
        "list_readers": lambda: agent.call("GET", "readers"),
        "retrieve_reader": lambda: agent.call("GET", f"readers/{reader_id}"),
        "process_intent": lambda: process(agent, reader_id, intent_id),
        "cancel_reader_action": lambda: cancel(agent, reader_id),
    }
    if operation == "cancel_reader_action":
        process(agent, reader_id, intent_id)
    agent.processor.fail(operation, fault)
    answer = calls[operation]()
    assert problem(answer) == expected
    assert ("transactionId" in answer.json) == (operation in ("process_intent", "cancel_reader_action"))
    assert calls[operation]().status_code == 200


# A payment on a reader


def test_a_card_on_the_reader_pays_the_sale(app: Flask, agent: TillClient, reader_id: str) -> None:
    intent_id = agent.began()
    answer = process(agent, reader_id, intent_id)
    assert (answer.status_code, answer.json["id"], answer.json["action"]) == (200, reader_id, waiting(intent_id))
    assert agent.read(intent_id).json["status"] == "requires_payment_method"
    agent.processor.present(reader_id)
    assert action(agent, reader_id) == waiting(intent_id) | {"status": "succeeded"}
    assert agent.capture(intent_id).json["status"] == "succeeded"
    assert agent.processor.ledger() == {stored_payments(app)[0].id: 1_250}


def test_a_decline_on_the_reader_shows_in_the_payment_which_takes_another_card(
    app: Flask, agent: TillClient, reader_id: str
) -> None:
    intent_id = agent.began()
    for attempts, card in ((1, "insufficient"), (2, "insufficient"), (3, "lost")):
        assert process(agent, reader_id, intent_id).json["action"] == waiting(intent_id)
        assert action(agent, reader_id) == waiting(intent_id)
        agent.processor.present(reader_id, card)
        failed = action(agent, reader_id)
        assert failed is not None
        assert (failed["status"], failed["failureCode"]) == ("failed", "card_declined")
        read = agent.read(intent_id).json
        declined = {"insufficient": "insufficient_funds", "lost": "lost_card"}[card]
        assert read["lastError"] == {"code": "card_declined", "declineCode": declined}
        assert (read["status"], stored_payments(app)[0].attempts) == ("requires_payment_method", attempts)
    process(agent, reader_id, intent_id)
    agent.processor.present(reader_id)
    assert (agent.read(intent_id).json["status"], agent.read(intent_id).json["lastError"]) == ("succeeded", None)
    assert sum(agent.processor.ledger().values()) == 1_250


def test_after_the_customer_went_away_the_reader_waits_anew(agent: TillClient, reader_id: str) -> None:
    """No attempt was made, so nothing about the payment changed: a key of the payment alone would be replayed."""
    intent_id = agent.began()
    for _ in range(2):
        assert process(agent, reader_id, intent_id).json["action"] == waiting(intent_id)
        assert action(agent, reader_id) == waiting(intent_id)
        agent.processor.accounts[""].leave_reader(reader_id)
        assert action(agent, reader_id) == waiting(intent_id) | {
            "status": "failed",
            "failureCode": "customer_canceled",
            "failureMessage": "The customer cancelled.",
        }
    assert agent.read(intent_id).json["lastError"] is None


def test_a_second_tap_on_the_button_changes_nothing(agent: TillClient, reader_id: str) -> None:
    intent_id = agent.began()
    for _ in range(3):
        assert process(agent, reader_id, intent_id).json["action"] == waiting(intent_id)
    assert agent.processor.made("process_intent") == 1


def test_a_busy_reader_takes_no_other_payment(till: Tills, agent: TillClient, reader_id: str) -> None:
    mine = agent.began()
    process(agent, reader_id, mine)
    for client in (agent, till(OTHER_AGENT)):
        assert problem(process(client, reader_id, client.began())) == (409, "reader_busy")
    assert action(agent, reader_id) == waiting(mine)


def test_a_reader_that_is_off_takes_no_payment(agent: TillClient) -> None:
    reader_id, intent_id = agent.processor.add_reader(FAIR, status="offline"), agent.began()
    assert problem(process(agent, reader_id, intent_id)) == (409, "reader_offline")
    agent.processor.accounts[""].readers[reader_id]["status"] = "online"
    assert process(agent, reader_id, intent_id).json["action"] == waiting(intent_id)


def test_only_payments_of_the_caller_and_the_location_go_to_a_reader(
    till: Tills, agent: TillClient, reader_id: str
) -> None:
    theirs = till(OTHER_AGENT).began()
    shop = till(ADMIN, SHOP)
    for intent_id in (theirs, "pi_unknown", ""):
        assert problem(process(agent, reader_id, intent_id)) == (404, "payment_intent_not_found")
    at_the_shop = agent.processor.add_reader(SHOP)
    assert problem(process(shop, at_the_shop, theirs)) == (404, "payment_intent_not_found")
    assert agent.processor.made("process_intent") == 0
    assert process(till(ADMIN), reader_id, theirs).status_code == 200, "admins settle every payment of the location"


def test_what_is_paid_or_cancelled_goes_to_no_reader(app: Flask, agent: TillClient, reader_id: str) -> None:
    paid, cancelled = agent.began(), agent.began()
    agent.processor.tap(paid)
    agent.cancel(cancelled)
    expected = {paid: (409, "already_captured"), cancelled: (409, "payment_canceled")}
    for intent_id, refusal in [*expected.items(), *expected.items()]:
        answer = process(agent, reader_id, intent_id)
        assert problem(answer) == refusal
        assert answer.json["paymentIntentId"] == intent_id
    assert {payment.status for payment in stored_payments(app)} == {"SUCCEEDED", "CANCELLED"}
    assert action(agent, reader_id) is None


def test_a_payment_that_is_being_charged_goes_to_no_reader(agent: TillClient, reader_id: str) -> None:
    intent_id = agent.began()
    agent.processor.tap(intent_id, "slow")
    assert problem(process(agent, reader_id, intent_id)) == (409, "payment_processing")


@pytest.mark.parametrize("fault", [TIMEOUT_AFTER, ERROR_500_AFTER])
def test_where_the_answer_got_lost_the_reader_itself_tells(agent: TillClient, reader_id: str, fault: Any) -> None:
    intent_id = agent.began()
    agent.processor.fail("process_intent", fault)
    assert process(agent, reader_id, intent_id).json["action"] == waiting(intent_id)
    agent.processor.present(reader_id)
    assert agent.capture(intent_id).status_code == 200
    assert sum(agent.processor.ledger().values()) == 1_250


@pytest.mark.parametrize("fault", [TIMEOUT_BEFORE, TIMEOUT_AFTER])
def test_where_nobody_answers_the_payment_stays_as_it_is_and_is_charged_once(
    agent: TillClient, reader_id: str, fault: Any
) -> None:
    intent_id = agent.began()
    agent.processor.fail("process_intent", fault)
    agent.processor.fail("retrieve_reader", None, TIMEOUT_BEFORE)
    answer = process(agent, reader_id, intent_id)
    assert problem(answer) == (504, "processor_timeout")
    assert answer.json["transactionId"] == agent.read(intent_id).json["transactionId"]
    assert process(agent, reader_id, intent_id).json["action"] == waiting(intent_id)
    agent.processor.present(reader_id)
    assert agent.capture(intent_id).status_code == 200
    assert sum(agent.processor.ledger().values()) == 1_250


def test_two_requests_at_once_give_the_reader_one_payment(till: Tills, agent: TillClient, reader_id: str) -> None:
    other = till(OTHER_AGENT)
    sales = [(agent, agent.began()), (other, other.began())]
    _meet(agent.processor, 2)
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda sale: process(sale[0], reader_id, sale[1]), sales))
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    [lost] = [answer for answer in answers if answer.status_code == 409]
    assert problem(lost) == (409, "reader_busy")
    agent.processor.present(reader_id)
    assert list(agent.processor.ledger().values()) == [1_250]


def test_a_double_tap_gives_the_payment_to_the_reader(agent: TillClient, reader_id: str) -> None:
    intent_id = agent.began()
    _meet(agent.processor, 2)
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda _: process(agent, reader_id, intent_id), range(2)))
    assert [answer.json["action"] for answer in answers] == [waiting(intent_id)] * 2
    agent.processor.present(reader_id)
    assert list(agent.processor.ledger().values()) == [1_250]


def _meet(processor: FakeProcessor, many: int) -> None:
    """Let so many requests find the reader free before one of them goes on."""
    barrier = Barrier(many, timeout=10)

    def before(call: Call) -> None:
        if call.operation == "process_intent":
            barrier.wait()

    processor.before_call = before


# Stopping a reader


def test_a_stopped_reader_waits_no_longer_and_the_payment_stays_open(agent: TillClient, reader_id: str) -> None:
    intent_id = agent.began()
    process(agent, reader_id, intent_id)
    for _ in range(2):
        answer = cancel(agent, reader_id)
        assert (answer.status_code, answer.json["action"]) == (200, None)
    assert agent.read(intent_id).json["status"] == "requires_payment_method"
    assert process(agent, reader_id, intent_id).json["action"] == waiting(intent_id)


def test_a_reader_that_is_busy_with_another_payment_is_not_stopped(
    till: Tills, agent: TillClient, reader_id: str
) -> None:
    intent_id = agent.began()
    process(agent, reader_id, intent_id)
    assert problem(cancel(till(OTHER_AGENT), reader_id)) == (409, "reader_busy")
    assert action(agent, reader_id) == waiting(intent_id)
    assert cancel(till(ADMIN), reader_id).status_code == 200


def test_a_reader_that_serves_another_program_is_not_stopped(agent: TillClient, reader_id: str) -> None:
    display = {"type": "set_reader_display", "status": "in_progress", "set_reader_display": {"type": "cart"}}
    agent.processor.accounts[""].readers[reader_id]["action"] = display
    shown = {"type": "set_reader_display", "paymentIntentId": None}
    assert action(agent, reader_id) == WAITING | shown
    assert problem(cancel(agent, reader_id)) == (409, "reader_busy")


def test_a_card_that_is_being_charged_is_not_stopped(agent: TillClient, reader_id: str) -> None:
    intent_id = agent.began()
    process(agent, reader_id, intent_id)
    agent.processor.accounts[""].hold_card(reader_id)
    assert problem(cancel(agent, reader_id)) == (409, "reader_busy")
    agent.processor.present(reader_id)
    assert agent.capture(intent_id).status_code == 200


def test_a_reader_that_went_off_is_not_stopped(agent: TillClient, reader_id: str) -> None:
    process(agent, reader_id, agent.began())
    agent.processor.accounts[""].readers[reader_id]["status"] = "offline"
    assert problem(cancel(agent, reader_id)) == (409, "reader_offline")


def test_a_cancelled_payment_takes_no_card_on_its_reader(app: Flask, agent: TillClient, reader_id: str) -> None:
    intent_id = agent.began()
    process(agent, reader_id, intent_id)
    assert agent.cancel(intent_id).json["status"] == "canceled"
    agent.processor.present(reader_id)
    failed = action(agent, reader_id)
    assert failed is not None
    assert failed["status"] == "failed"
    assert (stored_payments(app)[0].status, agent.processor.ledger()) == ("CANCELLED", {})


# Who may


def test_a_shop_that_takes_no_payments_gives_readers_none_and_stops_them(
    agent: TillClient, reader_id: str, set_site: Change
) -> None:
    intent_id = agent.began()
    process(agent, reader_id, intent_id)
    set_site(posEnabled=False)
    assert problem(process(agent, reader_id, intent_id)) == (403, "pos_disabled")
    assert action(agent, reader_id) == waiting(intent_id)
    assert cancel(agent, reader_id).status_code == 200


def test_an_agent_has_no_readers_of_places_where_they_do_not_work(till: Tills) -> None:
    for place, refusal in ((SHOP, (403, "location_access_denied")), (ELSEWHERE, (404, "location_not_found"))):
        client = till(location=place)
        reader_id = client.processor.add_reader(place)
        for answer in (
            client.call("GET", "readers"),
            client.call("GET", f"readers/{reader_id}"),
            process(client, reader_id, "pi_1"),
            cancel(client, reader_id),
        ):
            assert problem(answer) == refusal


@pytest.mark.parametrize("body", [{}, {"paymentIntentId": 7}, {"paymentIntentId": None}, {"paymentIntentId": "a\0b"}])
def test_a_body_that_names_no_payment_is_refused(agent: TillClient, reader_id: str, body: object) -> None:
    answer = agent.call("POST", f"readers/{reader_id}/process", body)
    assert problem(answer)[0] == 400
    assert agent.processor.made("retrieve_reader") == 0


def test_a_minute_takes_sixty_commands(agent: TillClient, reader_id: str) -> None:
    codes = [cancel(agent, reader_id).status_code for _ in range(61)]
    assert codes == [200] * 60 + [429]


# News


@pytest.mark.parametrize(("card", "expected"), [("visa", "SUCCEEDED"), ("declined", "PENDING")])
def test_what_a_reader_reports_brings_the_payment_up_to_date(
    app: Flask, agent: TillClient, reader_id: str, card: str, expected: str
) -> None:
    intent_id = agent.began()
    process(agent, reader_id, intent_id)
    agent.processor.present(reader_id, card)
    raw, headers = agent.processor.event("terminal.reader.action_succeeded", intent_id)
    assert app.test_client().post(WEBHOOK, data=raw, headers=headers).status_code == 200
    [payment] = stored_payments(app)
    assert (payment.status, payment.attempts) == (expected, int(card == "declined"))
