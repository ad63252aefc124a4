"""One connection: what it waits for, whether its client keeps the lowest rate, and how it is refused."""

from __future__ import annotations

import json
import socket
import time
from datetime import UTC, datetime
from enum import IntEnum
from typing import Any

from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.utilities import Error

from app.domain.sites.throttle import network
from app.web.server.lanes import Lane, lane_of
from app.web.tokens import Signer, has_upload_permit

LARGEST_UPLOAD = 513 * 1024 * 1024  # Bytes of a shop as a file, with the rest of its form; for a permit alone.
SIGNER = "signer"  # The name under which waitress's adjustments carry the signer of permits to every request.
LARGEST_BODY = 9 * 1024 * 1024  # Bytes; every address has a lower limit of its own.
HEADER_SECONDS = 10.0
UPLOAD_SECONDS = 3_600.0  # For a permitted upload: 512 MB take that long at 1.2 Mbit/s.
REQUEST_SECONDS = 300.0  # For a request with its body as a whole: 5 MB take that long at 140 kbit/s.
LOWEST_RATE = 4_096  # Bytes per second of a body or an answer.
RATE_SECONDS = 10.0  # The span over which the rate is measured.
IDLE_SECONDS = 30.0  # Between two requests.
NEW_SECONDS = 0.25  # For a client that has only just connected to send.
CLOSING_SECONDS = 2.0  # For a refused client to stop sending, so that it reads the answer.


class Refusal(Error):
    """A refusal before the application sees a request. It says why, in the form that the address serves (problem+json
    for /v1, words that also fit into a page elsewhere), and that it closes the connection."""

    code = 503
    reason = "Service Unavailable"
    problem = "unavailable"
    retry_after: int | None = None

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.path = path

    def to_response(self, ident: str | None = None) -> tuple[str, list[tuple[str, str]], bytes]:
        headers = [("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff")]
        if self.retry_after is not None:
            headers.append(("Retry-After", str(self.retry_after)))
        if self.path.startswith("/v1/"):
            form, body = "application/problem+json", self._problem()
        else:
            form, body = "text/html; charset=utf-8", f'<p role="alert">{self.body}</p>\n'
        return f"{self.code} {self.reason}", [("Content-Type", form), *headers], body.encode()

    def _problem(self) -> str:
        named = {"type": "about:blank", "title": self.reason, "status": self.code, "detail": self.body}
        return json.dumps(named | {"instance": self.path, "code": self.problem, "errors": []})


class Busy(Refusal):
    retry_after = 2


class Leaving(Refusal):
    """The answer of a process that is being stopped to whoever asks whether it is ready."""

    def to_response(self, ident: str | None = None) -> tuple[str, list[tuple[str, str]], bytes]:
        status, headers, _ = super().to_response(ident)
        body = json.dumps({"status": "down", "checks": {"process": f"down: {self.body}"}})
        return status, [*headers[1:], ("Content-Type", "application/json")], body.encode()


class TooSlow(Refusal):
    code = 408
    reason = "Request Timeout"
    problem = "request_timeout"


class Phase(IntEnum):
    """The event that a connection waits for; those of its client come first."""

    ASKING = 1  # The request is not here, or not as a whole.
    READING = 2  # The answer is not taken yet.
    IDLE = 3  # Kept for another request.
    CLOSING = 4
    WORKING = 5  # It waits for us.


class Request(HTTPRequestParser):
    """A request whose body is read only where it may be accepted. One with too large a body, or with one of unknown
    size, reaches the application without it, to be refused in the form of its address."""

    path = ""  # Until the header is read.
    chunked: bool
    content_length: int

    @property
    def is_permitted_upload(self) -> bool:
        """Whether the request's address carries the permit for a body that is larger than others."""
        signer: Signer | None = getattr(self.adj, SIGNER, None)
        is_post = self.command.upper() == "POST"
        return signer is not None and is_post and has_upload_permit(signer, self.path, datetime.now(UTC))

    @property
    def seconds(self) -> float:
        """The most seconds that the request with its body may take."""
        is_large = self.content_length > LARGEST_BODY  # Which only a permit allows.
        return UPLOAD_SECONDS if is_large else REQUEST_SECONDS

    @property
    def lane(self) -> Lane:
        return lane_of(self.command.upper(), "/" + self.path.lstrip("/"))

    def received(self, data: bytes) -> int:
        """Pass over blank lines before the request. As empty requests they would restart the time for its headers."""
        begun = data if self.header_plus or self.headers_finished else data.lstrip()
        blank = len(data) - len(begun)
        return blank + int(super().received(begun)) if begun else blank

    def parse_header(self, header_plus: bytes) -> None:
        try:
            super().parse_header(header_plus)
        except ValueError as error:
            raise ParsingError("Bad URI") from error
        if self.chunked:
            self.headers["TRANSFER_ENCODING"] = "chunked"
        if self.chunked or self.content_length > (LARGEST_UPLOAD if self.is_permitted_upload else LARGEST_BODY):
            self.headers["CONNECTION"] = "close"
            self.chunked, self.content_length, self.body_rcv = False, 0, None
            self.expect_continue = False


