"""Events that are signed and malformed: both adapters refuse them, whatever is wrong and wherever it is."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.adapters.simulator import Simulator
from app.adapters.stripe import StripeProcessor
from app.adapters.webhook import sign
from app.domain.pos.processor import BadSignature, MalformedEvent, ProcessorEvent
from tests.fakes.clock import StoppedClock

NOW = datetime(2026, 11, 20, 21, 4, tzinfo=UTC)
CREATED = int(NOW.timestamp())
SECRET = "whsec_test"
Parse = Callable[[bytes], ProcessorEvent]
Path = tuple[str, ...]

SIMULATOR_INTENT = {
    "id": "pi_sim_1",
    "object": "payment_intent",
    "amount": 500,
    "amount_received": 500,
    "currency": "gbp",
    "status": "succeeded",
    "created": CREATED,
    "livemode": False,
    "latest_charge": {
        "id": "ch_sim_1",
        "amount_refunded": 0,
        "payment_method_details": {
            "card_present": {
                "brand": "visa",
                "last4": "4242",
                "funding": "credit",
                "receipt": {"account_type": "credit"},
            }
        },
    },
    "last_payment_error": {"code": "card_declined", "decline_code": "lost_card", "charge": "ch_sim_0"},
    "metadata": {"transactionId": "t-1"},
}
STRIPE_INTENT = {
    "id": "pi_1",
    "object": "payment_intent",
    "amount": 500,
    "amount_received": 500,
    "currency": "gbp",
    "status": "succeeded",
    "created": CREATED,
    "latest_charge": {
        "id": "ch_1",
        "status": "succeeded",
        "amount_refunded": 0,
        "payment_method_details": {
            "card_present": {
                "brand": "visa",
                "last4": "4242",
                "receipt": {"authorization_code": "A1"},
                "wallet": {"type": "apple_pay"},
            }
        },
    },
    "last_payment_error": {"code": "card_declined", "decline_code": "lost_card", "charge": "ch_0"},
    "metadata": {"transactionId": "t-1"},
}
REFUND = {
    "id": "re_1",
    "object": "refund",
    "payment_intent": "pi_1",
    "amount": 200,
    "status": "succeeded",
    "metadata": {"refundId": "r-1"},
}
CHARGE = {
    "id": "ch_1",
    "object": "charge",
    "payment_intent": "pi_1",
    "amount": 500,
    "amount_refunded": 200,
    "metadata": {"transactionId": "t-1"},
}
TEXT, OBJECT, WHOLE, FLAG = "a text", "an object", "a whole number", "true or false"


def event(about: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "evt_1",
        "object": "event",
        "type": "something.happened",
        "account": "acct_1",
        "created": CREATED,
        "livemode": False,
        "data": {"object": about},
    }


def by_stripe(raw: bytes) -> ProcessorEvent:
    headers = {"Stripe-Signature": sign(SECRET.encode(), CREATED, raw)}
    return StripeProcessor("sk_test_x", (SECRET,)).parse_event(raw, headers, NOW)


def by_simulator(raw: bytes) -> ProcessorEvent:
    headers = {"Stripe-Signature": sign(SECRET.encode(), CREATED, raw)}
    return Simulator(StoppedClock(), SECRET.encode()).parse_event(raw, headers, NOW)


CASES: list[tuple[Parse, dict[str, Any]]] = [
    (parse, event(about))
    for parse, intent in ((by_stripe, STRIPE_INTENT), (by_simulator, SIMULATOR_INTENT))
    for about in (intent, REFUND, CHARGE)
]
WRONG: dict[str, list[Any]] = {
    TEXT: [1, 1.5, True, [], ["x"], {"a": 1}, "x" * 300, "\ud800", "\0"],
    OBJECT: [1, True, [], [1], "x"],
    WHOLE: ["500", 1.5, True, [], [500], {}, -1, 10**30],
    FLAG: [0, "false", [], {}, None],
}


def places(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every place in an event, with the type that belongs there; `object` and `livemode` of what is in it are not
    read."""
    if isinstance(value, dict):
        if path:
            yield path, OBJECT
        for name, inner in value.items():
            yield from places(inner, (*path, name))
    elif path not in {("object",), ("data", "object", "livemode")}:
        yield path, FLAG if isinstance(value, bool) else WHOLE if isinstance(value, int) else TEXT


def replaced(sent: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(sent)
    holder = changed
    for name in path[:-1]:
        holder = holder[name]
    holder[path[-1]] = value
    return changed


def wrong_for(path: Path, kind: str) -> list[Any]:
    """The values that are wrong at a place; a long text in metadata is not, and a charge is its id or an object."""
    is_free = bool({"metadata", "emv"} & set(path))
    values = [value for value in WRONG[kind] if not (is_free and isinstance(value, str) and len(value) > 9)]
    is_reference = path[-1] == "latest_charge" or (path[-1], kind) == ("charge", TEXT)
    return [value for value in values if value != "x"] if is_reference else values


@pytest.mark.parametrize(("parse", "sent"), CASES)
def test_the_events_themselves_are_read(parse: Parse, sent: dict[str, Any]) -> None:
    read = parse(json.dumps(sent).encode())
    assert (read.id, read.account_id, read.created, read.live) == ("evt_1", "acct_1", NOW, False)
    assert read.intent_id in ("pi_1", "pi_sim_1")
    kind = sent["data"]["object"]["object"]
    assert (read.intent is not None, read.refund is not None) == (kind == "payment_intent", kind == "refund")


@pytest.mark.parametrize(("parse", "sent"), CASES)
def test_a_value_of_a_wrong_type_is_refused_wherever_it_is(parse: Parse, sent: dict[str, Any]) -> None:
    for path, kind in places(sent):
        for value in wrong_for(path, kind):
            raw = json.dumps(replaced(sent, path, value)).encode()
            with pytest.raises(MalformedEvent):
                assert parse(raw) is None, (path, value)


@pytest.mark.parametrize(("parse", "sent"), CASES)
def test_deep_nesting_is_refused_before_it_is_read(parse: Parse, sent: dict[str, Any]) -> None:
    deep = "[" * 100_000
    bodies = [deep, deep + "]" * 100_000, '{"a":' * 20_000]
    bodies += [json.dumps(sent).replace('"evt_1"', deep + "1" + "]" * 100_000), '{"id": NaN}', '{"id": 1, "id": 2}']
    for body in bodies:
        with pytest.raises(MalformedEvent):
            parse(body.encode())
    for raw in (b"\xff\xfe", b"\xed\xa0\x80", json.dumps(sent).encode("utf-16"), b""):
        with pytest.raises(MalformedEvent):
            parse(raw)


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(CASES), st.data())
def test_a_mutated_event_is_read_or_refused_and_nothing_else(case: tuple[Parse, dict[str, Any]], data: Any) -> None:
    parse, sent = case
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([path for path, _ in places(sent)]))
        sent = replaced(sent, path, data.draw(ANY_JSON))
    try:
        read = parse(json.dumps(sent).encode())
    except BadSignature:
        return
    assert isinstance(read.id, str)
    assert isinstance(read.live, bool)
    assert read.intent_id is None or isinstance(read.intent_id, str)


@given(st.sampled_from(CASES), st.binary(max_size=4), st.integers(0, 2_000), st.integers(0, 20))
def test_an_event_with_other_bytes_in_it_is_read_or_refused(
    case: tuple[Parse, dict[str, Any]], noise: bytes, at: int, cut: int
) -> None:
    parse, sent = case
    raw = json.dumps(sent).encode()
    with suppress(BadSignature):
        assert parse(raw[:at] + noise + raw[at + cut :]).id
