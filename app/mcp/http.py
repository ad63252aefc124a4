"""The tools over streamable HTTP: one POST a call, answered with JSON, no sessions. A request is checked before the SDK
reads it: for one of the shop's hosts, by a caller who is known, of bounded size, sent in time, and a message in sound
JSON. Everything else is answered here, with an error of JSON-RPC."""

from __future__ import annotations

import asyncio
import logging
import socket
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import anyio
import structlog
import uvicorn
from flask import Flask
from mcp.server.transport_security import TransportSecuritySettings
from sqlalchemy.exc import OperationalError
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.config import LOCAL_HOSTS
from app.domain.shared.problems import DomainError, Forbidden, Unauthenticated
from app.domain.shared.redaction import error_summary
from app.domain.sites.sites import site_by_host
from app.mcp.calls import BUSY
from app.mcp.registry import caller_of
from app.mcp.server import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    LARGEST_BODY,
    InvalidMessage,
    MessageId,
    SentContext,
    Threads,
    check_message,
    make_server,
)
from app.operations.metrics import count_ended_connection
from app.operations.storage import is_busy_or_away

log = structlog.get_logger()

LOCAL = ("127.0.0.1", "::1")  # A proxy speaks for many.
PATH, HEALTH = "/mcp", "/healthz"
ADMITTED_AT_ONCE = 4
SECONDS_TO_RETRY = "5"
CHALLENGE = 'Bearer realm="shop"'
SECONDS_TO_FINISH = 5
LARGEST_HEAD = 32 * 1024  # Bytes.


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits for slow clients. `seconds_to_request` go from connecting, or the last answer, to the end of the next
    request's head; `seconds_in_all` from the same moment to the last byte of the answer that the client takes;
    `seconds_to_send` are those of a body."""

    seconds_to_request: float = 15
    seconds_to_send: float = 20
    seconds_in_all: float = 120
    seconds_between_looks: float = 5
    most_connections: int = 256
    most_of_one_address: int = 32


class Connection(H11Protocol):
    """A connection that is closed when its client keeps the server waiting for too long, or when there are too many."""

    since: float
    look: asyncio.TimerHandle | None = None

    def __init__(self, *, limits: Limits, **uvicorns: Any) -> None:
        super().__init__(**uvicorns)
        self.limits = limits

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.since = self.loop.time()
        self._look_later()
        if (one_too_many := self._one_too_many()) is not None:
            one_too_many._end("too_many")

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self.look:
            self.look.cancel()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.since = self.loop.time()

    @property
    def address(self) -> str:
        return self.client[0] if self.client else ""

    @property
    def is_idle(self) -> bool:
        """Whether no request's head has come since the connection began, or since its last answer."""
        return self.cycle is None or self.cycle.response_complete

    def _look_later(self) -> None:
        self.look = self.loop.call_later(self.limits.seconds_between_looks, self._look)

    def _look(self) -> None:
        longest = self.limits.seconds_to_request if self.is_idle else self.limits.seconds_in_all
        if self.loop.time() - self.since > longest:
            self._end("too_slow")
        else:
            self._look_later()

    def _one_too_many(self) -> Connection | None:
        """Return the connection to end for this new one: itself where its address has too many; where all are too many,
        the one that is idle for the longest, so that silent clients keep no other out; else None."""
        known = [each for each in self.connections if isinstance(each, Connection)]
        mine = sum(each.address == self.address for each in known)
        if self.address not in LOCAL and mine > self.limits.most_of_one_address:
            return self
        if len(known) <= self.limits.most_connections:
            return None
        return min((each for each in known if each.is_idle), key=lambda each: each.since, default=self)

    def _end(self, reason: str) -> None:
        self.transport.abort()
        count_ended_connection(reason)


@dataclass(frozen=True, slots=True)
class Refusal(Exception):
    """The answer to a request that the SDK does not see; `code` is a stable word, `id` that of the message."""

    status: int
    code: str
    message: str
    number: int = INVALID_REQUEST
    headers: Mapping[str, str] = field(default_factory=dict)
    id: MessageId | None = None

    def response(self) -> Response:
        error = {"code": self.number, "message": self.message, "data": {"code": self.code}}
        body = {"jsonrpc": "2.0", "id": self.id, "error": error}
        return JSONResponse(body, self.status, {"Cache-Control": "no-store", **self.headers})


