"""The payment simulator: its cards, its keys, its events, and that it is a system of its own."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import text

from app.adapters.simulator import Simulator
from app.domain.pos.models import PosLocation
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
    OutcomeUnknown,
    PaymentError,
    ProcessorEvent,
    RefundStatus,
    Rejected,
)
from app.domain.pos.simulator import CARDS, CardNotRead, Tap, WrongClientSecret, deliver_events
from app.extensions import db
from app.transaction import transaction
from tests.factories import WHEN, make_site
from tests.fakes.clock import StoppedClock

OURS, OTHER = AccountRef("acct_ours"), AccountRef("acct_other")
Create = Callable[..., Intent]
Received = Callable[[], list[ProcessorEvent]]
pytestmark = pytest.mark.usefixtures("context")


class Woken:
    count = 0

    def __call__(self) -> None:
        self.count += 1


@pytest.fixture
def woken() -> Woken:
    return Woken()


@pytest.fixture
def simulator(app: Flask, clock: StoppedClock, woken: Woken) -> Simulator:
    return Simulator(clock, b"a secret of the simulator", woken)


@pytest.fixture
def create(simulator: Simulator) -> Create:
    def made(amount: int = 1_200, key: str = "key-1", ref: AccountRef = OURS, **more: object) -> Intent:
        return simulator.create_intent(ref, IntentRequest(amount, "gbp", **more), key)

    return made


@pytest.fixture
def pay(simulator: Simulator, create: Create) -> Create:
    def paid(card: str = "visa", pin: str | None = None, intent: Intent | None = None, **more: object) -> Intent:
        intent = intent or create(**more)
        return simulator.present(OURS, intent.id, intent.client_secret or "", Tap(CARDS[card], pin))

    return paid


@pytest.fixture
def received(simulator: Simulator, clock: StoppedClock) -> Received:
    def delivered() -> list[ProcessorEvent]:
        events: list[ProcessorEvent] = []
        assert not deliver_events(
            simulator, lambda raw, headers: events.append(simulator.parse_event(raw, headers, clock.now()))
        )
        return [event for event in events if not event.type.endswith("created")]

    return delivered


def types(events: list[ProcessorEvent]) -> list[str]:
    return [event.type.rpartition(".")[2] for event in events]


def test_ids_have_their_prefixes(simulator: Simulator, pay: Create) -> None:
    paid = pay()
    location = simulator.create_location(OURS, "Market stall", Address(country="GB"))
    ids = [paid.id, paid.charge_id, simulator.refund(OURS, paid.id, None, "r").id, location]
    ids.append(simulator.create_connection_token(OURS, location))
    assert [name.split("_sim_")[0] for name in ids] == ["pi", "ch", "re", "tml", "pst"]


@pytest.mark.parametrize(
    ("card", "brand", "last4", "funding"),
    [
        ("visa", "visa", "4242", "credit"),
        ("mastercard", "mastercard", "4444", "credit"),
        ("amex", "amex", "0005", "credit"),
        ("debit", "visa", "5556", "debit"),
    ],
)
def test_good_cards_pay(pay: Create, card: str, brand: str, last4: str, funding: str) -> None:
    paid = pay(card)
    assert (paid.status, paid.amount_received, paid.last_error) == (IntentStatus.SUCCEEDED, 1_200, None)
    assert paid.card is not None
    assert (paid.card.brand, paid.card.last4, paid.card.funding) == (brand, last4, funding)
    assert paid.card.emv["dedicatedFileName"].startswith("A0000000")
    assert len(paid.card.emv["authorizationCode"]) == 6


@pytest.mark.parametrize(
    ("card", "code", "decline_code"),
    [
        ("declined", "card_declined", "generic_decline"),
        ("insufficient", "card_declined", "insufficient_funds"),
        ("lost", "card_declined", "lost_card"),
        ("stolen", "card_declined", "stolen_card"),
        ("expired", "expired_card", "expired_card"),
        ("processing_error", "processing_error", "processing_error"),
    ],
)
def test_bad_cards_are_refused_and_another_card_pays(
    create: Create,
    pay: Create,
    received: Received,
    card: str,
    code: str,
    decline_code: str,
) -> None:
    intent = create()
    for _ in range(2):
        refused = pay(card, intent=intent)
        assert (refused.status, refused.amount_received) == (IntentStatus.REQUIRES_PAYMENT_METHOD, 0)
        assert refused.last_error == PaymentError(code, decline_code)
    assert pay("visa", intent=intent).status is IntentStatus.SUCCEEDED
    assert types(received()) == ["payment_failed", "payment_failed", "succeeded"]


@pytest.mark.parametrize(
    ("ending", "decline_code"),
    [
        (1, "call_issuer"),
        (5, "generic_decline"),
        (55, "incorrect_pin"),
        (65, "withdrawal_count_limit_exceeded"),
        (75, "pin_try_exceeded"),
    ],
)
def test_amounts_with_some_endings_are_declined(pay: Create, ending: int, decline_code: str) -> None:
    assert pay("mastercard", amount=1_200 + ending).last_error == PaymentError("card_declined", decline_code)


def test_a_pin_is_asked_for_and_checked(create: Create, pay: Create) -> None:
    intent = create()
    with pytest.raises(CardNotRead) as refused:
        pay("pin_required", intent=intent)
    assert refused.value.code == "pin_required"
    assert pay("pin_required", "4321", intent=intent).last_error == PaymentError("card_declined", "incorrect_pin")
    paid = pay("pin_required", "1234", intent=intent)
    assert paid.status is IntentStatus.SUCCEEDED
    assert paid.card is not None
    assert paid.card.emv["cardholderVerificationMethod"] == "online_pin"


def test_the_second_tap_of_a_card_that_needs_one_pays(create: Create, pay: Create) -> None:
    intent = create()
    assert pay("sca_retry", intent=intent).last_error is not None
    assert pay("sca_retry", intent=intent).status is IntentStatus.SUCCEEDED


def test_a_slow_payment_is_processing_for_three_seconds(
    simulator: Simulator,
    pay: Create,
    clock: StoppedClock,
    received: Received,
) -> None:
    intent = pay("slow")
    assert (intent.status, intent.amount_received) == (IntentStatus.PROCESSING, 0)
    with pytest.raises(InvalidState):
        simulator.cancel_intent(OURS, intent.id, None, "c")
    assert types(received()) == ["processing"]
    clock.move(seconds=2.9)
    assert simulator.retrieve_intent(OURS, intent.id).status is IntentStatus.PROCESSING
    clock.move(seconds=0.1)
    settled = simulator.retrieve_intent(OURS, intent.id)
    assert (settled.status, settled.amount_received) == (IntentStatus.SUCCEEDED, 1_200)
    (event,) = received()
    assert event.intent is not None
    assert (event.type, event.intent.amount_received) == ("payment_intent.succeeded", 1_200)


def test_a_lost_answer_is_lost_once(simulator: Simulator, create: Create, pay: Create) -> None:
    intent = create()
    with pytest.raises(OutcomeUnknown):
        pay("lost_response", intent=intent)
    assert simulator.retrieve_intent(OURS, intent.id).status is IntentStatus.SUCCEEDED
    assert pay("lost_response", intent=intent).status is IntentStatus.SUCCEEDED


@pytest.mark.parametrize("card", ["timeout_not_charged", "removed_early", "reader_offline"])
def test_some_taps_never_happened(
    simulator: Simulator,
    create: Create,
    pay: Create,
    received: Received,
    card: str,
) -> None:
    intent = create()
    for _ in range(2):
        with pytest.raises((OutcomeUnknown, CardNotRead)):
            pay(card, intent=intent)
    assert simulator.retrieve_intent(OURS, intent.id) == intent
    assert received() == []


def test_a_stuck_payment_is_captured_or_released(simulator: Simulator, pay: Create) -> None:
    stuck, other = pay("stuck_capture"), pay("stuck_capture", key="key-2")
    assert (stuck.status, stuck.amount_received) == (IntentStatus.REQUIRES_CAPTURE, 0)
    captured = simulator.capture_intent(OURS, stuck.id, "c1")
    assert (captured.status, captured.amount_received) == (IntentStatus.SUCCEEDED, 1_200)
    assert simulator.cancel_intent(OURS, other.id, "abandoned", "c2").status is IntentStatus.CANCELED


def test_events_come_late_twice_or_in_another_order(pay: Create, clock: StoppedClock, received: Received) -> None:
    pay("late_event", key="1")
    assert received() == []
    clock.move(seconds=10)
    assert types(received()) == ["succeeded"]
    pay("duplicate_event", key="2")
    first, second = received()
    assert first.id == second.id
    pay("out_of_order", key="3")
    assert types(received()) == ["succeeded"]
    clock.move(seconds=1)
    (late,) = received()
    assert (late.type, late.intent and late.intent.status) == ("payment_intent.processing", IntentStatus.PROCESSING)


def test_a_refund_of_a_certain_card_fails_later(
    simulator: Simulator,
    pay: Create,
    clock: StoppedClock,
    received: Received,
) -> None:
    paid = pay("refund_fail")
    refund = simulator.refund(OURS, paid.id, 500, "r")
    assert refund.status is RefundStatus.SUCCEEDED
    assert simulator.retrieve_intent(OURS, paid.id).refunded == 500
    assert types(received()) == ["succeeded", "refunded"]
    clock.move(seconds=5)
    assert simulator.retrieve_refund(OURS, refund.id).status is RefundStatus.FAILED
    assert simulator.retrieve_intent(OURS, paid.id).refunded == 0
    (event,) = received()
    assert event.type == "charge.refund.updated"
    assert event.intent_id == paid.id
    assert event.refund == simulator.retrieve_refund(OURS, refund.id)


def test_refunds_end_where_the_payment_does(simulator: Simulator, pay: Create) -> None:
    paid = pay()
    simulator.refund(OURS, paid.id, 700, "r1")
    with pytest.raises(Rejected):
        simulator.refund(OURS, paid.id, 501, "r2")
    assert simulator.refund(OURS, paid.id, None, "r3").amount == 500
    with pytest.raises(Rejected):
        simulator.refund(OURS, paid.id, None, "r4")


def test_a_card_needs_the_client_secret_of_its_payment(simulator: Simulator, create: Create) -> None:
    intent, other = create(), create(key="key-2")
    for secret in (other.client_secret or "", "", "\udcff"):
        with pytest.raises(WrongClientSecret):
            simulator.present(OURS, intent.id, secret, Tap(CARDS["visa"]))


@pytest.mark.parametrize("end", ["paid", "canceled"])
def test_no_card_is_read_once_a_payment_is_over(simulator: Simulator, create: Create, pay: Create, end: str) -> None:
    intent = create()
    if end == "paid":
        pay("visa", intent=intent)
    else:
        simulator.cancel_intent(OURS, intent.id, None, "c")
    with pytest.raises(InvalidState):
        pay("mastercard", intent=intent)


def test_a_repeated_key_makes_nothing_new(simulator: Simulator, create: Create, clock: StoppedClock) -> None:
    intent = create(metadata={"transactionId": "t"})
    assert create(metadata={"transactionId": "t"}) == intent
    with pytest.raises(KeyReused):
        create(amount=1_300)
    assert create(ref=OTHER).id != intent.id
    clock.move(hours=23, minutes=59)
    assert create(metadata={"transactionId": "t"}) == intent
    clock.move(minutes=1)
    assert create(metadata={"transactionId": "t"}).id != intent.id


def test_an_account_knows_nothing_of_another(simulator: Simulator, pay: Create) -> None:
    paid = pay()
    refund = simulator.refund(OURS, paid.id, 100, "r")
    location = simulator.create_location(OURS, "Stall", Address(country="GB"))
    for call in (
        lambda: simulator.retrieve_intent(OTHER, paid.id),
        lambda: simulator.capture_intent(OTHER, paid.id, "k"),
        lambda: simulator.cancel_intent(OTHER, paid.id, None, "k"),
        lambda: simulator.refund(OTHER, paid.id, None, "k"),
    ):
        with pytest.raises(IntentNotFound):
            call()
    with pytest.raises(Rejected):
        simulator.retrieve_refund(OTHER, refund.id)
    with pytest.raises(Misconfigured):
        simulator.create_connection_token(OTHER, location)
    assert list(simulator.list_intents(OTHER, paid.created, paid.created + timedelta(seconds=1))) == []


def test_a_list_has_every_intent_of_its_window(simulator: Simulator, create: Create, clock: StoppedClock) -> None:
    since = clock.now()
    made = [create(key=str(number)).id for number in range(205)]
    clock.move(seconds=1)
    create(key="later")
    listed = [intent.id for intent in simulator.list_intents(OURS, since, clock.now())]
    assert sorted(listed) == sorted(made)


def test_what_it_did_stays_done_when_the_shop_rolls_back(simulator: Simulator, create: Create) -> None:
    db.session.execute(text("SELECT 1"))
    intent = create()
    db.session.rollback()
    assert simulator.retrieve_intent(OURS, intent.id) == intent


def test_the_queue_is_woken_when_there_is_news(simulator: Simulator, create: Create, pay: Create, woken: Woken) -> None:
    intent = create()
    assert woken.count == 1
    pay(intent=intent)
    assert woken.count == 2
    simulator.refund(OURS, intent.id, None, "r")
    assert woken.count == 3


def test_an_event_that_the_shop_did_not_take_is_sent_again(
    simulator: Simulator,
    pay: Create,
    clock: StoppedClock,
    received: Received,
) -> None:
    pay()

    def fail(_raw: bytes, _headers: object) -> None:
        raise OSError("the shop is away")

    assert {str(error) for error in deliver_events(simulator, fail)} == {"the shop is away"}
    assert received() == []
    clock.move(seconds=5)
    assert types(received()) == ["succeeded"]
    assert received() == []


def test_events_hold_no_client_secret_and_are_signed(simulator: Simulator, pay: Create, clock: StoppedClock) -> None:
    paid = pay(metadata={"transactionId": "t-1"})
    _created, event = simulator.due_events(timedelta(0))
    assert paid.client_secret and paid.client_secret not in event.raw.decode()
    parsed = simulator.parse_event(event.raw, event.headers, clock.now())
    assert (parsed.account_id, parsed.live, parsed.intent_id) == (OURS.account_id, False, paid.id)
    assert parsed.intent is not None
    assert parsed.intent.metadata == {"transactionId": "t-1"}
    for raw, headers, seconds in (
        (event.raw + b" ", event.headers, 0),
        (event.raw, {}, 0),
        (event.raw, event.headers, 301),
        (event.raw, event.headers, -301),
    ):
        with pytest.raises(BadSignature):
            simulator.parse_event(raw, headers, clock.now() + timedelta(seconds=seconds))
    another = Simulator(clock, b"another secret")
    with pytest.raises(BadSignature):
        another.parse_event(event.raw, event.headers, clock.now())


@pytest.mark.parametrize(("amount", "code"), [(29, "amount_too_small"), (100_000_000, "amount_too_large")])
def test_amounts_have_limits(create: Create, amount: int, code: str) -> None:
    with pytest.raises(Rejected) as refused:
        create(amount=amount)
    assert refused.value.reason == code


def test_a_location_of_an_imported_bundle_is_taken_to_exist(simulator: Simulator) -> None:
    with pytest.raises(Misconfigured):
        simulator.create_connection_token(OURS, "tml_market")
    with transaction():
        times = {"created_at": WHEN, "updated_at": WHEN}
        db.session.add(PosLocation(site_id=make_site().id, location_id="tml_market", display_name="Market", **times))
    tokens = {simulator.create_connection_token(OURS, "tml_market") for _ in range(2)}
    assert len(tokens) == 2
