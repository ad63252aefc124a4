"""The checks of a request over HTTP before the SDK reads it: for one of the shop's hosts, by a caller who is known, of
bounded size, sent in time, and a message in sound JSON. Everything else is answered here, with an error of JSON-RPC."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import anyio
import structlog
from flask import Flask
from sqlalchemy.exc import OperationalError
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.config import LOCAL_HOSTS
from app.domain.shared.problems import DomainError, Forbidden, Unauthenticated
from app.domain.shared.redaction import error_summary
from app.domain.sites.sites import site_by_host
from app.mcp.callers import caller_of
from app.mcp.calls import BUSY
from app.mcp.messages import INTERNAL_ERROR, INVALID_REQUEST, LARGEST_BODY, InvalidMessage, MessageId, check_message
from app.mcp.threads import Threads
from app.operations.storage import is_busy_or_away

log = structlog.get_logger()

PATH, HEALTH = "/mcp", "/healthz"
ADMITTED_AT_ONCE = 4
SECONDS_TO_RETRY = "5"
CHALLENGE = 'Bearer realm="shop"'


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
            await self._checked(scope, receiving, sending)
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

    async def _checked(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        _check_shape(request)
        await self._threads.run(self._admit, request.headers)
        body = await _body(request, self._seconds_to_send)
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


async def _body(request: Request, seconds: float) -> bytes:
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
