"""What is a message of JSON-RPC 2.0, and what is none, whatever is sent."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import JSONRPCNotification, JSONRPCRequest, jsonrpc_message_adapter

from app.mcp.server import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, InvalidMessage, check_message

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | ANY_JSON,
        "id": st.integers() | st.text(max_size=9) | ANY_JSON,
        "method": st.sampled_from(["tools/list", "ping"]) | ANY_JSON,
        "params": st.just({}) | ANY_JSON,
        "more": ANY_JSON,
    },
)


@given(MESSAGES)
def test_what_is_let_through_is_what_the_sdk_reads_as_it_was_meant(message: dict[str, Any]) -> None:
    """A message with an id is a request to the SDK, and one without is a notification."""
    raw = json.dumps(message).encode()
    try:
        check_message(raw)
    except InvalidMessage as invalid:
        assert invalid.number in (PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS)
        assert invalid.id is None or (invalid.id == message["id"] and type(invalid.id) is type(message["id"]))
    else:
        read = jsonrpc_message_adapter.validate_json(raw, by_name=False)
        assert type(read) is (JSONRPCRequest if "id" in message else JSONRPCNotification)
        assert "id" not in message or (read.id == message["id"] and type(read.id) is type(message["id"]))


@given(st.binary(max_size=200) | ANY_JSON.map(json.dumps).map(str.encode))
def test_any_bytes_are_a_message_or_refused(raw: bytes) -> None:
    with suppress(InvalidMessage):
        check_message(raw)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"jsonrpc":"2.0","id":1,"result":{}}',
        b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}',
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
        b'{"jsonrpc":"2.0","id":"a","method":"ping","params":null}',
    ],
)
def test_answers_and_notifications_are_messages(raw: bytes) -> None:
    check_message(raw)
