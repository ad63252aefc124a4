"""What every payment processor of the shop must do. A subclass gives the till in the fixture `till`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

import pytest

from app.domain.pos.processor import (
    AccountRef,
    Address,
    BadSignature,
    Intent,
    IntentNotFound,
    IntentRequest,
    IntentStatus,
    InvalidState,
    KeyReused,
    Misconfigured,
    PaymentProcessor,
    ProcessorEvent,
    Refund,
    RefundStatus,
    Rejected,
)

MINE, OTHER = AccountRef("acct_mine"), AccountRef("acct_other")
LONDON = Address(line1="1 Market Street", city="London", postal_code="E1 6AN", country="GB")
DECLINES = {
    "declined": ("card_declined", "generic_decline"),
    "insufficient": ("card_declined", "insufficient_funds"),
    "lost": ("card_declined", "lost_card"),
    "stolen": ("card_declined", "stolen_card"),
    "expired": ("expired_card", "expired_card"),
    "processing_error": ("processing_error", "processing_error"),
}


@dataclass(frozen=True, slots=True)
class SentEvent:
    """An event as the shop's address receives it."""

    raw: bytes
    headers: Mapping[str, str]


class Till(Protocol):
    """A processor, and what happens at its other end: cards that customers tap, and events that it sends."""

    processor: PaymentProcessor

    def now(self) -> datetime:
        """The time by which intents are made and events are signed."""
        ...

    def tap(self, ref: AccountRef, intent_id: str, card: str = "visa") -> None:
        """Let a customer tap a card: visa, mastercard, amex, debit, a decline of DECLINES, or stuck_capture, which
        leaves the intent in requires_capture."""
        ...

    def events(self) -> list[SentEvent]:
        """All that was sent so far, in its order, each signed now."""
        ...

    def with_secret(self, secret: str) -> PaymentProcessor:
        """The same processor, which knows only this secret of the events' signatures."""
        ...


def intent_request(amount: int = 500, **metadata: str) -> IntentRequest:
    return IntentRequest(amount, "gbp", "Two coffees", metadata or {"transactionId": "T1"})


def made(till: Till, key: str = "pos-create-1", amount: int = 500, ref: AccountRef = MINE) -> Intent:
    return till.processor.create_intent(ref, intent_request(amount), key)


def paid(till: Till, key: str = "pos-create-1", amount: int = 500, card: str = "visa") -> Intent:
    intent = made(till, key, amount)
    till.tap(MINE, intent.id, card)
    return read(till, intent)


def read(till: Till, intent: Intent) -> Intent:
    return till.processor.retrieve_intent(MINE, intent.id)


def parsed(till: Till) -> list[ProcessorEvent]:
    return [till.processor.parse_event(sent.raw, sent.headers, till.now()) for sent in till.events()]


