"""What a payment processor does about smart readers: one that drives them, and one that has none. A subclass gives the
till in the fixture `till`."""

from __future__ import annotations

from typing import Any, Protocol

import pytest

from app.domain.pos.processor import (
    AccountRef,
    Intent,
    IntentNotFound,
    IntentRequest,
    IntentStatus,
    InvalidState,
    PaymentProcessor,
    Reader,
    ReaderBusy,
    ReaderNotFound,
    ReaderOffline,
    ReaderStatus,
)
from tests.contracts.payment_processor_contract import DECLINES, LONDON, MINE, OTHER, Till


class ReaderTill(Till, Protocol):
    """A processor with smart readers, and what customers and owners do with them."""

    def add_reader(self, ref: AccountRef, location_id: str, **more: Any) -> str:
        """Register a reader at a location of the account; `more` are its fields as Stripe names them."""
        ...

    def set_reader_status(self, ref: AccountRef, reader_id: str, status: str) -> None: ...

    def present(self, ref: AccountRef, reader_id: str, card: str = "visa") -> None:
        """Let a customer tap a card on the reader."""
        ...

    def hold_card(self, ref: AccountRef, reader_id: str) -> None:
        """Let a customer hold a card to the reader, which then charges it: `present` ends that."""
        ...


def location(till: Till, ref: AccountRef = MINE) -> str:
    return till.processor.create_location(ref, "Market stall", LONDON)


def counter(till: ReaderTill, ref: AccountRef = MINE) -> str:
    """A reader at a location of its own."""
    return till.add_reader(ref, location(till, ref))


def begun(till: Till, key: str = "pos-create-1", ref: AccountRef = MINE) -> Intent:
    return till.processor.create_intent(ref, IntentRequest(500, "gbp", "Two coffees"), key)


def given(till: ReaderTill, reader_id: str, intent: Intent, key: str = "pos-process-1") -> Reader:
    return till.processor.process_intent(MINE, reader_id, intent.id, key)


def state(reader: Reader) -> tuple[str, str, str | None] | None:
    action = reader.action
    return action and (action.type, action.status.value, action.intent_id)


class NoSmartReaderContract:
    """A processor without smart readers, or an account that has none."""

    def test_a_location_has_none(self, till: Till) -> None:
        assert till.processor.list_readers(MINE, location(till)) == []

    def test_none_is_found(self, till: Till) -> None:
        for call in calls(till.processor, MINE, "tmr_unknown", begun(till).id):
            with pytest.raises(ReaderNotFound):
                call()


