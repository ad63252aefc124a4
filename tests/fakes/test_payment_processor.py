"""What tests of payments rely on: the fake does once what carries one key, and fails as it is told to."""

from __future__ import annotations

import pytest

from app.domain.pos.processor import AccountRef, IntentRequest, IntentStatus, InvalidState, KeyReused, OutcomeUnknown
from tests.fakes.clock import StoppedClock
from tests.fakes.payment_processor import ERROR_500_BEFORE, TIMEOUT_AFTER, TIMEOUT_BEFORE, FakeProcessor

OWN = AccountRef()
REQUEST = IntentRequest(500, "gbp", metadata={"transactionId": "t1"})


@pytest.fixture
def processor() -> FakeProcessor:
    return FakeProcessor(StoppedClock())


def test_a_key_does_a_thing_once(processor: FakeProcessor) -> None:
    assert processor.create_intent(OWN, REQUEST, "k") == processor.create_intent(OWN, REQUEST, "k")
    with pytest.raises(KeyReused):
        processor.create_intent(OWN, IntentRequest(501, "gbp"), "k")
    assert len(processor.intents()) == 1


def test_a_lost_answer_is_given_to_the_next_try(processor: FakeProcessor) -> None:
    processor.fail("create_intent", TIMEOUT_AFTER, TIMEOUT_BEFORE)
    for _ in range(2):
        with pytest.raises(OutcomeUnknown):
            processor.create_intent(OWN, REQUEST, "k")
    assert processor.create_intent(OWN, REQUEST, "k").id == processor.intents()[0].id


def test_a_fault_of_its_own_is_repeated_under_the_key(processor: FakeProcessor) -> None:
    processor.fail("create_intent", ERROR_500_BEFORE)
    for _ in range(2):
        with pytest.raises(OutcomeUnknown):
            processor.create_intent(OWN, REQUEST, "k")
    processor.forget_keys()
    assert processor.create_intent(OWN, REQUEST, "k").status is IntentStatus.REQUIRES_PAYMENT_METHOD


def test_a_tap_takes_the_money_into_the_ledger_and_a_refund_gives_it_back(processor: FakeProcessor) -> None:
    intent = processor.create_intent(OWN, REQUEST, "k")
    assert processor.tap(intent.id, "declined").last_error is not None
    assert processor.tap(intent.id).status is IntentStatus.SUCCEEDED
    with pytest.raises(InvalidState):
        processor.cancel_intent(OWN, intent.id, None, "c")
    processor.refund(OWN, intent.id, 200, "r")
    assert processor.ledger() == {"t1": 300}


def test_an_event_is_signed(processor: FakeProcessor) -> None:
    intent = processor.create_intent(OWN, REQUEST, "k")
    event = processor.parse_event(*processor.event("payment_intent.created", intent.id), StoppedClock().now())
    assert (event.intent_id, event.type) == (intent.id, "payment_intent.created")
