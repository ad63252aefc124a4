"""The simulated card reader: who may use it, and what becomes of a sale with each of its cards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import jwt
import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.adapters.simulator import Simulator
from app.blueprints.v1.pos_simulator import PAYMENT
from app.domain.pos.simulator import CARDS
from app.jobs import pos
from app.ports import EXTENSION
from app.web.tokens import ALGORITHM, key_for
from tests.blueprints.v1.conftest import WEBHOOK
from tests.blueprints.v1.pos.conftest import ADMIN, FAIR, OTHER_AGENT, SHOP, TillClient, Tills, problem, stored_payments
from tests.fakes.clock import StoppedClock

PRESENT = "/v1/pos/simulator/paymentIntents/{}/present"
DECLINES = {
    "declined": "generic_decline",
    "insufficient": "insufficient_funds",
    "lost": "lost_card",
    "stolen": "stolen_card",
    "expired": "expired_card",
    "processing_error": "processing_error",
    "sca_retry": "authentication_required",
}


NOT_CHARGED = {"timeout_not_charged", "removed_early", "reader_offline", "stuck_capture"}
PAYING = sorted(set(CARDS) - set(DECLINES) - NOT_CHARGED)


@dataclass
class Reader:
    """A till with its card reader, and one payment."""

    till: TillClient
    intent: dict[str, Any]
    token: str

    def present(self, card: str = "visa", token: str | None = None, **body: object) -> TestResponse:
        sent = {"clientSecret": self.intent["clientSecret"], "card": card} | body
        return self.till.api.call("POST", PRESENT.format(self.intent["id"]), sent, token or self.token)

    def capture(self) -> TestResponse:
        return self.till.capture(self.intent["id"])

    def status(self) -> str:
        answer = self.till.list()
        assert answer.status_code == 200, answer.text
        found: str = answer.json["items"][0]["status"]
        return found


def token_of(till: TillClient) -> str:
    answer = till.call("GET", "paymentToken")
    assert answer.status_code == 200, answer.text
    found: str = answer.json["token"]
    return found


@pytest.fixture
def simulator(app: Flask, clock: StoppedClock) -> Simulator:
    made = Simulator(clock, b"a secret of the simulator")
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], payment_processor=made)
    return made


@pytest.fixture
def reader(simulator: Simulator, agent: TillClient) -> Reader:
    return Reader(agent, agent.create().json, token_of(agent))


@pytest.fixture
def deliver(app: Flask) -> Callable[[], None]:
    """What a worker does."""

    def delivered() -> None:
        with app.app_context():
            pos.deliver_simulated_events()

    return delivered


def test_a_payment_token_says_what_a_reader_needs(simulator: Simulator, agent: TillClient) -> None:
    answer = agent.call("GET", "paymentToken")
    assert answer.headers["Cache-Control"] == "no-store"
    token = answer.json["token"]
    assert answer.json == {
        "token": token,
        "tokenType": "pos-pay+jwt",
        "expiresAt": "2026-11-20T12:05:00Z",
        "processor": "simulator",
        "processorAccountId": "",
        "processorLocationId": FAIR,
    }
    assert jwt.get_unverified_header(token)["typ"] == "pos-pay+jwt"
    claims = jwt.decode(token, options={"verify_signature": False})
    assert (claims["aud"], claims["sid"], claims["location"]) == ("pos-reader", agent.api.tokens["sessionId"], FAIR)


def test_the_api_takes_no_payment_token_and_the_reader_no_access_token(reader: Reader) -> None:
    assert problem(reader.till.call("GET", "paymentToken", token=reader.token)) == (401, "token_invalid")
    assert problem(reader.present(token=reader.till.api.tokens["token"])) == (401, "token_invalid")


def test_a_sale_from_begin_to_end(reader: Reader, deliver: Callable[[], None]) -> None:
    shown = reader.present()
    assert shown.status_code == 200, shown.text
    assert shown.json == {
        "id": reader.intent["id"],
        "status": "succeeded",
        "amount": 1_250,
        "currency": "gbp",
        "transactionId": reader.intent["transactionId"],
        "cardBrand": "visa",
        "cardLast4": "4242",
        "lastError": None,
    }
    captured = reader.capture()
    assert captured.status_code == 200, captured.text
    assert (captured.json["status"], captured.json["amountReceived"]) == ("succeeded", 1_250)
    deliver()
    assert reader.status() == "SUCCEEDED"
    assert reader.capture().json == captured.json


@pytest.mark.parametrize("card", PAYING)
def test_every_card_that_pays_does_so_by_its_event_alone_and_once(
    app: Flask, reader: Reader, deliver: Callable[[], None], clock: StoppedClock, card: str
) -> None:
    """The till hears nothing more, as after a crash."""
    reader.present(card, pin="1234")
    for _ in range(4):
        deliver()
        clock.move(seconds=5)
    (payment,) = stored_payments(app)
    assert (payment.status, payment.captured_amount, payment.anomaly) == ("SUCCEEDED", 1_250, None)
    assert payment.card_last4 == CARDS[card].last4
    assert reader.capture().json["amountReceived"] == 1_250


@pytest.mark.parametrize("card", ["timeout_not_charged", "removed_early", "reader_offline"])
def test_after_a_tap_that_never_happened_another_card_pays(reader: Reader, card: str) -> None:
    assert reader.present(card).status_code in (422, 504)
    assert problem(reader.capture()) == (409, "payment_not_collected")
    reader.present("visa")
    assert reader.capture().status_code == 200


def test_a_payment_that_is_stuck_is_captured(reader: Reader, deliver: Callable[[], None]) -> None:
    assert reader.present("stuck_capture").json["status"] == "requires_capture"
    deliver()
    assert reader.status() == "AUTHORIZED"
    assert reader.capture().json["amountReceived"] == 1_250
    deliver()
    assert reader.status() == "SUCCEEDED"


@pytest.mark.parametrize("card", DECLINES)
def test_a_declined_card_leaves_the_payment_open(
    app: Flask, reader: Reader, deliver: Callable[[], None], card: str
) -> None:
    shown = reader.present(card)
    assert (shown.status_code, shown.json["status"]) == (200, "requires_payment_method")
    assert shown.json["lastError"]["declineCode"] == DECLINES[card]
    deliver()
    (payment,) = stored_payments(app)
    assert (payment.status, payment.decline_code, payment.attempts) == ("PENDING", DECLINES[card], 1)
    refused = reader.capture()
    assert problem(refused) == (402, "card_declined")
    assert (refused.json["declineCode"], refused.json["retryable"]) == (DECLINES[card], True)
    assert reader.present("mastercard").json["cardBrand"] == "mastercard"
    assert reader.capture().status_code == 200


def test_every_declined_tap_counts_as_an_attempt(app: Flask, reader: Reader, deliver: Callable[[], None]) -> None:
    for _ in range(3):
        reader.present("declined")
        reader.capture()
        deliver()
    assert stored_payments(app)[0].attempts == 3


def test_a_slow_card_is_asked_for_again(reader: Reader, clock: StoppedClock) -> None:
    assert reader.present("slow").json["status"] == "processing"
    waiting = reader.capture()
    assert (waiting.status_code, waiting.headers["Retry-After"], waiting.json["status"]) == (202, "2", "processing")
    clock.move(seconds=3)
    assert reader.capture().status_code == 200


def test_a_lost_answer_names_the_transaction(reader: Reader) -> None:
    lost = reader.present("lost_response")
    assert problem(lost) == (504, "processor_timeout")
    assert lost.json["transactionId"] == reader.intent["transactionId"]
    assert reader.capture().json["status"] == "succeeded"


def test_an_event_may_come_before_the_answer(reader: Reader) -> None:
    assert reader.present("event_first").status_code == 200
    assert reader.status() == "SUCCEEDED"


@pytest.mark.parametrize(
    ("card", "code"),
    [
        ("pin_required", "pin_required"),
        ("removed_early", "card_removed_early"),
        ("reader_offline", "reader_offline"),
    ],
)
def test_a_card_that_was_not_read_is_no_attempt(app: Flask, reader: Reader, card: str, code: str) -> None:
    assert problem(reader.present(card)) == (422, code)
    assert problem(reader.capture()) == (409, "payment_not_collected")
    assert stored_payments(app)[0].attempts == 0


def test_a_payment_takes_one_card(reader: Reader) -> None:
    reader.present("visa")
    assert problem(reader.present("mastercard")) == (409, "already_captured")


def test_a_cancelled_payment_takes_none(reader: Reader) -> None:
    reader.till.cancel(reader.intent["id"])
    assert problem(reader.present()) == (409, "payment_canceled")


def test_the_secret_is_of_the_payment(reader: Reader) -> None:
    other = reader.till.create().json["clientSecret"]
    assert problem(reader.present(clientSecret=other)) == (403, "client_secret_invalid")


@pytest.mark.parametrize(
    "body", [{"card": "4242424242424242"}, {"card": None}, {"clientSecret": None}, {"pin": ""}, {"pin": 1234}, {"x": 1}]
)
def test_a_body_that_is_none_is_refused(reader: Reader, body: dict[str, object]) -> None:
    assert reader.present(**body).status_code == 400  # type: ignore[arg-type]


def test_a_token_holds_five_minutes(reader: Reader, clock: StoppedClock) -> None:
    clock.move(minutes=5)
    assert problem(reader.present()) == (401, "token_expired")


def test_a_token_ends_with_its_session(reader: Reader) -> None:
    reader.till.api.call("POST", "/v1/auth/logout")
    assert problem(reader.present()) == (401, "session_revoked")


def test_an_agent_who_was_switched_off_presents_no_card(reader: Reader, set_agent: Callable[..., None]) -> None:
    set_agent(enabled=False)
    assert problem(reader.present()) == (403, "agent_disabled")


def test_a_token_is_of_one_agent(reader: Reader, till: Tills) -> None:
    assert problem(reader.present(token=token_of(till(OTHER_AGENT)))) == (404, "payment_intent_not_found")


def test_a_token_is_of_one_location(reader: Reader, till: Tills) -> None:
    elsewhere = token_of(till(ADMIN, SHOP))
    assert problem(reader.present(token=elsewhere)) == (404, "payment_intent_not_found")
    assert reader.present(token=token_of(till(ADMIN, FAIR))).status_code == 200


def test_an_unknown_payment_is_not_found(reader: Reader) -> None:
    reader.intent["id"] = "pi_sim_unknown"
    assert problem(reader.present()) == (404, "payment_intent_not_found")


def test_there_is_no_simulated_reader_where_payments_are_real(agent: TillClient) -> None:
    body = {"clientSecret": "x", "card": "visa"}
    answer = agent.api.call("POST", PRESENT.format("pi_1"), body, token_of(agent))
    assert problem(answer) == (404, "no_simulator")


def test_forged_payment_tokens_open_nothing(app: Flask, reader: Reader) -> None:
    claims = jwt.decode(reader.token, options={"verify_signature": False})
    with app.app_context():
        ours, access = key_for(PAYMENT.purpose), key_for("access-tokens")
    forged = [
        jwt.encode(claims, access, ALGORITHM, headers={"typ": PAYMENT.typ}),
        jwt.encode(claims, ours, ALGORITHM, headers={"typ": "at+jwt"}),
        jwt.encode(claims, ours, ALGORITHM),
        jwt.encode(claims | {"aud": "shop-api"}, ours, ALGORITHM, headers={"typ": PAYMENT.typ}),
        jwt.encode({**claims, "agent": None}, ours, ALGORITHM, headers={"typ": PAYMENT.typ}),
        reader.token[:-2],
        "x",
    ]
    assert {problem(reader.present(token=token)) for token in forged} == {(401, "token_invalid")}


def test_the_simulators_events_may_come_over_the_network_as_well(
    app: Flask, reader: Reader, simulator: Simulator
) -> None:
    reader.present()
    with app.app_context():
        events = simulator.due_events(timedelta(0))
    for event in events:
        answer = reader.till.api.client.post(
            WEBHOOK, data=event.raw, headers=dict(event.headers), content_type="application/json"
        )
        assert answer.status_code == 200
    assert reader.status() == "SUCCEEDED"
