"""What Stripe's API does with a request: checks it by the SDK's own types, does it once for its idempotency key, and
keeps a ledger for each account."""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from stripe.params import (
    PaymentIntentCancelParams,
    PaymentIntentCaptureParams,
    PaymentIntentCreateParams,
    PaymentIntentListParams,
    PaymentIntentRetrieveParams,
    RefundCreateParams,
    RefundRetrieveParams,
)
from stripe.params.terminal import (
    ConnectionTokenCreateParams,
    LocationCreateParams,
    ReaderCancelActionParams,
    ReaderListParams,
    ReaderProcessPaymentIntentParams,
    ReaderRetrieveParams,
)

from tests.fakes.stripe_ledger import Ledger, Object, Refusal
from tests.fakes.stripe_parameters import check, form

# Not written in one piece, which scanners for secrets would take for a real one.
SECRET_KEY = "_".join(("sk", "test", "till"))
VERSION = "2026-10-28.endive"
FORM = "application/x-www-form-urlencoded"
DAY = 24 * 3600
READER = r"/v1/terminal/readers/([^/]+)"
Answer = tuple[int, Object]
Act = Callable[..., Object]
ROUTES: tuple[tuple[str, str, type, Act], ...] = (
    ("POST", r"/v1/terminal/connection_tokens", ConnectionTokenCreateParams, Ledger.connection_token),
    ("POST", r"/v1/terminal/locations", LocationCreateParams, Ledger.create_location),
    ("GET", r"/v1/terminal/readers", ReaderListParams, Ledger.list_readers),
    ("GET", READER, ReaderRetrieveParams, Ledger.retrieve_reader),
    ("POST", rf"{READER}/process_payment_intent", ReaderProcessPaymentIntentParams, Ledger.process_intent),
    ("POST", rf"{READER}/cancel_action", ReaderCancelActionParams, Ledger.cancel_action),
    ("POST", r"/v1/payment_intents", PaymentIntentCreateParams, Ledger.create_intent),
    ("GET", r"/v1/payment_intents", PaymentIntentListParams, Ledger.list_intents),
    ("GET", r"/v1/payment_intents/([^/]+)", PaymentIntentRetrieveParams, Ledger.retrieve_intent),
    ("POST", r"/v1/payment_intents/([^/]+)/capture", PaymentIntentCaptureParams, Ledger.capture),
    ("POST", r"/v1/payment_intents/([^/]+)/cancel", PaymentIntentCancelParams, Ledger.cancel),
    ("POST", r"/v1/refunds", RefundCreateParams, Ledger.create_refund),
    ("GET", r"/v1/refunds/([^/]+)", RefundRetrieveParams, Ledger.retrieve_refund),
)


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it came. `account` is "" without Stripe-Account; `form` is its body, or its query."""

    method: str
    path: str
    account: str
    key: str | None
    form: str
    headers: Mapping[str, str] = field(repr=False)

    @property
    def sent(self) -> Object:
        return form(self.form)


@dataclass(slots=True)
class Entry:
    """`answer` is None while the first request with the key is under way."""

    request: tuple[str, str]
    since: int
    answer: tuple[int, dict[str, Any]] | None = None


class KeyTable:
    """Idempotency keys of one account, for 24 hours."""

    def __init__(self, seconds: Callable[[], int]) -> None:
        self._seconds = seconds
        self._entries: dict[str, Entry] = {}

    def begin(self, key: str, request: tuple[str, str]) -> tuple[int, dict[str, Any]] | None:
        """Return the answer that the key got before, or None for a key that begins now."""
        entry = self._entries.get(key)
        if entry is None or self._seconds() - entry.since >= DAY:
            self._entries[key] = Entry(request, self._seconds())
            return None
        if entry.request != request:
            raise Refusal(
                400, "Keys for idempotent requests can only be used with the same parameters.", type="idempotency_error"
            )
        if entry.answer is None:
            raise Refusal(
                409, "There is currently another in-progress request using this key.", "idempotency_key_in_use"
            )
        return entry.answer

    def keep(self, key: str, answer: tuple[int, dict[str, Any]]) -> None:
        self._entries[key].answer = answer

    def forget(self, key: str) -> None:
        del self._entries[key]


class StripeApi:
    """`now` is its clock; `accounts` are the connected ones, beside the platform's own."""

    def __init__(self, now: Callable[[], datetime], accounts: tuple[str, ...]) -> None:
        ids = itertools.count(1)
        self.now = now
        self.ledgers = {name: Ledger(name or None, ids, self.seconds) for name in ("", *accounts)}
        self._keys = {name: KeyTable(self.seconds) for name in self.ledgers}

    def seconds(self) -> int:
        return int(self.now().timestamp())

    def events(self) -> list[Object]:
        """Of all accounts, in the order in which they came to be."""
        of_all = [event for ledger in self.ledgers.values() for event in ledger.events]
        return sorted(of_all, key=lambda event: event["id"])

    def begin(self, received: Received) -> Answer | None:
        """Check the request; return what its key got before, or None for what is to be done. Raises Refusal."""
        _check_headers(received)
        if received.account not in self.ledgers:
            raise Refusal(403, f"The key does not have access to account '{received.account}'", "account_invalid")
        _, parameters, _ = _route(received)
        known = None
        if received.method == "POST":
            request = (received.path, received.form)
            known = self._keys[received.account].begin(received.key or "", request)
        try:
            check(received.sent, parameters)
        except Refusal:
            self._forget(received)
            raise
        return known

    def do(self, received: Received) -> Object:
        """Raises Refusal."""
        act, _, ids = _route(received)
        ledger, sent = self.ledgers[received.account], received.sent
        answer = copy.deepcopy(act(ledger, *ids, sent))
        _expand(answer, sent.get("expand", []), ledger)
        return answer

    def keep(self, received: Received, answer: Answer) -> None:
        if received.method == "POST":
            self._keys[received.account].keep(received.key or "", answer)

    def refused(self, received: Received, refusal: Refusal) -> None:
        if refusal.is_kept:
            self.keep(received, (refusal.status, {"error": refusal.error}))
        else:
            self._forget(received)

    def _forget(self, received: Received) -> None:
        if received.method == "POST":
            self._keys[received.account].forget(received.key or "")


def _check_headers(received: Received) -> None:
    headers = received.headers
    if headers.get("Authorization") != f"Bearer {SECRET_KEY}":
        raise Refusal(401, "Invalid API Key provided")
    if headers.get("Stripe-Version") != VERSION:
        raise Refusal(400, f"Invalid Stripe API version: {headers.get('Stripe-Version')}")
    if received.method == "POST" and not 0 < len(received.key or "") <= 255:
        raise Refusal(400, "A till sends a key of at most 255 characters with each POST")
    if received.method == "POST" and headers.get("Content-Type") != FORM:
        raise Refusal(400, f"Send {FORM}")


def _route(received: Received) -> tuple[Act, type, tuple[Any, ...]]:
    for method, pattern, parameters, act in ROUTES:
        match = re.fullmatch(pattern, received.path)
        if match and method == received.method:
            return act, parameters, match.groups()
    raise Refusal(404, f"Unrecognized request URL ({received.method}: {received.path}).")


def _expand(answer: Object, paths: list[str], ledger: Ledger) -> None:
    for path in paths:
        if path not in ("latest_charge", "data.latest_charge"):
            raise Refusal(400, f"This property cannot be expanded ({path}).", param="expand")
        for intent in answer["data"] if path.startswith("data.") else [answer]:
            if intent["latest_charge"]:
                intent["latest_charge"] = copy.deepcopy(ledger.charges[intent["latest_charge"]])
