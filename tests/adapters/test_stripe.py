"""What is Stripe's own: its errors, its retries, its accounts, its lists and its events."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta

import pytest
import stripe
from structlog.typing import EventDict

from app.adapters.stripe import StripeProcessor
from app.domain.pos.processor import (
    AccountRef,
    Address,
    Busy,
    Declined,
    Intent,
    IntentRequest,
    IntentStatus,
    InvalidState,
    KeyReused,
    Misconfigured,
    OutcomeUnknown,
    ProcessorError,
    ReaderNotFound,
    RefundStatus,
    Rejected,
)
from tests.fakes.clock import StoppedClock
from tests.fakes.stripe_server import SECRET_KEY, WEBHOOK_SECRET, Fault, StripeServer, stripe_server

MINE, OTHER, OWN = AccountRef("acct_mine"), AccountRef("acct_other"), AccountRef()
COFFEE = IntentRequest(500, "gbp", metadata={"transactionId": "T1"})
HOUR = timedelta(hours=1)
SHORT = 0.2  # Seconds that a till of these tests waits for an answer.
NOT_ANSWERED = [
    Fault.SERVER_ERROR,
    Fault.SERVER_ERROR_AFTER,
    Fault.GATEWAY_PAGE,
    Fault.HALF_ANSWER_AFTER,
    Fault.DEEP_ANSWER_AFTER,
    Fault.RESET,
    Fault.RESET_AFTER,
    Fault.TIMEOUT,
    Fault.TIMEOUT_AFTER,
]


@pytest.fixture
def server(clock: StoppedClock) -> Iterator[StripeServer]:
    with stripe_server(clock.now) as running:
        yield running


@pytest.fixture
def processor(server: StripeServer) -> StripeProcessor:
    return StripeProcessor(SECRET_KEY, [WEBHOOK_SECRET], api_base=server.base_url, read_seconds=SHORT, pause=0, page=2)


def intents(server: StripeServer, account: str = "acct_mine") -> list[str]:
    return list(server.api.ledgers[account].intents)


def paid(server: StripeServer, processor: StripeProcessor, card: str = "visa", key: str = "create-1") -> Intent:
    intent = processor.create_intent(MINE, COFFEE, key)
    server.tap("acct_mine", intent.id, card)
    return processor.retrieve_intent(MINE, intent.id)


# What is sent


def test_a_till_asks_for_a_card_at_the_reader_that_is_charged_at_the_tap(
    server: StripeServer, processor: StripeProcessor
) -> None:
    processor.create_intent(MINE, IntentRequest(500, "gbp", "Two coffees", {"agentId": "A1"}), "pos-create-T1")
    [sent] = server.received
    assert (sent.method, sent.path, sent.key, sent.account) == (
        "POST",
        "/v1/payment_intents",
        "pos-create-T1",
        "acct_mine",
    )
    assert sent.sent == {
        "amount": "500",
        "currency": "gbp",
        "description": "Two coffees",
        "allowed_payment_method_types": ["card_present"],
        "capture_method": "automatic",
        "metadata": {"agentId": "A1"},
        "expand": ["latest_charge"],
    }


def test_every_request_names_its_account_and_no_other(server: StripeServer, processor: StripeProcessor) -> None:
    """Two sites take turns: a client that remembered the account of the request before would be seen."""
    for round_, ref in enumerate([MINE, OTHER, OWN, OTHER, MINE, OWN]):
        server.received.clear()
        for call in all_calls(processor, ref, str(round_)):
            with suppress(ProcessorError):
                call()
        assert len(server.received) >= 13
        assert {sent.account for sent in server.received} == {ref.account_id}
        assert ("Stripe-Account" in server.received[0].headers) == bool(ref.account_id)


def test_an_account_that_the_key_does_not_reach_is_a_mistake_of_the_set_up(processor: StripeProcessor) -> None:
    with pytest.raises(Misconfigured):
        processor.create_intent(AccountRef("acct_foreign"), COFFEE, "create-1")


def test_nothing_is_said_about_this_machine(server: StripeServer, processor: StripeProcessor) -> None:
    for key in ("create-1", "create-2"):
        processor.create_intent(MINE, COFFEE, key)
    headers = server.received[-1].headers
    assert "X-Stripe-Client-Telemetry" not in headers
    assert not {"platform", "telemetry_id"} & set(json.loads(headers["X-Stripe-Client-User-Agent"]))


@pytest.mark.parametrize(
    ("key", "live"), [("sk_live", True), ("rk_live", True), ("sk_test", False), ("rk_test", False), ("", False)]
)
def test_the_key_says_whether_real_money_moves(key: str, live: bool) -> None:
    assert StripeProcessor(f"{key}_x", ["s"], "pk_x").live is live


# Errors


@pytest.mark.parametrize("fault", [Fault.BUSY, Fault.LOCKED])
def test_a_busy_stripe_did_nothing_and_says_when_to_come_back(
    server: StripeServer, processor: StripeProcessor, fault: Fault
) -> None:
    server.fails(fault)
    with pytest.raises(Busy) as busy:
        processor.create_intent(MINE, COFFEE, "create-1")
    assert busy.value.retry_after == 2
    assert (intents(server), len(server.received)) == ([], 1)


@pytest.mark.parametrize(("said", "seconds"), [("7", 7), ("100000", 60), ("soon", 2), ("0", 2), ("-1", 2), ("½", 2)])
def test_stripe_says_how_long_to_wait(
    server: StripeServer, processor: StripeProcessor, said: str, seconds: int
) -> None:
    server.retry_after = said
    server.fails(Fault.BUSY)
    with pytest.raises(Busy) as busy:
        processor.create_intent(MINE, COFFEE, "create-1")
    assert busy.value.retry_after == seconds


def test_a_wrong_key_and_a_missing_permission_are_mistakes_of_the_set_up(
    server: StripeServer, processor: StripeProcessor
) -> None:
    server.fails(Fault.NO_RIGHT)
    with pytest.raises(Misconfigured):
        processor.create_intent(MINE, COFFEE, "create-1")
    with pytest.raises(Misconfigured) as wrong:
        StripeProcessor("sk_other", ["s"], api_base=server.base_url, pause=0).create_intent(MINE, COFFEE, "create-1")
    assert "sk_other" not in str(wrong.value)
    assert intents(server) == []


def test_a_decline_names_the_reason_of_the_issuer(server: StripeServer, processor: StripeProcessor) -> None:
    server.fails(Fault.DECLINED)
    with pytest.raises(Declined) as declined:
        processor.capture_intent(MINE, "pi_1", "capture-1")
    assert declined.value.decline_code == "fraudulent"
    assert "declined" in str(declined.value)


def test_a_refusal_names_its_reason(processor: StripeProcessor) -> None:
    with pytest.raises(Rejected) as refused:
        processor.create_intent(MINE, IntentRequest(100_000_000, "gbp"), "create-1")
    assert refused.value.reason == "amount_too_large"
    processor.create_intent(MINE, COFFEE, "create-2")
    with pytest.raises(KeyReused):
        processor.create_intent(MINE, IntentRequest(501, "gbp"), "create-2")


def test_a_log_line_says_what_stripe_said_and_nothing_of_the_payment(
    server: StripeServer, processor: StripeProcessor, log_lines: list[EventDict]
) -> None:
    with pytest.raises(Rejected):
        processor.create_intent(MINE, IntentRequest(1, "gbp", "Jane’s coffee"), "create-1")
    [line] = [line for line in log_lines if line["event"] == "stripe_refused"]
    assert (line["status"], line["code"], line["stripe_request"]) == (400, "amount_too_small", "req_fake")
    assert "Jane" not in str(log_lines)


def test_the_sdk_logs_no_answer_which_holds_secrets(
    server: StripeServer, processor: StripeProcessor, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    location = processor.create_location(MINE, "Stall", Address(country="GB"))
    secrets = [processor.create_connection_token(MINE, location)]
    secrets.append(processor.create_intent(MINE, COFFEE, "create-1").client_secret or "")
    assert all(secret and secret not in caplog.text for secret in (*secrets, SECRET_KEY))


# No answer


@pytest.mark.parametrize("fault", NOT_ANSWERED)
def test_a_request_without_an_answer_is_repeated_with_its_key_and_makes_one_intent(
    server: StripeServer, processor: StripeProcessor, fault: Fault
) -> None:
    server.fails(fault)
    replayed = fault in (Fault.SERVER_ERROR, Fault.SERVER_ERROR_AFTER)
    if replayed:  # Stripe keeps such an answer for the key.
        with pytest.raises(OutcomeUnknown):
            processor.create_intent(MINE, COFFEE, "create-1")
    else:
        assert processor.create_intent(MINE, COFFEE, "create-1").id == intents(server)[0]
    assert [sent.key for sent in server.received] == ["create-1", "create-1"]
    assert len(intents(server)) == (0 if fault is Fault.SERVER_ERROR else 1)


@pytest.mark.parametrize("fault", NOT_ANSWERED)
def test_a_till_gives_up_after_the_second_try(server: StripeServer, processor: StripeProcessor, fault: Fault) -> None:
    server.fails(fault, fault)
    with pytest.raises(OutcomeUnknown):
        processor.create_intent(MINE, COFFEE, "create-1")
    assert len(server.received) == 2
    assert len(intents(server)) <= 1


def test_an_answer_with_values_of_other_types_says_nothing(server: StripeServer, processor: StripeProcessor) -> None:
    intent = paid(server, processor)
    odd = Fault.ODD_ANSWER_AFTER
    for call in (
        lambda: processor.retrieve_intent(MINE, intent.id),
        lambda: processor.refund(MINE, intent.id, 100, "refund-1"),
        lambda: processor.create_location(MINE, "Fair", Address(country="GB")),
        lambda: list(processor.list_intents(MINE, server.api.now() - HOUR, server.api.now() + HOUR)),
    ):
        server.fails(odd)
        with pytest.raises(OutcomeUnknown, match="cannot be read"):
            call()


def test_a_refusal_with_values_of_other_types_says_nothing(server: StripeServer, processor: StripeProcessor) -> None:
    """The SDK itself cannot read it."""
    server.fails(Fault.ODD_ANSWER_AFTER, Fault.ODD_ANSWER_AFTER)
    with pytest.raises(OutcomeUnknown, match="cannot be read"):
        processor.retrieve_intent(MINE, "pi_of_nobody")


@pytest.mark.parametrize("fault", [Fault.BUSY, Fault.IN_USE, Fault.NO_RIGHT])
def test_a_refusal_after_no_answer_does_not_mean_that_nothing_was_done(
    server: StripeServer, processor: StripeProcessor, fault: Fault
) -> None:
    server.fails(Fault.TIMEOUT_AFTER, fault)
    with pytest.raises(OutcomeUnknown):
        processor.create_intent(MINE, COFFEE, "create-1")
    assert len(intents(server)) == 1


def test_a_key_in_use_belongs_to_a_request_that_may_be_done(server: StripeServer, processor: StripeProcessor) -> None:
    server.fails(Fault.IN_USE)
    assert processor.create_intent(MINE, COFFEE, "create-1").id
    server.fails(Fault.IN_USE, Fault.IN_USE)
    with pytest.raises(OutcomeUnknown):
        processor.create_intent(MINE, COFFEE, "create-2")


def test_a_request_that_is_still_under_way_leaves_its_outcome_unknown(
    server: StripeServer, processor: StripeProcessor
) -> None:
    intent = paid(server, processor)
    server.fails(Fault.STUCK)
    with pytest.raises(OutcomeUnknown):
        processor.refund(MINE, intent.id, 200, "refund-1")
    assert processor.retrieve_intent(MINE, intent.id).refunded == 200


def test_a_refund_whose_answer_was_lost_is_made_once(server: StripeServer, processor: StripeProcessor) -> None:
    intent = paid(server, processor)
    server.fails(Fault.RESET_AFTER)
    assert processor.refund(MINE, intent.id, 200, "refund-1").amount == 200
    assert processor.retrieve_intent(MINE, intent.id).refunded == 200


def test_a_location_whose_answer_was_lost_is_made_once(server: StripeServer, processor: StripeProcessor) -> None:
    server.fails(Fault.RESET_AFTER)
    location = processor.create_location(MINE, "Stall", Address(country="GB"))
    assert list(server.api.ledgers["acct_mine"].locations) == [location]


def test_where_nobody_listens_the_outcome_is_unknown(processor: StripeProcessor) -> None:
    nowhere = StripeProcessor(SECRET_KEY, ["s"], api_base="http://127.0.0.1:1", pause=0)
    with pytest.raises(OutcomeUnknown):
        nowhere.retrieve_intent(MINE, "pi_1")


def test_after_a_day_a_key_is_forgotten(server: StripeServer, processor: StripeProcessor, clock: StoppedClock) -> None:
    processor.create_intent(MINE, COFFEE, "create-1")
    clock.move(hours=23)
    processor.create_intent(MINE, COFFEE, "create-1")
    assert len(intents(server)) == 1
    clock.move(hours=1)
    processor.create_intent(MINE, COFFEE, "create-1")
    assert len(intents(server)) == 2


# States


def test_a_refused_change_shows_the_intent_as_it_is_now_also_when_the_refusal_is_replayed(
    server: StripeServer, processor: StripeProcessor
) -> None:
    intent = processor.create_intent(MINE, COFFEE, "create-1")
    with pytest.raises(InvalidState):
        processor.capture_intent(MINE, intent.id, "capture-1")
    server.tap("acct_mine", intent.id)
    with pytest.raises(InvalidState) as replayed:
        processor.capture_intent(MINE, intent.id, "capture-1")
    assert replayed.value.intent.status is IntentStatus.SUCCEEDED


def test_a_refused_change_shows_what_stripe_said_where_it_cannot_be_read_again(
    server: StripeServer, processor: StripeProcessor
) -> None:
    intent = paid(server, processor)
    server.fails(None, Fault.BUSY)
    with pytest.raises(InvalidState) as refused:
        processor.cancel_intent(MINE, intent.id, None, "cancel-1")
    assert refused.value.intent.status is IntentStatus.SUCCEEDED


# Lists


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5])
def test_a_list_is_read_to_its_end(server: StripeServer, processor: StripeProcessor, count: int) -> None:
    made = {processor.create_intent(MINE, COFFEE, f"create-{number}").id for number in range(count)}
    hour = timedelta(hours=1)
    now = server.api.now()
    listed = [intent.id for intent in processor.list_intents(MINE, now - hour, now + hour)]
    assert set(listed) == made
    assert len(listed) == count


def test_a_window_with_parts_of_seconds_has_what_was_made_within(
    server: StripeServer, processor: StripeProcessor
) -> None:
    created = processor.create_intent(MINE, COFFEE, "create-1").created
    part = timedelta(milliseconds=300)
    assert list(processor.list_intents(MINE, created - part, created + part))
    assert not list(processor.list_intents(MINE, created + part, created + 3 * part))


def test_a_list_that_breaks_off_says_so(server: StripeServer, processor: StripeProcessor) -> None:
    for number in range(3):
        processor.create_intent(MINE, COFFEE, f"create-{number}")
    now, hour = server.api.now(), timedelta(hours=1)
    server.fails(None, Fault.GATEWAY_PAGE, Fault.GATEWAY_PAGE)
    with pytest.raises(OutcomeUnknown):
        list(processor.list_intents(MINE, now - hour, now + hour))


# Smart readers


@pytest.fixture
def reader_id(server: StripeServer) -> str:
    return server.api.ledgers["acct_mine"].add_reader("tml_1")


def test_a_reader_is_given_a_payment_of_its_account(
    server: StripeServer, processor: StripeProcessor, reader_id: str
) -> None:
    intent = processor.create_intent(MINE, COFFEE, "create-1")
    processor.process_intent(MINE, reader_id, intent.id, "process-1")
    sent = server.received[-1]
    assert (sent.method, sent.path) == ("POST", f"/v1/terminal/readers/{reader_id}/process_payment_intent")
    assert (sent.account, sent.key, sent.sent) == ("acct_mine", "process-1", {"payment_intent": intent.id})


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4])
def test_the_readers_of_a_location_are_read_to_the_last_page_though_pages_hold_those_of_phones(
    server: StripeServer, processor: StripeProcessor, count: int
) -> None:
    ledger = server.api.ledgers["acct_mine"]
    ledger.locations["tml_1"] = {"id": "tml_1"}
    smart = [ledger.add_reader("tml_1") for _ in range(count)]
    for _ in range(3):
        ledger.add_reader("tml_1", status=None)
    assert [reader.id for reader in processor.list_readers(MINE, "tml_1")] == smart[::-1]


def test_the_readers_of_an_unknown_location_are_a_mistake_of_the_set_up(processor: StripeProcessor) -> None:
    with pytest.raises(Misconfigured):
        processor.list_readers(MINE, "tml_unknown")


def test_a_reader_that_was_removed_is_not_found(
    server: StripeServer, processor: StripeProcessor, reader_id: str
) -> None:
    server.api.ledgers["acct_mine"].readers[reader_id] |= {"deleted": True}
    with pytest.raises(ReaderNotFound):
        processor.retrieve_reader(MINE, reader_id)


def test_a_reader_that_did_not_answer_stripe_in_time_may_have_taken_the_payment(
    server: StripeServer, processor: StripeProcessor, reader_id: str
) -> None:
    intent = processor.create_intent(MINE, COFFEE, "create-1")
    server.fails(Fault.READER_TIMEOUT, Fault.READER_TIMEOUT)
    with pytest.raises(OutcomeUnknown):
        processor.process_intent(MINE, reader_id, intent.id, "process-1")


def test_a_payment_that_waits_for_no_card_and_cannot_be_read_is_not_called_paid(
    server: StripeServer, processor: StripeProcessor, reader_id: str
) -> None:
    intent = paid(server, processor)
    server.fails(None, Fault.GATEWAY_PAGE, Fault.GATEWAY_PAGE)
    with pytest.raises(OutcomeUnknown):
        processor.process_intent(MINE, reader_id, intent.id, "process-1")


@pytest.mark.parametrize(
    "action",
    [
        {"type": "process_payment_intent", "status": "thinking"},
        {"type": "process_payment_intent", "status": "failed", "process_payment_intent": "pi_1"},
        {"type": "process_payment_intent", "status": "failed", "failure_message": ["no"]},
        {"status": "failed"},
        [],
    ],
)
def test_an_answer_about_a_reader_with_values_of_other_types_says_nothing(
    server: StripeServer, processor: StripeProcessor, reader_id: str, action: object
) -> None:
    server.api.ledgers["acct_mine"].readers[reader_id]["action"] = action
    with pytest.raises(OutcomeUnknown):
        processor.retrieve_reader(MINE, reader_id)


def test_a_long_reason_of_a_failure_is_cut(server: StripeServer, processor: StripeProcessor, reader_id: str) -> None:
    failed = {"type": "process_payment_intent", "status": "failed", "failure_message": "no " * 200}
    server.api.ledgers["acct_mine"].readers[reader_id]["action"] = failed
    action = processor.retrieve_reader(MINE, reader_id).action
    assert action is not None
    assert action.failure_message == ("no " * 200)[:255]


# Events


def test_the_secret_of_any_endpoint_is_believed(server: StripeServer, processor: StripeProcessor) -> None:
    """The account's own endpoint and the one of connected accounts have each their own."""
    processor.create_intent(MINE, COFFEE, "create-1")
    [event] = server.api.events()
    shop = StripeProcessor(SECRET_KEY, ["own endpoint", "connect endpoint"])
    for secret in ("own endpoint", "connect endpoint"):
        signed = server.signed(event, secret)
        assert shop.parse_event(signed.raw, signed.headers, server.api.now()).account_id == "acct_mine"