class Connection(HTTPChannel):
    parser_class = Request
    requests: list[Request]
    close_when_flushed: bool
    will_close: bool

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.since = time.monotonic()
        self._moved_since = self.since
        self._moved = 0  # Bytes in either direction since then.
        self._served = 0
        self._closing = False
        self._seen: tuple[Phase, int, Request | None] = (Phase.ASKING, 0, None)
        super().__init__(*arguments, **named)
        self.network = network(self.addr[0])

    @property
    def phase(self) -> Phase:
        if self._closing:
            return Phase.CLOSING
        if self.total_outbufs_len:
            return Phase.READING
        if self.requests:
            return Phase.WORKING
        return Phase.IDLE if self._served and self.request is None else Phase.ASKING

    def has_waited(self, now: float) -> bool:
        """Whether the connection has waited for its client for so long that an honest client would have sent, or read,
        by now."""
        return now - self.since >= NEW_SECONDS

    def is_stalled(self, now: float) -> bool:
        """Whether the client exceeds the time of the connection's phase, or stays below the lowest rate. To be called
        about once a second, since the rate is measured between calls."""
        self._note_phase(now)
        phase = self.phase
        sends_body = phase is Phase.ASKING and self.request is not None and self.request.headers_finished
        if sends_body and self.request is not None and now - self.since > self.request.seconds:
            return True
        if sends_body or phase is Phase.READING:
            return self._is_below_lowest_rate(now)
        longest = {Phase.ASKING: HEADER_SECONDS, Phase.IDLE: IDLE_SECONDS, Phase.CLOSING: CLOSING_SECONDS}
        return now - self.since > longest.get(phase, float("inf"))

    def _note_phase(self, now: float) -> None:
        seen = (self.phase, self._served, self.request)
        if seen != self._seen:
            self._seen, self.since = seen, now
            self._moved_since, self._moved = now, 0

    def _is_below_lowest_rate(self, now: float) -> bool:
        """Whether the client is below the lowest rate, which is measured anew every RATE_SECONDS, since the system
        takes the first part of an answer at once."""
        if now - self._moved_since < RATE_SECONDS:
            return False
        moved, self._moved_since, self._moved = self._moved, now, 0
        return moved < LOWEST_RATE * RATE_SECONDS

    def give_up(self) -> None:
        """End the connection; a client that began a request gets the reason."""
        with self.requests_lock:
            if self.phase is Phase.ASKING and self.request is not None:
                self.refuse(self.request, TooSlow("The request came too slowly.", self.request.path))
            else:
                self.handle_close()  # Waitress's `will_close` would wait for the client to read.

    def refuse(self, request: Request, refusal: Refusal) -> None:
        """Refuse a request. To be called with the lock of the requests held."""
        request.error, request.completed = refusal, True
        self.requests.append(request)
        self.request = None
        self.server.add_task(self)

    # What follows extends waitress's channel.

    def received(self, data: bytes) -> bool:
        self._moved += len(data)
        is_taken = False if self._closing else bool(super().received(data))
        self._note_phase(time.monotonic())
        return is_taken

    def send(self, data: bytes, do_close: bool = True) -> int:
        sent: int = super().send(data, do_close)
        self._moved += sent
        return sent

    def service(self) -> None:
        self._served += 1
        try:
            super().service()
        except BaseException:  # Logged by the thread, which goes on; the connection would wait for us for ever.
            with self.requests_lock:
                self.close_when_flushed, self.requests = True, []
            raise
        finally:
            self._note_phase(time.monotonic())
            self._note_change()

    def write_soon(self, data: Any) -> int:
        length: int = super().write_soon(data)
        if self.total_outbufs_len:
            self._note_change()
        return length

    def _note_change(self) -> None:
        """Wake the loop once a thread has changed the connection; waitress itself wakes it before the change is
        done."""
        if self.connected:
            self.server.changed(self)
            self.server.pull_trigger()

    def del_channel(self, map: dict[int, Any] | None = None) -> None:
        self.server.forget(self._fileno)
        super().del_channel(map)

    def add_channel(self, map: dict[int, Any] | None = None) -> None:
        super().add_channel(map)
        self.server.changed(self)

    def readable(self) -> bool:
        return self._closing or bool(super().readable())

    def handle_write(self) -> None:
        """Write what is due. A connection that is to be closed is closed for sending first: a client that still sends
        would otherwise lose the answer with the connection."""
        if not self.close_when_flushed or self.will_close:
            super().handle_write()
            return
        self._flush_exception(self._flush_some)
        if self.connected and not self.total_outbufs_len and not self.will_close:
            self.close_when_flushed, self._closing = False, True
            try:
                self.socket.shutdown(socket.SHUT_WR)
            except OSError:
                self.will_close = True
