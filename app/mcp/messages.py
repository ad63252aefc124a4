"""Messages of JSON-RPC 2.0 as MCP narrows them: one object each, an id that is a text or a whole number, parameters by
name. They are checked before the SDK reads them: it takes a request with any other id for a notification, and answers
nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.domain.shared import strict_json

LARGEST_BODY = 8 * 1024 * 1024  # Bytes: a taxonomy of 2,000 levels with long lists of values.
MOST_MARKS = 400_000  # Brackets and commas of one message; each may take 200 bytes to keep.
LONGEST_ID = 1_000  # Characters.
PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32602, -32603  # Section 5.1.
MessageId = int | str


@dataclass(frozen=True, slots=True)
class InvalidMessage(Exception):
    """What was sent is no message; `number` is JSON-RPC's, `code` a stable word, `id` None where there is none."""

    number: int
    code: str
    message: str
    id: MessageId | None = None


def check_message(raw: bytes) -> None:
    """Check that the bytes are one message, in strict JSON; readers differ in whether they take NaN, doubled names,
    lone surrogates and endless nesting. Raises InvalidMessage."""
    try:
        message = strict_json.loads(raw, MOST_MARKS)
    except ValueError as error:
        raise InvalidMessage(PARSE_ERROR, "malformed_json", f"The body is not valid JSON: {error}") from None
    if not isinstance(message, dict):
        raise _invalid("A message is one JSON object; several are sent one by one.")
    if "id" in message and not _is_id(message["id"]) and not _is_error_without_id(message):
        raise _invalid(f"The id of a message is a text of at most {LONGEST_ID:,} characters or a whole number.")
    _check_members(message, message.get("id"))


def _check_members(message: dict[str, Any], id: MessageId | None) -> None:
    if message.get("jsonrpc") != "2.0":
        raise _invalid("A message has “jsonrpc”: “2.0”.", id)
    if "method" not in message and ("result" in message or "error" in message):
        return  # The answer of a client to a request that it was never sent.
    if not isinstance(message.get("method"), str):
        raise _invalid("The “method” of a message is a text.", id)
    if not isinstance(message.get("params"), dict | None):
        raise InvalidMessage(INVALID_PARAMS, "invalid_params", "The “params” of a message are an object.", id)


def _is_id(value: object) -> bool:
    return type(value) is int or (isinstance(value, str) and len(value) <= LONGEST_ID)


def _is_error_without_id(message: dict[str, Any]) -> bool:
    return message["id"] is None and "error" in message and "method" not in message


def _invalid(message: str, id: MessageId | None = None) -> InvalidMessage:
    return InvalidMessage(INVALID_REQUEST, "invalid_request", message, id)