@pytest.mark.parametrize("livemode", [True, False])
def test_an_event_says_whether_it_is_about_real_money(
    server: StripeServer, processor: StripeProcessor, livemode: bool
) -> None:
    processor.create_intent(MINE, COFFEE, "create-1")
    [event] = server.api.events()
    signed = server.signed(event | {"livemode": livemode})
    assert processor.parse_event(signed.raw, signed.headers, server.api.now()).live is livemode


def test_a_refund_that_fails_days_later_is_news(server: StripeServer, processor: StripeProcessor) -> None:
    intent = paid(server, processor, "refund_fail")
    refund = processor.refund(MINE, intent.id, None, "refund-1")
    assert refund.status is RefundStatus.SUCCEEDED
    server.api.ledgers["acct_mine"].fail_refunds()
    assert processor.retrieve_refund(MINE, refund.id).status is RefundStatus.FAILED
    assert processor.retrieve_intent(MINE, intent.id).refunded == 0
    signed = server.signed(server.api.events()[-1])
    event = processor.parse_event(signed.raw, signed.headers, server.api.now())
    assert (event.type, event.intent_id) == ("charge.refund.updated", intent.id)
    assert event.refund is not None
    assert event.refund.status is RefundStatus.FAILED


def test_what_is_read_of_an_event_names_no_cardholder(server: StripeServer, processor: StripeProcessor) -> None:
    paid(server, processor)
    for event in server.api.events():
        signed = server.signed(event)
        assert "DOE" not in repr(processor.parse_event(signed.raw, signed.headers, server.api.now()))