class Front:
    """The application that the server runs: health, and the SDK's application behind the checks."""

    def __init__(self, app: Flask, served: ASGIApp, seconds_to_send: float) -> None:
        self._app, self._served, self._seconds_to_send = app, served, seconds_to_send
        self._threads = Threads(ADMITTED_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._served(scope, receive, send)
        elif scope["path"] == HEALTH:
            await PlainTextResponse("ok\n")(scope, receive, send)
        else:
            await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = was_read = False

        async def receiving() -> Message:
            nonlocal was_read
            was_read = True
            return await receive()

        async def sending(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._check_and_serve(scope, receiving, sending)
        except Refusal as refused:
            response = refused.response()
            if not was_read and _holds_back(scope):
                response.headers["Connection"] = "close"
            await response(scope, receive, sending)
        except Exception:
            request_id = uuid.uuid4().hex
            log.exception("unexpected_error", request_id=request_id, route=PATH)
            if not started:
                message = f"Internal error. It was noted under the request id {request_id}."
                await Refusal(500, "internal_error", message, INTERNAL_ERROR).response()(scope, receive, sending)

    async def _check_and_serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        _check_shape(request)
        await self._threads.run(self._admit, request.headers)
        body = await _read_body(request, self._seconds_to_send)
        _check_message(body)
        await self._served(scope, _replay(body, receive), send)

    def _admit(self, headers: Mapping[str, str]) -> None:
        """Check host and caller, in a thread and a context of its own: the database is read. Raises Refusal."""
        with self._app.app_context():
            try:
                _check_hosts(headers)
                caller_of(sent_token(headers))
            except Unauthenticated as error:
                raise _unauthenticated(error, "authorization" in headers) from None
            except Forbidden as error:
                raise _insufficient(error) from None
            except OperationalError as error:
                if not is_busy_or_away(error):
                    raise
                raise _busy(error) from None


def _holds_back(scope: Scope) -> bool:
    """Whether the client sends its body only when told to (`Expect`). Once it was refused, what comes next on the
    connection would be taken for that body."""
    return any(name == b"expect" for name, _ in scope["headers"])


def sent_token(headers: Mapping[str, str]) -> str:
    """Return the bearer token. Raises Unauthenticated where none was sent."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated("token_required", "Send an access token of this shop: Authorization: Bearer <token>.")
    return token.strip()


def _unauthenticated(error: DomainError, was_sent: bool) -> Refusal:
    challenge = f'{CHALLENGE}, error="invalid_token"' if was_sent else CHALLENGE  # RFC 6750 section 3.1.
    return Refusal(401, error.code, error.message, headers={"WWW-Authenticate": challenge})


def _insufficient(error: Forbidden) -> Refusal:
    """Return the refusal of a caller without permission. Another token of the same kind would be refused as well, so
    the client is not sent for one (RFC 6750)."""
    challenge = f'{CHALLENGE}, error="insufficient_scope"'
    return Refusal(403, error.code, error.message, headers={"WWW-Authenticate": challenge})


def _busy(error: OperationalError) -> Refusal:
    log.warning("database_unavailable", error=error_summary(error))
    return Refusal(503, "database_unavailable", BUSY, INTERNAL_ERROR, {"Retry-After": SECONDS_TO_RETRY})


def _check_shape(request: Request) -> None:
    if request.url.path != PATH:
        raise Refusal(404, "not_found", f"There is nothing here. The tools are at {PATH}.")
    if request.method != "POST":
        message = "Every message is a POST of its own: the server keeps no session and opens no stream."
        raise Refusal(405, "method_not_allowed", message, headers={"Allow": "POST"})
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Refusal(415, "unsupported_media_type", "Send JSON, with Content-Type: application/json.")
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length[:20]) > LARGEST_BODY:
        raise _too_large()


def _check_hosts(headers: Mapping[str, str]) -> None:
    """Check host and origin against DNS rebinding: a page of another origin that has its name point at this machine
    reaches nothing."""
    if not _is_ours(f"//{headers.get('host', '')}"):
        raise Refusal(421, "unknown_host", "This is no host of a shop of this installation.")
    origin = headers.get("origin")
    if origin is not None and not _is_ours(origin):
        raise Refusal(403, "foreign_origin", "Pages of other origins may not call the tools.")


def _is_ours(address: str) -> bool:
    try:
        host = urlsplit(address).hostname
    except ValueError:
        return False
    return host is not None and (host in LOCAL_HOSTS or site_by_host(host.removesuffix(".")) is not None)


async def _read_body(request: Request, seconds: float) -> bytes:
    chunks: list[bytes] = []
    length = 0
    with anyio.move_on_after(seconds) as waiting:
        async for chunk in request.stream():
            length += len(chunk)
            if length > LARGEST_BODY:
                raise _too_large()
            chunks.append(chunk)
    if waiting.cancelled_caught:
        message = f"The body took longer than {seconds:g} seconds."
        raise Refusal(408, "too_slow", message, headers={"Connection": "close"})
    return b"".join(chunks)


def _too_large() -> Refusal:
    message = f"What was sent is larger than the {LARGEST_BODY // 1_000_000} MB that this address takes."
    return Refusal(413, "request_entity_too_large", message, headers={"Connection": "close"})


def _check_message(body: bytes) -> None:
    """Raises Refusal for a body that is no message."""
    try:
        check_message(body)
    except InvalidMessage as invalid:
        raise Refusal(400, invalid.code, invalid.message, invalid.number, id=invalid.id) from None


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a receiver of what was read already, then of the further messages."""
    sent: Sequence[Message] = ({"type": "http.request", "body": body, "more_body": False},)
    waiting = list(sent)

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message


def asgi_app(app: Flask, limits: Limits) -> Front:
    """The application of the SDK behind our checks, which know the hosts of the shops."""
    served = make_server(app, _token_of).streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=LARGEST_BODY,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return Front(app, served, limits.seconds_to_send)


def serve(app: Flask, listener: socket.socket) -> None:
    """Serve until SIGTERM or SIGINT, then finish what was begun."""
    http_server(app).run(sockets=[listener])


def http_server(app: Flask, limits: Limits = Limits()) -> uvicorn.Server:
    """Return the server, not started yet."""
    connection: Any = partial(Connection, limits=limits)
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # Broken HTTP of unknown clients is not worth a line.
    config = uvicorn.Config(
        asgi_app(app, limits),
        http=connection,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=SECONDS_TO_FINISH,
        h11_max_incomplete_event_size=LARGEST_HEAD,
    )
    return uvicorn.Server(config)


def _token_of(context: SentContext) -> str:
    headers: Mapping[str, Any] = context.headers or {}
    return sent_token(headers)
