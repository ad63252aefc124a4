"""Connections of the HTTP server, with limits for clients that do not send or read and for too many of them, which
uvicorn leaves to a proxy."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from app.operations.metrics import count_ended_connection

LOCAL = ("127.0.0.1", "::1")  # A proxy speaks for many.


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
