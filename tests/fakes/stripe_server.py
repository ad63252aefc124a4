"""A local server that answers a till as Stripe does, signs and delivers events, and fails in the ways that Stripe and
networks do."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

import stripe

from tests.fakes.clock import StoppedClock
from tests.fakes.stripe_api import SECRET_KEY, Answer, Received, StripeApi
from tests.fakes.stripe_ledger import Object, Refusal

__all__ = ["SECRET_KEY", "WEBHOOK_SECRET", "Fault", "Received", "SignedEvent", "StripeServer", "stripe_server"]

WEBHOOK_SECRET = "_".join(("whsec", "till"))
GATEWAY_PAGE = b"<html><body><h1>502 Bad Gateway</h1></body></html>"


class Fault(Enum):
    """How a request fails. Those named AFTER have done what was requested."""

    BUSY = auto()  # 429
    LOCKED = auto()  # 429 with the code lock_timeout
    IN_USE = auto()  # 409: another request with the key is under way
    NO_RIGHT = auto()  # 403: a restricted key lacks the permission
    DECLINED = auto()  # 402
    SERVER_ERROR = auto()  # 500, replayed for its key
    SERVER_ERROR_AFTER = auto()
    GATEWAY_PAGE = auto()  # 502 with HTML
    HALF_ANSWER_AFTER = auto()  # 200 with half of the JSON
    DEEP_ANSWER_AFTER = auto()  # 200 with JSON that is nested deeper than readers go
    ODD_ANSWER_AFTER = auto()  # 200 with a list for every value
    RESET = auto()  # The connection ends without an answer
    RESET_AFTER = auto()
    TIMEOUT = auto()  # No answer
    TIMEOUT_AFTER = auto()
    READER_TIMEOUT = auto()  # 400: the reader did not answer Stripe in time
    STUCK = auto()  # No answer, and the key stays in use


REFUSALS: Mapping[Fault, Refusal] = {
    Fault.BUSY: Refusal(429, "Too many requests", "rate_limit"),
    Fault.LOCKED: Refusal(429, "This object cannot be accessed right now", "lock_timeout"),
    Fault.IN_USE: Refusal(409, "Another request uses this key", "idempotency_key_in_use"),
    Fault.NO_RIGHT: Refusal(403, "The key does not have the required permissions", "more_permissions_required"),
    Fault.READER_TIMEOUT: Refusal(400, "The reader did not respond in time.", "terminal_reader_timeout"),
    Fault.DECLINED: Refusal(
        402, "Your card was declined.", "card_declined", type="card_error", decline_code="fraudulent"
    ),
}
SERVER_ERROR: Answer = 500, {"error": {"type": "api_error", "message": "Something went wrong"}}
SILENT = {Fault.TIMEOUT, Fault.TIMEOUT_AFTER, Fault.STUCK}
DROPPED = {Fault.RESET, Fault.RESET_AFTER}
NOTHING_DONE = {Fault.RESET, Fault.TIMEOUT, Fault.GATEWAY_PAGE}


@dataclass(frozen=True, slots=True)
class SignedEvent:
    raw: bytes
    headers: Mapping[str, str]


class StripeServer(ThreadingHTTPServer):
    """`received` are all requests so far. `retry_after` goes with refusals that have it."""

    daemon_threads = True

    def __init__(self, now: Callable[[], datetime], accounts: tuple[str, ...]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.api = StripeApi(now, accounts)
        self.received: list[Received] = []
        self.retry_after = ""
        self.closing = threading.Event()
        self._lock = threading.RLock()
        self._faults: list[Fault | None] = []
        self._delivered: set[str] = set()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def fails(self, *faults: Fault | None) -> None:
        """How the next requests fail, in their order; None for one that does not."""
        self._faults.extend(faults)

    def fails_no_more(self) -> None:
        with self._lock:
            self._faults.clear()

    def tap(self, account: str, intent_id: str, card: str = "visa") -> None:
        with self._lock:
            self.api.ledgers[account].tap(intent_id, card)

    def present(self, account: str, reader_id: str, card: str = "visa") -> None:
        with self._lock:
            self.api.ledgers[account].present(reader_id, card)

    def signed(self, event: Object, secret: str = WEBHOOK_SECRET) -> SignedEvent:
        raw = json.dumps(event, indent=2)
        header = stripe.WebhookSignature.generate_signature_header(raw, secret, self.api.seconds())
        return SignedEvent(raw.encode(), {"Stripe-Signature": header, "Content-Type": "application/json"})

    def deliver(self, post: Callable[[bytes, Mapping[str, str]], int]) -> list[int]:
        """Post what was not delivered yet and return the statuses; what is not answered with 2xx comes again."""
        statuses = []
        for event in self.api.events():
            if event["id"] not in self._delivered:
                signed = self.signed(event)
                statuses.append(post(signed.raw, signed.headers))
                if 200 <= statuses[-1] < 300:
                    self._delivered.add(event["id"])
        return statuses

    def next_fault(self, received: Received) -> Fault | None:
        with self._lock:
            self.received.append(received)
            return self._faults.pop(0) if self._faults else None

    def answer(self, received: Received, fault: Fault | None) -> Answer:
        """What was done stays done, whatever the client hears of it."""
        with self._lock:
            try:
                if fault in REFUSALS:
                    raise REFUSALS[fault]
                known = self.api.begin(received)
            except Refusal as refusal:
                return refusal.status, {"error": refusal.error}
            return known or self._first(received, fault)

    def _first(self, received: Received, fault: Fault | None) -> Answer:
        try:
            answer: Answer = SERVER_ERROR
            if fault is not Fault.SERVER_ERROR:
                answer = 200, self.api.do(received)
        except Refusal as refusal:
            self.api.refused(received, refusal)
            return refusal.status, {"error": refusal.error}
        answer = SERVER_ERROR if fault is Fault.SERVER_ERROR_AFTER else answer
        if fault is not Fault.STUCK:
            self.api.keep(received, answer)
        return answer


class _Handler(BaseHTTPRequestHandler):
    server: StripeServer

    def do_POST(self) -> None:
        self._handle(self.rfile.read(int(self.headers["Content-Length"])).decode())

    def do_GET(self) -> None:
        self._handle(urlsplit(self.path).query)

    def _handle(self, form: str) -> None:
        headers = dict(self.headers)
        path = unquote(urlsplit(self.path).path)
        account, key = headers.get("Stripe-Account", ""), headers.get("Idempotency-Key")
        received = Received(self.command, path, account, key, form, headers)
        fault = self.server.next_fault(received)
        answer = None if fault in NOTHING_DONE else self.server.answer(received, fault)
        if fault in SILENT:
            self.server.closing.wait(30)
        elif fault in DROPPED:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif answer is None:
            self._send(502, GATEWAY_PAGE, "text/html")
        else:
            self._send(answer[0], _body(answer, fault), "application/json")

    def _send(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Request-Id", "req_fake")
        if self.server.retry_after and status == 429:
            self.send_header("Retry-After", self.server.retry_after)
        self.end_headers()
        with suppress(OSError):  # Who requested it may have gone.
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


def _body(answer: Answer, fault: Fault | None) -> bytes:
    if fault is Fault.DEEP_ANSWER_AFTER:
        return b'{"id": ' + b"[" * 2_000 + b"]" * 2_000 + b"}"
    if fault is Fault.ODD_ANSWER_AFTER:
        return json.dumps({name: [value] for name, value in answer[1].items()}).encode()
    body = json.dumps(answer[1]).encode()
    return body[: len(body) // 2] if fault is Fault.HALF_ANSWER_AFTER else body


@contextmanager
def stripe_server(
    now: Callable[[], datetime] | None = None, accounts: tuple[str, ...] = ("acct_mine", "acct_other")
) -> Iterator[StripeServer]:
    server = StripeServer(now or StoppedClock().now, accounts)
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