class PaymentProcessorContract:
    def test_it_has_a_name_and_moves_no_real_money_here(self, till: Till) -> None:
        assert till.processor.name
        assert till.processor.live is False

    # An intent

    def test_a_new_intent_waits_for_a_card(self, till: Till) -> None:
        intent = till.processor.create_intent(
            MINE, intent_request(1250, agentId="A1", transactionId="T9"), "pos-create-T9"
        )
        assert intent.status is IntentStatus.REQUIRES_PAYMENT_METHOD
        assert (intent.amount, intent.currency, intent.amount_received) == (1250, "gbp", 0)
        assert intent.metadata == {"agentId": "A1", "transactionId": "T9"}
        assert intent.client_secret
        assert (intent.card, intent.last_error, intent.refunded) == (None, None, 0)
        assert intent.created == till.now().replace(microsecond=0)
        assert intent.created.tzinfo is UTC

    def test_an_intent_is_read_as_it_was_made(self, till: Till) -> None:
        intent = made(till)
        again = read(till, intent)
        assert (again.id, again.status, again.amount, again.metadata) == (
            intent.id,
            intent.status,
            intent.amount,
            intent.metadata,
        )

    def test_the_same_key_makes_one_intent(self, till: Till) -> None:
        assert made(till, "pos-create-1").id == made(till, "pos-create-1").id
        assert len(self._listed(till)) == 1

    def test_another_key_makes_another_intent(self, till: Till) -> None:
        assert made(till, "pos-create-1").id != made(till, "pos-create-2").id

    def test_the_same_key_for_another_amount_is_refused_and_makes_nothing(self, till: Till) -> None:
        intent = made(till, "pos-create-1", 500)
        with pytest.raises(Rejected):
            made(till, "pos-create-1", 600)
        assert [(one.id, one.amount) for one in self._listed(till)] == [(intent.id, 500)]

    def test_an_amount_below_the_least_is_refused_with_its_reason(self, till: Till) -> None:
        with pytest.raises(Rejected) as refused:
            made(till, amount=29)
        assert refused.value.reason == "amount_too_small"
        assert self._listed(till) == []

    def test_an_unknown_intent_is_not_found(self, till: Till) -> None:
        for call in self._calls(till, MINE, "pi_unknown"):
            with pytest.raises(IntentNotFound):
                call()

    # Accounts

    def test_two_accounts_may_use_the_same_key(self, till: Till) -> None:
        assert made(till, "pos-create-1", 500).id != made(till, "pos-create-1", 700, OTHER).id

    def test_the_platforms_own_account_is_an_account_as_any(self, till: Till) -> None:
        own = AccountRef()
        intent = made(till, ref=own)
        till.tap(own, intent.id)
        assert till.processor.retrieve_intent(own, intent.id).status is IntentStatus.SUCCEEDED
        assert {event.account_id for event in parsed(till)} == {""}

    def test_another_account_can_do_nothing_with_an_intent(self, till: Till) -> None:
        intent = made(till)
        for call in self._calls(till, OTHER, intent.id):
            with pytest.raises(IntentNotFound):
                call()
        assert read(till, intent).status is IntentStatus.REQUIRES_PAYMENT_METHOD

    def test_a_list_is_of_one_account(self, till: Till) -> None:
        mine, other = made(till), made(till, ref=OTHER)
        assert [one.id for one in self._listed(till)] == [mine.id]
        assert [one.id for one in self._listed(till, OTHER)] == [other.id]

    def test_an_event_names_its_account(self, till: Till) -> None:
        made(till, ref=OTHER)
        made(till)
        assert [event.account_id for event in parsed(till)] == ["acct_other", "acct_mine"]

    # A tap

    @pytest.mark.parametrize(
        ("card", "brand", "last4", "funding"),
        [
            ("visa", "visa", "4242", "credit"),
            ("mastercard", "mastercard", "4444", "credit"),
            ("amex", "amex", "0005", "credit"),
            ("debit", "visa", "5556", "debit"),
        ],
    )
    def test_a_tapped_card_pays_at_once(self, till: Till, card: str, brand: str, last4: str, funding: str) -> None:
        intent = paid(till, card=card)
        assert (intent.status, intent.amount_received) == (IntentStatus.SUCCEEDED, 500)
        assert intent.charge_id
        assert intent.card is not None
        assert (intent.card.brand, intent.card.last4, intent.card.funding) == (brand, last4, funding)

    def test_a_payment_has_what_a_receipt_must_show(self, till: Till) -> None:
        card = paid(till).card
        assert card is not None
        assert card.read_method.startswith("contactless")
        assert set(card.emv) == {
            "applicationPreferredName",
            "dedicatedFileName",
            "authorizationCode",
            "cardholderVerificationMethod",
            "accountType",
        }
        assert all(card.emv.values())

    @pytest.mark.parametrize("card", DECLINES)
    def test_a_declined_intent_waits_for_another_card(self, till: Till, card: str) -> None:
        intent = paid(till, card=card)
        assert (intent.status, intent.amount_received) == (IntentStatus.REQUIRES_PAYMENT_METHOD, 0)
        assert intent.last_error is not None
        assert (intent.last_error.code, intent.last_error.decline_code) == DECLINES[card]
        assert (intent.card, intent.charge_id) == (None, "")

    def test_after_a_decline_another_card_pays_the_same_intent(self, till: Till) -> None:
        intent = paid(till, card="insufficient")
        till.tap(MINE, intent.id, "mastercard")
        intent = read(till, intent)
        assert (intent.status, intent.last_error) == (IntentStatus.SUCCEEDED, None)
        assert intent.card is not None
        assert intent.card.brand == "mastercard"

    # Capture

    def test_what_no_card_paid_cannot_be_captured(self, till: Till) -> None:
        intent = made(till)
        with pytest.raises(InvalidState) as refused:
            till.processor.capture_intent(MINE, intent.id, "pos-capture-1")
        assert refused.value.intent.id == intent.id
        assert refused.value.intent.status is IntentStatus.REQUIRES_PAYMENT_METHOD

    def test_a_decline_shows_in_the_intent_of_the_refused_capture(self, till: Till) -> None:
        intent = paid(till, card="lost")
        with pytest.raises(InvalidState) as refused:
            till.processor.capture_intent(MINE, intent.id, "pos-capture-1")
        assert refused.value.intent.last_error is not None
        assert refused.value.intent.last_error.decline_code == "lost_card"

    def test_what_was_captured_by_the_tap_shows_in_the_refusal(self, till: Till) -> None:
        intent = paid(till)
        with pytest.raises(InvalidState) as refused:
            till.processor.capture_intent(MINE, intent.id, "pos-capture-1")
        seen = refused.value.intent
        assert (seen.status, seen.amount_received) == (IntentStatus.SUCCEEDED, 500)
        assert seen.card == intent.card

    def test_a_held_payment_is_captured_once(self, till: Till) -> None:
        intent = paid(till, card="stuck_capture")
        assert (intent.status, intent.amount_received) == (IntentStatus.REQUIRES_CAPTURE, 0)
        for _ in range(2):
            captured = till.processor.capture_intent(MINE, intent.id, "pos-capture-1")
            assert (captured.status, captured.amount_received) == (IntentStatus.SUCCEEDED, 500)
            assert captured.card is not None
        assert read(till, intent).status is IntentStatus.SUCCEEDED

    # Cancel

    @pytest.mark.parametrize("reason", [None, "abandoned", "duplicate", "fraudulent", "requested_by_customer"])
    def test_a_waiting_intent_is_cancelled_once(self, till: Till, reason: str | None) -> None:
        intent = made(till)
        for _ in range(2):
            cancelled = till.processor.cancel_intent(MINE, intent.id, reason, "pos-cancel-1")
            assert (cancelled.id, cancelled.status) == (intent.id, IntentStatus.CANCELED)
        assert read(till, intent).status is IntentStatus.CANCELED

    def test_a_held_payment_can_be_cancelled(self, till: Till) -> None:
        intent = paid(till, card="stuck_capture")
        cancelled = till.processor.cancel_intent(MINE, intent.id, None, "pos-cancel-1")
        assert (cancelled.status, cancelled.amount_received) == (IntentStatus.CANCELED, 0)

    def test_what_is_paid_cannot_be_cancelled(self, till: Till) -> None:
        intent = paid(till)
        with pytest.raises(InvalidState) as refused:
            till.processor.cancel_intent(MINE, intent.id, "abandoned", "pos-cancel-1")
        assert refused.value.intent.status is IntentStatus.SUCCEEDED
        assert refused.value.intent.card == intent.card
        assert read(till, intent).status is IntentStatus.SUCCEEDED

    def test_what_is_cancelled_is_not_cancelled_or_captured_again(self, till: Till) -> None:
        intent = made(till)
        till.processor.cancel_intent(MINE, intent.id, None, "pos-cancel-1")
        with pytest.raises(InvalidState) as refused:
            till.processor.cancel_intent(MINE, intent.id, None, "pos-cancel-2")
        assert refused.value.intent.status is IntentStatus.CANCELED
        with pytest.raises(InvalidState) as refused:
            till.processor.capture_intent(MINE, intent.id, "pos-capture-1")
        assert refused.value.intent.status is IntentStatus.CANCELED

    # List

    def test_a_list_has_every_intent_of_the_window_as_it_is_now(self, till: Till) -> None:
        waiting, won = made(till, "pos-create-1"), paid(till, "pos-create-2")
        found = {one.id: one for one in self._listed(till)}
        assert set(found) == {waiting.id, won.id}
        assert found[won.id].status is IntentStatus.SUCCEEDED
        assert found[won.id].card == won.card
        assert found[won.id].metadata == {"transactionId": "T1"}

    def test_the_window_of_a_list_has_its_first_moment_and_not_its_last(self, till: Till) -> None:
        intent = made(till)
        second = timedelta(seconds=1)
        for begin, end, expected in (
            (intent.created, intent.created + second, [intent.id]),
            (intent.created - second, intent.created, []),
            (intent.created + second, intent.created + 2 * second, []),
        ):
            assert [one.id for one in till.processor.list_intents(MINE, begin, end)] == expected

    # Refunds

    def test_a_part_and_then_the_rest_is_given_back(self, till: Till) -> None:
        intent = paid(till, amount=500)
        part = till.processor.refund(MINE, intent.id, 200, "pos-refund-1")
        assert (part.intent_id, part.amount, part.status) == (intent.id, 200, RefundStatus.SUCCEEDED)
        assert read(till, intent).refunded == 200
        rest = till.processor.refund(MINE, intent.id, None, "pos-refund-2")
        assert rest.amount == 300
        assert read(till, intent).refunded == 500
        assert read(till, intent).status is IntentStatus.SUCCEEDED

    def test_the_same_key_gives_back_once(self, till: Till) -> None:
        intent = paid(till)
        refunds = {till.processor.refund(MINE, intent.id, 200, "pos-refund-1").id for _ in range(2)}
        assert len(refunds) == 1
        assert read(till, intent).refunded == 200

    def test_the_same_key_for_another_refund_is_refused(self, till: Till) -> None:
        intent = paid(till)
        till.processor.refund(MINE, intent.id, 200, "pos-refund-1", {"refundId": "R1"})
        for amount, name in ((300, "R1"), (200, "R2")):
            with pytest.raises(KeyReused):
                till.processor.refund(MINE, intent.id, amount, "pos-refund-1", {"refundId": name})
        assert read(till, intent).refunded == 200

    def test_more_than_is_left_is_not_given_back(self, till: Till) -> None:
        intent = paid(till, amount=500)
        till.processor.refund(MINE, intent.id, 200, "pos-refund-1")
        with pytest.raises(Rejected):
            till.processor.refund(MINE, intent.id, 301, "pos-refund-2")
        till.processor.refund(MINE, intent.id, 300, "pos-refund-3")
        for amount in (None, 1):
            with pytest.raises(Rejected):
                till.processor.refund(MINE, intent.id, amount, f"pos-refund-{amount}")
        assert read(till, intent).refunded == 500

    def test_what_was_not_paid_is_not_given_back(self, till: Till) -> None:
        for intent in (made(till, "pos-create-1"), paid(till, "pos-create-2", card="declined")):
            with pytest.raises(Rejected):
                till.processor.refund(MINE, intent.id, None, f"pos-refund-{intent.id}")

    def test_a_refund_keeps_its_metadata_also_in_its_news(self, till: Till) -> None:
        intent = paid(till)
        named = till.processor.refund(MINE, intent.id, 200, "pos-refund-1", {"refundId": "R1"})
        plain = till.processor.refund(MINE, intent.id, 200, "pos-refund-2")
        for refund, metadata in ((named, {"refundId": "R1"}), (plain, {})):
            assert refund.metadata == till.processor.retrieve_refund(MINE, refund.id).metadata == metadata
            assert metadata in [
                one.refund.metadata for one in parsed(till) if one.refund and one.refund.id == refund.id
            ]

    def test_a_refund_is_read_in_its_account_alone(self, till: Till) -> None:
        refund: Refund = till.processor.refund(MINE, paid(till).id, 200, "pos-refund-1")
        assert till.processor.retrieve_refund(MINE, refund.id) == refund
        with pytest.raises(Rejected):
            till.processor.retrieve_refund(OTHER, refund.id)
        with pytest.raises(Rejected):
            till.processor.retrieve_refund(MINE, "re_unknown")

    # Readers

    def test_each_connection_token_is_a_new_one(self, till: Till) -> None:
        location = till.processor.create_location(MINE, "Market stall", LONDON)
        tokens = {till.processor.create_connection_token(MINE, location) for _ in range(2)}
        assert len(tokens) == 2
        assert all(tokens)

    def test_two_locations_may_look_the_same(self, till: Till) -> None:
        made = {till.processor.create_location(MINE, "Market stall", LONDON) for _ in range(2)}
        assert len(made) == 2

    def test_a_location_of_another_account_is_a_mistake_of_the_set_up(self, till: Till) -> None:
        theirs = till.processor.create_location(OTHER, "Market stall", LONDON)
        for location in (theirs, "tml_unknown"):
            with pytest.raises(Misconfigured):
                till.processor.create_connection_token(MINE, location)

    def test_a_location_without_a_country_is_refused(self, till: Till) -> None:
        with pytest.raises(Rejected):
            till.processor.create_location(MINE, "Market stall", Address(city="London"))

    # Events

    def test_a_payment_is_news_with_the_intent_as_it_is(self, till: Till) -> None:
        intent = paid(till)
        [event] = [one for one in parsed(till) if one.type == "payment_intent.succeeded"]
        assert (event.intent_id, event.account_id, event.live) == (intent.id, "acct_mine", False)
        assert event.created == till.now().replace(microsecond=0)
        assert event.intent is not None
        assert (event.intent.status, event.intent.amount_received) == (IntentStatus.SUCCEEDED, 500)
        assert event.intent.metadata == {"transactionId": "T1"}

    def test_a_decline_is_news_with_its_reason(self, till: Till) -> None:
        paid(till, card="insufficient")
        [event] = [one for one in parsed(till) if one.type == "payment_intent.payment_failed"]
        assert event.intent is not None
        assert event.intent.last_error is not None
        assert event.intent.last_error.decline_code == "insufficient_funds"

    def test_a_cancelled_intent_is_news(self, till: Till) -> None:
        intent = made(till)
        till.processor.cancel_intent(MINE, intent.id, None, "pos-cancel-1")
        [event] = [one for one in parsed(till) if one.type == "payment_intent.canceled"]
        assert event.intent_id == intent.id

    def test_a_refund_is_news_of_its_intent(self, till: Till) -> None:
        intent = paid(till)
        refund = till.processor.refund(MINE, intent.id, 200, "pos-refund-1")
        [event] = [one for one in parsed(till) if one.type == "charge.refunded"]
        assert event.intent_id == intent.id
        assert refund.id in {one.refund.id for one in parsed(till) if one.refund and one.intent_id == intent.id}

    def test_every_event_has_an_id_of_its_own(self, till: Till) -> None:
        paid(till, "pos-create-1")
        paid(till, "pos-create-2", card="declined")
        ids = [event.id for event in parsed(till)]
        assert len(ids) == len(set(ids)) >= 4

    def test_no_event_carries_the_secret_of_its_intent(self, till: Till) -> None:
        secret = made(till).client_secret
        assert secret
        for event in parsed(till):
            assert secret not in repr(event)

    # Signatures

    def test_an_event_is_believed_for_five_minutes_before_and_after(self, till: Till) -> None:
        sent = self._sent(till)
        signed = till.now().replace(microsecond=0)
        for seconds in (-300, 0, 300):
            assert till.processor.parse_event(sent.raw, sent.headers, signed + timedelta(seconds=seconds)).id
        for seconds in (-86_400, -301, 301, 86_400):
            with pytest.raises(BadSignature):
                till.processor.parse_event(sent.raw, sent.headers, signed + timedelta(seconds=seconds))

    def test_the_names_of_headers_are_read_in_any_case(self, till: Till) -> None:
        sent = self._sent(till)
        for spelled in (str.lower, str.upper, str.title):
            headers = {spelled(name): value for name, value in sent.headers.items()}
            assert till.processor.parse_event(sent.raw, headers, till.now()).id

    def test_an_edited_event_is_refused(self, till: Till) -> None:
        sent = self._sent(till)
        for edited in (sent.raw + b" ", sent.raw.replace(b"500", b"501"), b"", b"{}", b"\xff\xfe"):
            with pytest.raises(BadSignature):
                till.processor.parse_event(edited, sent.headers, till.now())

    @pytest.mark.parametrize("value", ["", "t=1", "v1=00", "t=,v1=", "t=x,v1=y", "t=1,v1=é", "=,=", "," * 5000])
    def test_a_signature_that_is_none_is_refused(self, till: Till, value: str) -> None:
        sent = self._sent(till)
        with pytest.raises(BadSignature):
            till.processor.parse_event(sent.raw, dict.fromkeys(sent.headers, value), till.now())

    def test_an_event_without_a_signature_is_refused(self, till: Till) -> None:
        with pytest.raises(BadSignature):
            till.processor.parse_event(self._sent(till).raw, {}, till.now())

    def test_a_moved_stamp_is_refused(self, till: Till) -> None:
        sent = self._sent(till)
        stamp = str(int(till.now().timestamp()))
        later = till.now() + timedelta(days=1)
        headers = {name: value.replace(stamp, str(int(later.timestamp()))) for name, value in sent.headers.items()}
        assert headers != sent.headers
        with pytest.raises(BadSignature):
            till.processor.parse_event(sent.raw, headers, later)

    @pytest.mark.parametrize("secret", ["another secret", "", " "])
    def test_a_processor_with_another_secret_or_none_believes_nothing(self, till: Till, secret: str) -> None:
        sent = self._sent(till)
        with pytest.raises(BadSignature):
            till.with_secret(secret).parse_event(sent.raw, sent.headers, till.now())

    @staticmethod
    def _sent(till: Till) -> SentEvent:
        made(till)
        return till.events()[-1]

    @staticmethod
    def _listed(till: Till, ref: AccountRef = MINE) -> list[Intent]:
        hour = timedelta(hours=1)
        return list(till.processor.list_intents(ref, till.now() - hour, till.now() + hour))

    @staticmethod
    def _calls(till: Till, ref: AccountRef, intent_id: str):
        """Each call that names an intent."""
        processor = till.processor
        return (
            lambda: processor.retrieve_intent(ref, intent_id),
            lambda: processor.capture_intent(ref, intent_id, "key-of-capture"),
            lambda: processor.cancel_intent(ref, intent_id, None, "key-of-cancel"),
            lambda: processor.refund(ref, intent_id, None, "key-of-refund"),
        )
