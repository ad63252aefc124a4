"""The tools over standard input and output, for an agent on this machine. Standard output carries the protocol and
nothing else: the SDK sends whatever else is printed to standard error."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import anyio
from flask import Flask
from mcp.server import MCPServer
from mcp.server.stdio import stdio_server
from mcp.types import JSONRPCError, JSONRPCRequest, JSONRPCResponse

from app.mcp.server import make_server

SECONDS_TO_ANSWER = 60


def serve(app: Flask, token: str) -> None:
    """Serve until standard input ends and what was requested by then is answered."""
    anyio.run(_serve, make_server(app, lambda _context: token))


async def _serve(server: MCPServer[Any]) -> None:
    """Serve as the SDK does, but answer the requests that are under way as the input ends."""
    answering = Answering()
    lowlevel = server._lowlevel_server
    async with stdio_server() as (incoming, outgoing):
        options = lowlevel.create_initialization_options()
        await lowlevel.run(Incoming(incoming, answering), Outgoing(outgoing, answering), options)


class Answering:
    """Requests that came and are not answered yet."""

    def __init__(self) -> None:
        self._ids: set[object] = set()
        self._done = anyio.Event()

    def came(self, item: Any) -> None:
        message = getattr(item, "message", None)
        if isinstance(message, JSONRPCRequest):
            self._ids.add(message.id)

    def went(self, item: Any) -> None:
        if isinstance(item.message, JSONRPCResponse | JSONRPCError):
            self._ids.discard(item.message.id)
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
