"""What the payment processor sends is taken only when it signed it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.adapters.simulator import Simulator
from app.adapters.stripe import StripeProcessor
from app.adapters.webhook import sign
from app.domain.pos.models import StoredProcessorEvent
from app.domain.pos.processor import AccountRef, IntentRequest
from app.extensions import db
from app.ports import EXTENSION
from tests.blueprints.v1.conftest import WEBHOOK
from tests.fakes.clock import StoppedClock
from tests.fakes.payment_processor import FakeProcessor

pytestmark = pytest.mark.usefixtures("site_id")


@pytest.fixture
def event(processor: FakeProcessor) -> tuple[bytes, dict[str, str]]:
    made = processor.create_intent(AccountRef(), IntentRequest(500, "gbp"), "k")
    return processor.event("payment_intent.created", made.id)


def stored(app: Flask) -> int:
    with app.app_context():
        return db.session.scalar(select(func.count()).select_from(StoredProcessorEvent)) or 0


def test_a_signed_event_is_received_without_a_token_however_often_it_comes(
    app: Flask, event: tuple[bytes, dict[str, str]]
) -> None:
    raw, headers = event
    for _ in range(2):
        answer = app.test_client().post(WEBHOOK, data=raw, headers=headers, content_type="application/json")
        assert (answer.status_code, answer.json) == (200, {"received": True})
        assert stored(app) == 1


def test_the_bytes_as_they_came_are_what_is_signed(app: Flask, event: tuple[bytes, dict[str, str]]) -> None:
    raw, headers = event
    answer = app.test_client().post(WEBHOOK, data=raw + b"\n", headers=headers, content_type="application/json")
    assert (answer.status_code, answer.json["code"]) == (400, "bad_signature")
    assert answer.content_type == "application/problem+json"
    assert stored(app) == 0


def test_what_is_no_event_at_all_is_not_signed_either(app: Flask) -> None:
    for raw in (b"", b"{", b"\xff\x00", b"[]"):
        answer = app.test_client().post(WEBHOOK, data=raw, content_type="application/json")
        assert (answer.status_code, answer.json["code"]) == (400, "bad_signature")


def test_an_event_that_is_too_large_is_not_read(app: Flask) -> None:
    answer = app.test_client().post(WEBHOOK, data=b" " * 200_000, content_type="application/json")
    assert answer.status_code == 413
    assert stored(app) == 0


MALFORMED = (
    "[" * 60_000,
    '{"id": ' + "[" * 50_000 + "]" * 50_000 + "}",
    '{"id": "evt_1", "type": "\\ud800", "account": null, "created": 1, "livemode": false, "data": {"object": {}}}',
    '{"id": 1, "type": "x", "created": 1, "livemode": false, "data": {"object": {"object": "charge", "id": "ch_1"}}}',
    '{"id": "evt_1", "type": "x", "created": 1, "livemode": false, "data": {"object": {"object": "refund",'
    ' "id": "re_1", "amount": [1], "status": "failed", "payment_intent": "pi_1"}}}',
    '{"id": "evt_1", "type": "x", "created": 1, "livemode": false, "data": {"object": {"object": "refund",'
    ' "id": "re_1", "amount": 1, "status": "failed", "payment_intent": "pi_1", "metadata": "all"}}}',
    '{"id": "evt_1", "type": "x", "created": 1e99, "livemode": false, "data": {"object": {"object": "balance"}}}',
    '{"id": "evt_1", "type": "x", "created": 1, "livemode": false, "data": {"object": {"object": "terminal.reader",'
    ' "id": "tmr_1", "action": {"type": "process_payment_intent", "process_payment_intent": ["pi_1"]}}}}',
    '{"id": "evt_1", "type": "x", "created": 1, "livemode": false, "data": null}',
)


@pytest.mark.parametrize("vendor", ["simulator", "stripe"])
@pytest.mark.parametrize("body", MALFORMED, ids=range(len(MALFORMED)))
def test_what_is_signed_and_malformed_is_refused_and_not_stored(
    app: Flask, clock: StoppedClock, vendor: str, body: str
) -> None:
    secret = "a secret of the processor"
    made = Simulator(clock, secret.encode()) if vendor == "simulator" else StripeProcessor("sk_test_1", [secret])
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], payment_processor=made)
    signature = {"Stripe-Signature": sign(secret.encode(), int(clock.now().timestamp()), body.encode())}
    answer = app.test_client().post(WEBHOOK, data=body, headers=signature, content_type="application/json")
    assert (answer.status_code, answer.json["code"]) == (400, "malformed_event")
    assert answer.content_type == "application/problem+json"
    assert stored(app) == 0