class SmartReaderContract(NoSmartReaderContract):
    def test_a_location_has_its_readers_and_no_others(self, till: ReaderTill) -> None:
        here, there = location(till), location(till)
        mine = {till.add_reader(MINE, here, label=label) for label in ("Counter", "Door")}
        till.add_reader(MINE, there)
        found = till.processor.list_readers(MINE, here)
        assert {reader.id for reader in found} == mine
        assert {reader.label for reader in found} == {"Counter", "Door"}
        assert {(one.device_type, one.status, one.location_id) for one in found} == {
            ("stripe_s700", ReaderStatus.ONLINE, here)
        }
        assert till.processor.retrieve_reader(MINE, found[0].id) == found[0]

    def test_a_location_may_have_many(self, till: ReaderTill) -> None:
        here = location(till)
        mine = [till.add_reader(MINE, here) for _ in range(101)]
        assert sorted(reader.id for reader in till.processor.list_readers(MINE, here)) == mine

    def test_the_reader_of_a_phone_is_no_smart_reader(self, till: ReaderTill) -> None:
        here = location(till)
        phone = till.add_reader(MINE, here, status=None, device_type="mobile_phone_reader")
        assert till.processor.list_readers(MINE, here) == []
        with pytest.raises(ReaderNotFound):
            till.processor.retrieve_reader(MINE, phone)

    def test_another_account_can_do_nothing_with_a_reader(self, till: ReaderTill) -> None:
        reader_id, intent = counter(till), begun(till, ref=OTHER)
        for call in calls(till.processor, OTHER, reader_id, intent.id):
            with pytest.raises(ReaderNotFound):
                call()
        assert till.processor.retrieve_reader(MINE, reader_id).action is None

    def test_a_new_reader_does_nothing(self, till: ReaderTill) -> None:
        reader = till.processor.retrieve_reader(MINE, counter(till))
        assert (reader.action, reader.is_busy) == (None, False)

    def test_a_reader_waits_for_the_card_of_a_payment(self, till: ReaderTill) -> None:
        reader_id, intent = counter(till), begun(till)
        reader = given(till, reader_id, intent)
        assert state(reader) == ("process_payment_intent", "in_progress", intent.id)
        assert reader.is_busy
        assert reader.has_taken(intent.id)
        assert till.processor.retrieve_reader(MINE, reader_id) == reader
        assert till.processor.retrieve_intent(MINE, intent.id).status is IntentStatus.REQUIRES_PAYMENT_METHOD

    def test_a_card_on_the_reader_pays(self, till: ReaderTill) -> None:
        reader_id, intent = counter(till), begun(till)
        given(till, reader_id, intent)
        till.present(MINE, reader_id)
        reader = till.processor.retrieve_reader(MINE, reader_id)
        assert state(reader) == ("process_payment_intent", "succeeded", intent.id)
        assert not reader.is_busy
        paid = till.processor.retrieve_intent(MINE, intent.id)
        assert (paid.status, paid.amount_received) == (IntentStatus.SUCCEEDED, 500)

    @pytest.mark.parametrize("card", DECLINES)
    def test_a_decline_on_the_reader_leaves_the_payment_open_for_another_card(
        self, till: ReaderTill, card: str
    ) -> None:
        reader_id, intent = counter(till), begun(till)
        given(till, reader_id, intent)
        till.present(MINE, reader_id, card)
        reader = till.processor.retrieve_reader(MINE, reader_id)
        assert state(reader) == ("process_payment_intent", "failed", intent.id)
        assert reader.action is not None
        assert reader.action.failure_code == DECLINES[card][0]
        assert reader.action.failure_message
        assert not reader.has_taken(intent.id)
        declined = till.processor.retrieve_intent(MINE, intent.id)
        assert declined.status is IntentStatus.REQUIRES_PAYMENT_METHOD
        assert declined.last_error is not None
        assert given(till, reader_id, intent, "pos-process-2").is_busy
        till.present(MINE, reader_id)
        assert till.processor.retrieve_intent(MINE, intent.id).amount_received == 500

    def test_the_same_payment_may_be_given_again(self, till: ReaderTill) -> None:
        reader_id, intent = counter(till), begun(till)
        for key in ("pos-process-1", "pos-process-1", "pos-process-2"):
            assert state(given(till, reader_id, intent, key)) == ("process_payment_intent", "in_progress", intent.id)

    def test_a_reader_takes_one_payment_at_a_time(self, till: ReaderTill) -> None:
        reader_id, first, second = counter(till), begun(till), begun(till, "pos-create-2")
        given(till, reader_id, first)
        with pytest.raises(ReaderBusy):
            given(till, reader_id, second, "pos-process-2")
        assert till.processor.retrieve_reader(MINE, reader_id).has_taken(first.id)

    def test_a_payment_on_two_readers_is_charged_once(self, till: ReaderTill) -> None:
        first, second, intent = counter(till), counter(till), begun(till)
        given(till, first, intent)
        given(till, second, intent, "pos-process-2")
        till.present(MINE, first)
        till.present(MINE, second)
        assert till.processor.retrieve_intent(MINE, intent.id).amount_received == 500
        assert not till.processor.retrieve_reader(MINE, second).has_taken(intent.id)

    def test_what_is_paid_or_cancelled_is_not_collected(self, till: ReaderTill) -> None:
        reader_id, paid, cancelled = counter(till), begun(till), begun(till, "pos-create-2")
        till.tap(MINE, paid.id)
        till.processor.cancel_intent(MINE, cancelled.id, None, "pos-cancel-1")
        for intent, status in ((paid, IntentStatus.SUCCEEDED), (cancelled, IntentStatus.CANCELED)):
            with pytest.raises(InvalidState) as refused:
                given(till, reader_id, intent, f"pos-process-{intent.id}")
            assert (refused.value.intent.id, refused.value.intent.status) == (intent.id, status)
        assert till.processor.retrieve_reader(MINE, reader_id).action is None

    def test_an_unknown_payment_is_not_collected(self, till: ReaderTill) -> None:
        with pytest.raises(IntentNotFound):
            till.processor.process_intent(MINE, counter(till), "pi_unknown", "pos-process-1")

    def test_a_reader_that_is_off_begins_nothing(self, till: ReaderTill) -> None:
        reader_id, intent = counter(till), begun(till)
        till.set_reader_status(MINE, reader_id, "offline")
        assert till.processor.retrieve_reader(MINE, reader_id).status is ReaderStatus.OFFLINE
        with pytest.raises(ReaderOffline):
            given(till, reader_id, intent)
        with pytest.raises(ReaderOffline):
            till.processor.cancel_reader_action(MINE, reader_id)
        till.set_reader_status(MINE, reader_id, "online")
        assert till.processor.retrieve_reader(MINE, reader_id).action is None

    def test_a_cancelled_reader_waits_no_longer_and_the_payment_stays_open(self, till: ReaderTill) -> None:
        reader_id, intent = counter(till), begun(till)
        given(till, reader_id, intent)
        for _ in range(2):
            assert not till.processor.cancel_reader_action(MINE, reader_id).is_busy
        assert till.processor.retrieve_intent(MINE, intent.id).status is IntentStatus.REQUIRES_PAYMENT_METHOD
        assert given(till, reader_id, intent, "pos-process-2").is_busy

    def test_a_card_that_is_being_charged_is_not_stopped(self, till: ReaderTill) -> None:
        reader_id, intent = counter(till), begun(till)
        given(till, reader_id, intent)
        till.hold_card(MINE, reader_id)
        with pytest.raises(ReaderBusy):
            till.processor.cancel_reader_action(MINE, reader_id)
        till.present(MINE, reader_id)
        assert till.processor.retrieve_intent(MINE, intent.id).amount_received == 500

    @pytest.mark.parametrize(("card", "outcome"), [("visa", "succeeded"), ("insufficient", "failed")])
    def test_what_a_reader_did_is_news_of_its_payment(self, till: ReaderTill, card: str, outcome: str) -> None:
        reader_id, intent = counter(till), begun(till)
        given(till, reader_id, intent)
        till.present(MINE, reader_id, card)
        parsed = [till.processor.parse_event(one.raw, one.headers, till.now()) for one in till.events()]
        [event] = [one for one in parsed if one.type.startswith("terminal.reader.")]
        assert event.type == f"terminal.reader.action_{outcome}"
        assert (event.intent_id, event.account_id, event.intent) == (intent.id, "acct_mine", None)


def calls(processor: PaymentProcessor, ref: AccountRef, reader_id: str, intent_id: str):
    """Each call that names a reader."""
    return (
        lambda: processor.retrieve_reader(ref, reader_id),
        lambda: processor.process_intent(ref, reader_id, intent_id, "key-of-process"),
        lambda: processor.cancel_reader_action(ref, reader_id),
    )
