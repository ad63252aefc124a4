"""The tools over standard input and output, for an agent on this machine. Standard output carries the protocol and
nothing else: the SDK sends whatever else is printed to standard error."""

from __future__ import annotations

import os
from collections import Counter
from types import TracebackType
from typing import Any, BinaryIO, cast

import anyio
from anyio import to_thread
from flask import Flask
from mcp.server import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import ErrorData, JSONRPCError, JSONRPCRequest, JSONRPCResponse

from app.mcp.server import INVALID_REQUEST, LARGEST_BODY, InvalidMessage, check_message, make_server

STANDARD_INPUT = 0
SECONDS_TO_ANSWER = 60


def serve(app: Flask, token: str) -> None:
    """Serve until standard input ends and what was requested by then is answered."""
    anyio.run(_serve, make_server(app, lambda _context: token))


async def _serve(server: MCPServer[Any]) -> None:
    """Serve as the SDK does, but answer what is no message, and the requests that are under way as the input ends."""
    answering = Answering()
    lowlevel = server._lowlevel_server
    lines = Lines(_take_standard_input())
    async with stdio_server(stdin=cast(Any, lines)) as (incoming, outgoing):
        lines.answer_on(outgoing)
        options = lowlevel.create_initialization_options()
        await lowlevel.run(Incoming(incoming, answering), Outgoing(outgoing, answering), options)


def _take_standard_input() -> BinaryIO:
    """Return standard input as a stream of its own; whatever else reads standard input finds nothing, as where the SDK
    opens it."""
    own = os.dup(STANDARD_INPUT)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), STANDARD_INPUT)
    return os.fdopen(own, "rb", closefd=False)  # A thread may wait for a line until the process ends.


class Lines:
    """The lines of standard input that are messages, as the SDK iterates over them. What is none is answered here: the
    SDK passes it over, and the agent would wait for an answer."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._outgoing: Any = None
        self._can_answer = anyio.Event()

    def answer_on(self, outgoing: Any) -> None:
        self._outgoing = outgoing
        self._can_answer.set()

    def __aiter__(self) -> Lines:
        return self

    async def __anext__(self) -> str:
        await self._can_answer.wait()
        while line := await self._read_line():
            if not line.strip():
                continue
            try:
                _check_line(line)
            except InvalidMessage as invalid:
                await self._outgoing.send(SessionMessage(_error_of(invalid)))
            else:
                return line.decode()
        raise StopAsyncIteration

    async def _read_line(self) -> bytes:
        """Return the next line, of a longer one so much that it is seen to be too long, and nothing at the end."""
        line = rest = await to_thread.run_sync(self._stream.readline, LARGEST_BODY + 1)
        while len(rest) > LARGEST_BODY and not rest.endswith(b"\n"):
            rest = await to_thread.run_sync(self._stream.readline, LARGEST_BODY + 1)
        return line


def _check_line(line: bytes) -> None:
    """Raises InvalidMessage."""
    if len(line) > LARGEST_BODY:
        message = f"A message has at most {LARGEST_BODY // 1_000_000} MB."
        raise InvalidMessage(INVALID_REQUEST, "request_entity_too_large", message)
    check_message(line)


def _error_of(invalid: InvalidMessage) -> JSONRPCError:
    error = ErrorData(code=invalid.number, message=invalid.message, data={"code": invalid.code})
    return JSONRPCError(jsonrpc="2.0", id=invalid.id, error=error)


class Answering:
    """Requests that came and are not answered yet."""

    def __init__(self) -> None:
        self._ids: Counter[object] = Counter()  # An agent may give several requests one id.
        self._done = anyio.Event()

    def came(self, item: Any) -> None:
        message = getattr(item, "message", None)
        if isinstance(message, JSONRPCRequest):
            self._ids[message.id] += 1

    def went(self, item: Any) -> None:
        if isinstance(item.message, JSONRPCResponse | JSONRPCError):
            self._ids[item.message.id] -= 1
            self._ids = +self._ids
            if not self._ids:
                self._done.set()
                self._done = anyio.Event()

    async def finished(self) -> None:
        with anyio.move_on_after(SECONDS_TO_ANSWER):
            while self._ids:
                await self._done.wait()


class Stream:
    """A stream of the SDK, whose requests and answers are noted."""

    def __init__(self, stream: Any, answering: Answering) -> None:
        self._stream, self._answering = stream, answering

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self.aclose()


class Incoming(Stream):
    """The incoming stream, whose end is passed on once all requests are answered."""

    @property
    def last_context(self) -> Any:
        return self._stream.last_context

    async def receive(self) -> Any:
        try:
            item = await self._stream.receive()
        except anyio.EndOfStream:
            await self._answering.finished()
            raise
        self._answering.came(item)
        return item

    def __aiter__(self) -> Incoming:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Incoming:
        return self


class Outgoing(Stream):
    async def send(self, item: Any) -> None:
        await self._stream.send(item)
        self._answering.went(item)

    async def __aenter__(self) -> Outgoing:
        return self
