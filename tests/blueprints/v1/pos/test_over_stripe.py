"""The till over Stripe's own protocol: two sites with an account each, taps, webhooks, lost answers and forgeries."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import stripe
from flask import Flask
from sqlalchemy import func, select
from werkzeug.test import TestResponse

from app.adapters.stripe import StripeProcessor
from app.domain.pos.models import PosTransaction, StoredProcessorEvent
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.v1.conftest import WEBHOOK, ApiClient
from tests.blueprints.v1.pos.conftest import PAYMENT, problem, stored_payments
from tests.factories import PASSWORD, make_agent, make_location, make_site, make_user
from tests.fakes.clock import StoppedClock
from tests.fakes.stripe_server import SECRET_KEY, WEBHOOK_SECRET, Fault, StripeServer, stripe_server

MINE, OTHER = "acct_mine", "acct_other"
Deliver = Callable[..., TestResponse]


@dataclass
class SiteTill:
    """An app at the till of one site, whose location and account at Stripe are its own."""

    api: ApiClient
    site_id: int
    location: str
    account: str

    def call(self, method: str, path: str, body: object = None, **more: Any) -> TestResponse:
        return self.api.call(method, f"/v1/pos/{self.location}/{path}", body, **more)

    def create(self, key: str | None = None, **body: object) -> TestResponse:
        headers = {"Idempotency-Key": key} if key else {}
        return self.call("POST", "paymentIntents", PAYMENT | body, headers=headers)

    def began(self) -> str:
        answer = self.create()
        assert answer.status_code == 201, answer.text
        found: str = answer.json["id"]
        return found


@pytest.fixture
def server(clock: StoppedClock) -> Iterator[StripeServer]:
    with stripe_server(clock.now, (MINE, OTHER)) as running:
        yield running


@pytest.fixture
def processor(server: StripeServer) -> StripeProcessor:
    return StripeProcessor(SECRET_KEY, [WEBHOOK_SECRET], api_base=server.base_url, read_seconds=0.2, pause=0)


@pytest.fixture
def mine(app: Flask, site_id: int, server: StripeServer) -> SiteTill:
    with app.app_context():
        return _opened(app, db.session.get_one(Site, site_id), server, "localhost", MINE)


@pytest.fixture
def other(app: Flask, mine: SiteTill, server: StripeServer) -> SiteTill:
    with app.app_context(), transaction():
        site = make_site("other.localhost", "Other")
    with app.app_context():
        return _opened(app, db.session.merge(site), server, "other.localhost", OTHER)


def _opened(app: Flask, site: Site, server: StripeServer, host: str, account: str) -> SiteTill:
    location, email = f"tml_{account}", f"agent@{account}.test"
    server.api.ledgers[account].locations[location] = {"id": location}
    with transaction():
        change_settings(site.id, {"posEnabled": True, "posProcessorAccountId": account})
        make_agent(site, make_user(site, Role.POS_AGENT, email=email), make_location(site, location))
    client = ApiClient(app.test_client(), host)
    answer = client.sign_in(email, PASSWORD, audience="pos")
    assert answer.status_code == 200, answer.text
    return SiteTill(client, site.id, location, account)


@pytest.fixture
def post(app: Flask) -> Deliver:
    def posted(raw: bytes, headers: dict[str, str]) -> TestResponse:
        return app.test_client().post(WEBHOOK, data=raw, headers=dict(headers))

    return posted


def events(app: Flask) -> list[str]:
    with app.app_context():
        return list(db.session.scalars(select(StoredProcessorEvent.outcome).order_by(StoredProcessorEvent.id)))


def status(app: Flask, intent_id: str) -> str:
    with app.app_context():
        found = db.session.scalar(select(PosTransaction.status).filter_by(processor_intent_id=intent_id))
        assert found is not None
        return found


def test_a_card_is_tapped_and_the_sale_is_done(app: Flask, mine: SiteTill, server: StripeServer) -> None:
    assert mine.call("POST", "connectionToken").json["processorAccountId"] == MINE
    intent_id = mine.began()
    server.tap(MINE, intent_id)
    captured = mine.call("POST", f"paymentIntents/{intent_id}/capture")
    assert (captured.status_code, captured.json["status"], captured.json["amountReceived"]) == (200, "succeeded", 1_250)
    assert captured.json["transaction"]["cardBrand"] == "visa"
    assert captured.json["transaction"]["cardLast4"] == "4242"
    [payment] = stored_payments(app)
    assert payment.emv["dedicatedFileName"] == "A0000000031010"


def test_webhooks_alone_bring_the_shop_up_to_date(
    app: Flask, mine: SiteTill, server: StripeServer, post: Deliver
) -> None:
    intent_id = mine.began()
    server.tap(MINE, intent_id, "insufficient")
    server.tap(MINE, intent_id)
    delivered = server.deliver(lambda raw, headers: post(raw, headers).status_code)
    assert delivered == [200] * len(server.api.events())
    assert status(app, intent_id) == "SUCCEEDED"


def test_a_declined_card_is_answered_with_its_reason(mine: SiteTill, server: StripeServer) -> None:
    intent_id = mine.began()
    server.tap(MINE, intent_id, "insufficient")
    answer = mine.call("POST", f"paymentIntents/{intent_id}/capture")
    assert problem(answer) == (402, "card_declined")
    assert answer.json["declineCode"] == "insufficient_funds"


def test_a_held_payment_is_captured_and_an_open_one_cancelled(app: Flask, mine: SiteTill, server: StripeServer) -> None:
    held, left = mine.began(), mine.began()
    server.tap(MINE, held, "stuck_capture")
    assert mine.call("POST", f"paymentIntents/{held}/capture").json["status"] == "succeeded"
    assert mine.call("POST", f"paymentIntents/{left}/cancel").json["status"] == "canceled"
    assert (status(app, held), status(app, left)) == ("SUCCEEDED", "CANCELLED")


def test_a_card_that_was_quicker_than_the_cancellation_has_paid(
    app: Flask, mine: SiteTill, server: StripeServer
) -> None:
    intent_id = mine.began()
    server.tap(MINE, intent_id)
    assert problem(mine.call("POST", f"paymentIntents/{intent_id}/cancel")) == (409, "already_captured")
    assert stored_payments(app)[0].card_last4 == "4242"


# Smart readers


def process(till: SiteTill, reader_id: str, intent_id: str) -> TestResponse:
    return till.call("POST", f"readers/{reader_id}/process", {"paymentIntentId": intent_id})


@pytest.fixture
def reader_id(mine: SiteTill, server: StripeServer) -> str:
    return server.api.ledgers[MINE].add_reader(mine.location)


@pytest.mark.parametrize(("card", "expected", "attempts"), [("visa", "SUCCEEDED", 0), ("lost", "PENDING", 1)])
def test_what_a_reader_reports_brings_the_shop_up_to_date(
    app: Flask,
    mine: SiteTill,
    server: StripeServer,
    post: Deliver,
    reader_id: str,
    card: str,
    expected: str,
    attempts: int,
) -> None:
    intent_id = mine.began()
    assert process(mine, reader_id, intent_id).json["action"]["status"] == "in_progress"
    server.present(MINE, reader_id, card)
    signed = server.signed(server.api.events()[-1])
    assert post(signed.raw, signed.headers).status_code == 200
    [payment] = stored_payments(app)
    assert (payment.status, payment.attempts, events(app)) == (expected, attempts, ["applied"])


def test_a_decline_on_the_reader_is_the_last_error_of_the_payment(
    mine: SiteTill, server: StripeServer, reader_id: str
) -> None:
    intent_id = mine.began()
    process(mine, reader_id, intent_id)
    server.present(MINE, reader_id, "insufficient")
    read = mine.call("GET", f"paymentIntents/{intent_id}").json
    assert read["status"] == "requires_payment_method"
    assert read["lastError"] == {"code": "card_declined", "declineCode": "insufficient_funds"}
    assert process(mine, reader_id, intent_id).json["action"]["status"] == "in_progress"
    server.present(MINE, reader_id)
    assert mine.call("POST", f"paymentIntents/{intent_id}/capture").json["amountReceived"] == 1_250


@pytest.mark.parametrize(
    "fault", [Fault.TIMEOUT, Fault.TIMEOUT_AFTER, Fault.RESET_AFTER, Fault.SERVER_ERROR_AFTER, Fault.READER_TIMEOUT]
)
def test_a_reader_whose_answer_is_lost_takes_the_payment_once(
    mine: SiteTill, server: StripeServer, reader_id: str, fault: Fault
) -> None:
    intent_id = mine.began()
    server.fails(None, fault, fault, Fault.TIMEOUT, Fault.TIMEOUT)
    assert problem(process(mine, reader_id, intent_id)) == (504, "processor_timeout")
    server.fails_no_more()
    assert process(mine, reader_id, intent_id).json["action"]["paymentIntentId"] == intent_id
    server.present(MINE, reader_id)
    assert mine.call("POST", f"paymentIntents/{intent_id}/capture").json["amountReceived"] == 1_250
    charges = server.api.ledgers[MINE].charges.values()
    assert [charge["amount"] for charge in charges] == [1_250]


def test_what_was_paid_elsewhere_is_not_given_to_a_reader(
    app: Flask, mine: SiteTill, server: StripeServer, reader_id: str
) -> None:
    intent_id = mine.began()
    server.tap(MINE, intent_id)
    assert problem(process(mine, reader_id, intent_id)) == (409, "already_captured")
    assert status(app, intent_id) == "SUCCEEDED"


def test_a_reader_of_another_site_is_not_there(
    mine: SiteTill, other: SiteTill, server: StripeServer, reader_id: str
) -> None:
    intent_id = other.began()
    assert other.call("GET", "readers").json == {"items": []}
    for answer in (
        other.call("GET", f"readers/{reader_id}"),
        process(other, reader_id, intent_id),
        other.call("POST", f"readers/{reader_id}/cancel"),
    ):
        assert problem(answer) == (404, "reader_not_found")
    server.received.clear()
    mine.call("GET", "readers")
    process(mine, reader_id, mine.began())
    mine.call("POST", f"readers/{reader_id}/cancel")
    assert {sent.account for sent in server.received} == {MINE}


# Two sites


def test_each_site_reaches_its_own_account_and_no_other(mine: SiteTill, other: SiteTill, server: StripeServer) -> None:
    for till in (mine, other, other, mine, other, mine):
        server.received.clear()
        till.call("POST", "connectionToken")
        intent_id = till.began()
        till.call("GET", f"paymentIntents/{intent_id}")
        till.call("POST", f"paymentIntents/{intent_id}/capture")
        till.call("POST", f"paymentIntents/{intent_id}/cancel")
        assert len(server.received) >= 5
        assert {sent.account for sent in server.received} == {till.account}
    for till in (mine, other):
        made = server.api.ledgers[till.account].intents.values()
        assert {intent["metadata"]["siteId"] for intent in made} == {str(till.site_id)}


def test_a_payment_of_another_site_is_not_there_and_stripe_is_not_asked(
    mine: SiteTill, other: SiteTill, server: StripeServer
) -> None:
    intent_id = other.began()
    server.received.clear()
    for method, act in (("GET", ""), ("POST", "/capture"), ("POST", "/cancel")):
        answer = mine.call(method, f"paymentIntents/{intent_id}{act}")
        assert problem(answer) == (404, "payment_intent_not_found")
    assert server.received == []


def test_an_event_of_one_account_says_nothing_about_the_payments_of_another(
    app: Flask, mine: SiteTill, other: SiteTill, server: StripeServer, post: Deliver
) -> None:
    """A connected account may make up an intent with any metadata, but not the account that Stripe signs."""
    intent_id = mine.began()
    server.tap(MINE, intent_id)
    event = server.api.events()[-1]
    for account in (OTHER, "acct_foreign"):
        signed = server.signed(event | {"id": f"evt_{account}", "account": account})
        assert post(signed.raw, signed.headers).status_code == 200
    own = {name: value for name, value in event.items() if name != "account"}
    signed = server.signed(own | {"id": "evt_own"})
    assert post(signed.raw, signed.headers).status_code == 200
    assert status(app, intent_id) == "PENDING"
    assert events(app) == ["no_payment", "unknown_account", "no_payment"]


def test_an_event_about_real_money_is_passed_over_with_a_test_key(
    app: Flask, mine: SiteTill, server: StripeServer, post: Deliver
) -> None:
    intent_id = mine.began()
    server.tap(MINE, intent_id)
    signed = server.signed(server.api.events()[-1] | {"livemode": True})
    assert post(signed.raw, signed.headers).status_code == 200
    assert (status(app, intent_id), events(app)) == ("PENDING", ["wrong_mode"])


def test_a_location_that_is_not_of_the_account_is_a_mistake_of_the_set_up(mine: SiteTill, server: StripeServer) -> None:
    server.api.ledgers[MINE].locations.clear()
    assert problem(mine.call("POST", "connectionToken")) == (502, "processor_misconfigured")


# Faults


@pytest.mark.parametrize(
    ("faults", "expected"),
    [
        ([Fault.BUSY], (503, "processor_unavailable")),
        ([Fault.LOCKED], (503, "processor_unavailable")),
        ([Fault.NO_RIGHT], (502, "processor_misconfigured")),
        ([Fault.IN_USE, Fault.IN_USE], (504, "processor_timeout")),
        ([Fault.GATEWAY_PAGE, Fault.GATEWAY_PAGE], (504, "processor_timeout")),
        ([Fault.SERVER_ERROR], (504, "processor_timeout")),
        ([Fault.TIMEOUT, Fault.TIMEOUT], (504, "processor_timeout")),
    ],
)
def test_what_stripe_answers_instead_is_a_problem_that_names_the_payment(
    app: Flask, mine: SiteTill, server: StripeServer, faults: list[Fault], expected: tuple[int, str]
) -> None:
    server.fails(*faults)
    answer = mine.create()
    assert problem(answer) == expected
    assert answer.json["transactionId"] == stored_payments(app)[0].id
    assert server.api.ledgers[MINE].intents == {}


@pytest.mark.parametrize("fault", [Fault.TIMEOUT_AFTER, Fault.RESET_AFTER, Fault.HALF_ANSWER_AFTER])
def test_after_a_lost_answer_the_same_key_makes_no_second_payment(
    app: Flask, mine: SiteTill, server: StripeServer, fault: Fault
) -> None:
    server.fails(fault, fault)
    assert problem(mine.create("sale-1")) == (504, "processor_timeout")
    again = mine.create("sale-1")
    assert again.status_code == 201
    assert list(server.api.ledgers[MINE].intents) == [again.json["id"]]
    assert len(stored_payments(app)) == 1


def test_a_capture_whose_answers_are_lost_captures_once(app: Flask, mine: SiteTill, server: StripeServer) -> None:
    intent_id = mine.began()
    server.tap(MINE, intent_id, "stuck_capture")
    server.fails(None, Fault.RESET_AFTER, Fault.GATEWAY_PAGE)
    assert mine.call("POST", f"paymentIntents/{intent_id}/capture").status_code == 200
    assert server.api.ledgers[MINE].intents[intent_id]["amount_received"] == 1_250


# Forgeries


def forged(server: StripeServer) -> list[tuple[bytes, dict[str, str]]]:
    event = server.api.events()[-1] | {"id": "evt_forged"}
    raw = json.dumps(event).encode()
    now = server.api.seconds()

    def signed(stamp: int, secret: str = WEBHOOK_SECRET, body: bytes = raw) -> str:
        return stripe.WebhookSignature.generate_signature_header(body.decode(), secret, stamp)

    good = signed(now)
    digest = good.partition("v1=")[2]
    headers = [
        {},
        {"Stripe-Signature": ""},
        {"Stripe-Signature": good.replace("v1=", "v0=")},
        {"Stripe-Signature": f"t={now}"},
        {"Stripe-Signature": f"v1={digest}"},
        {"Stripe-Signature": f"t={now + 1},v1={digest}"},
        {"Stripe-Signature": f"t={now},v1={digest[:-1]}"},
        {"Stripe-Signature": f"t={now},v1={digest.upper()}x"},
        {"Stripe-Signature": f"t={now},v1=é"},
        {"Stripe-Signature": signed(now, "another secret")},
        {"Stripe-Signature": signed(now, "")},
        {"Stripe-Signature": signed(now - 301)},
        {"Stripe-Signature": signed(now + 301)},
        {"Stripe-Signature": signed(now, body=raw + b" ")},
        {"X-Signature": good},
    ]
    bodies = [(raw, sent) for sent in headers]
    return [*bodies, (raw.replace(b"succeeded", b"canceled"), {"Stripe-Signature": good})]


def test_no_forged_event_is_stored(app: Flask, mine: SiteTill, server: StripeServer, post: Deliver) -> None:
    intent_id = mine.began()
    server.tap(MINE, intent_id)
    for raw, headers in forged(server):
        assert problem(post(raw, headers)) == (400, "bad_signature"), headers
    with app.app_context():
        assert db.session.scalar(select(func.count()).select_from(StoredProcessorEvent)) == 0
    assert status(app, intent_id) == "PENDING"
