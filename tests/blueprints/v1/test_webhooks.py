"""What the payment processor sends is taken only when it signed it."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.domain.pos.models import StoredProcessorEvent
from app.domain.pos.processor import AccountRef, IntentRequest
from app.extensions import db
from tests.blueprints.v1.conftest import WEBHOOK
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
