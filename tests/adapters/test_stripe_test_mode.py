"""Against Stripe itself, in test mode, where STRIPE_TEST_KEY holds a test key: nothing is charged."""

from __future__ import annotations

import os
import uuid
from datetime import UTC, datetime, timedelta

import pytest

from app.adapters.stripe import StripeProcessor
from app.domain.pos.processor import AccountRef, Address, IntentRequest, IntentStatus, InvalidState, KeyReused

OWN = AccountRef()
KEY = os.environ.get("STRIPE_TEST_KEY", "")
pytestmark = pytest.mark.skipif(not KEY, reason="STRIPE_TEST_KEY is not set: Stripe itself is not asked")


@pytest.fixture
def processor() -> StripeProcessor:
    assert "_live" not in KEY, "STRIPE_TEST_KEY must be a test key"
    return StripeProcessor(KEY, ["unused"])


def test_a_payment_is_made_read_and_cancelled(processor: StripeProcessor) -> None:
    key, begin = str(uuid.uuid4()), datetime.now(UTC)
    request = IntentRequest(500, "gbp", "A test of the shop", {"transactionId": key})
    intent = processor.create_intent(OWN, request, f"pos-create-{key}")
    assert intent.status is IntentStatus.REQUIRES_PAYMENT_METHOD
    assert processor.create_intent(OWN, request, f"pos-create-{key}").id == intent.id
    with pytest.raises(KeyReused):
        processor.create_intent(OWN, IntentRequest(600, "gbp"), f"pos-create-{key}")
    with pytest.raises(InvalidState):
        processor.capture_intent(OWN, intent.id, f"pos-capture-{key}")
    minute = timedelta(minutes=1)
    assert intent.id in {one.id for one in processor.list_intents(OWN, begin - minute, begin + minute)}
    assert processor.cancel_intent(OWN, intent.id, "abandoned", f"pos-cancel-{key}").status is IntentStatus.CANCELED


def test_a_reader_is_let_in(processor: StripeProcessor) -> None:
    location = processor.create_location(
        OWN, "A test of the shop", Address("1 Market Street", "", "London", "", "E1 6AN", "GB")
    )
    assert processor.create_connection_token(OWN, location)
