"""Fields of a payment processor's JSON, each of the type that its documentation gives: another type raises ValueError,
so that nothing of such an event or answer is used."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from app.domain.shared import strict_json

Sent = Mapping[str, Any]
MOST_MARKS = 50_000  # Brackets and commas; an event has some hundred.
LONGEST_TEXT = 255  # Characters, as the columns of ids have.
LARGEST_WHOLE = 2**63 - 1
ABOUT_MONEY = ("payment_intent", "charge", "refund", "dispute")
AMOUNTS = ("amount", "amount_captured", "amount_received", "amount_refunded")
LAST_SECOND = 253_402_300_799  # Of the year 9999, the last one that a datetime has.


def read_object(raw: bytes) -> Sent:
    """Return the object in a body. Raises ValueError."""
    return _object("body", strict_json.loads(raw, MOST_MARKS))


def event_object(event: Sent) -> tuple[str, Sent]:
    """Return the type of the object that an event is about, and the object. Raises ValueError; also for fields that
    are not used here, where the object is about money."""
    about = part(part(event, "data"), "object")
    kind = text(about, "object")
    texts(about, "metadata")
    if kind in ABOUT_MONEY:
        text(about, "id")
        for name in AMOUNTS:
            optional_whole(about, name)
    return kind, about


def text(sent: Sent, name: str) -> str:
    value = sent.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_TEXT:
        raise ValueError(f"{name} is no text of 1 to {LONGEST_TEXT} characters.")
    return value


def optional_text(sent: Sent, name: str) -> str:
    """Return a text, empty where the field is missing, null or empty."""
    return text(sent, name) if sent.get(name) not in (None, "") else ""


def whole(sent: Sent, name: str, most: int = LARGEST_WHOLE) -> int:
    """Return a whole number from 0 to `most`."""
    value = sent.get(name)
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"{name} is no whole number from 0 to {most}.")
    return value


def optional_whole(sent: Sent, name: str) -> int:
    """Return a whole number, 0 where the field is missing or null."""
    return 0 if sent.get(name) is None else whole(sent, name)


def flag(sent: Sent, name: str) -> bool:
    value = sent.get(name)
    if not isinstance(value, bool):
        raise ValueError(f"{name} is neither true nor false.")
    return value


def moment(sent: Sent, name: str) -> datetime:
    """Return a time that is sent as seconds since 1970."""
    return datetime.fromtimestamp(whole(sent, name, LAST_SECOND), UTC)


def part(sent: Sent, name: str) -> Sent:
    return _object(name, sent.get(name))


def optional_part(sent: Sent, name: str) -> Sent:
    """Return an object, empty where the field is missing or null."""
    return {} if sent.get(name) is None else part(sent, name)


def parts(sent: Sent, name: str) -> list[Sent]:
    """Return a list of objects."""
    value = sent.get(name)
    if not isinstance(value, list):
        raise ValueError(f"{name} is no list.")
    return [_object(name, item) for item in value]


def texts(sent: Sent, name: str) -> dict[str, str]:
    """Return an object whose values are texts, empty where the field is missing or null."""
    found = dict(optional_part(sent, name))
    if not all(isinstance(value, str) for value in found.values()):
        raise ValueError(f"{name} holds something other than texts.")
    return found


def reference(sent: Sent, name: str) -> str | None:
    """Return the id of a referenced object, which is sent as its id or expanded; None where the field is missing or
    null."""
    value = sent.get(name)
    if value is None:
        return None
    return text(value, "id") if isinstance(value, Mapping) else text(sent, name)


def _object(name: str, value: object) -> Sent:
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} is no object.")
    return value