def test_a_dispute_names_the_payment_that_it_is_about(server: StripeServer, processor: StripeProcessor) -> None:
    paid(server, processor)
    event = server.api.events()[-1] | {
        "type": "charge.dispute.created",
        "data": {"object": {"id": "dp_1", "object": "dispute", "payment_intent": "pi_1"}},
    }
    signed = server.signed(event)
    parsed = processor.parse_event(signed.raw, signed.headers, server.api.now())
    assert (parsed.intent_id, parsed.intent, parsed.refund) == ("pi_1", None, None)


def test_an_event_with_a_status_of_a_later_version_is_read_without_its_intent(
    server: StripeServer, processor: StripeProcessor
) -> None:
    processor.create_intent(MINE, COFFEE, "create-1")
    [event] = server.api.events()
    event["data"]["object"]["status"] = "requires_a_smile"
    signed = server.signed(event)
    parsed = processor.parse_event(signed.raw, signed.headers, server.api.now())
    assert parsed.intent_id == event["data"]["object"]["id"]
    assert parsed.intent is None


@pytest.mark.parametrize("body", ["[]", "{}", "null", "1", '{"id": "evt_1"}', '{"data": {"object": []}}', "nonsense"])
def test_what_is_signed_and_no_event_is_refused(server: StripeServer, processor: StripeProcessor, body: str) -> None:
    from app.domain.pos.processor import BadSignature

    stamp = int(server.api.now().timestamp())
    header = stripe.WebhookSignature.generate_signature_header(body, WEBHOOK_SECRET, stamp)
    with pytest.raises(BadSignature):
        processor.parse_event(body.encode(), {"Stripe-Signature": header}, server.api.now())


def all_calls(processor: StripeProcessor, ref: AccountRef, key: str) -> list[Callable[[], object]]:
    def listed() -> list[Intent]:
        a_while_ago = StoppedClock().now()
        return list(processor.list_intents(ref, a_while_ago, a_while_ago))

    return [
        lambda: processor.create_location(ref, "Stall", Address(country="GB")),
        lambda: processor.create_connection_token(ref, "tml_1"),
        lambda: processor.create_intent(ref, COFFEE, f"create-{key}"),
        lambda: processor.retrieve_intent(ref, "pi_1"),
        lambda: processor.capture_intent(ref, "pi_1", f"capture-{key}"),
        lambda: processor.cancel_intent(ref, "pi_1", None, f"cancel-{key}"),
        listed,
        lambda: processor.refund(ref, "pi_1", None, f"refund-{key}"),
        lambda: processor.retrieve_refund(ref, "re_1"),
        lambda: processor.list_readers(ref, "tml_1"),
        lambda: processor.retrieve_reader(ref, "tmr_1"),
        lambda: processor.process_intent(ref, "tmr_1", "pi_1", f"process-{key}"),
        lambda: processor.cancel_reader_action(ref, "tmr_1"),
    ]
