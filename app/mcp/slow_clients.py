"""Connections of the HTTP server, with limits for clients that do not send or read and for too many of them, which
uvicorn leaves to a proxy."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

from app.metrics import count_ended_connection

SECONDS_TO_ASK = 15  # From connecting, or the last answer, to the end of the next request's head.
SECONDS_IN_ALL = 120  # From the same moment to the last byte of the answer that the client takes.
SECONDS_BETWEEN_LOOKS = 5
MOST_CONNECTIONS = 256
MOST_OF_ONE_ADDRESS = 32
LOCAL = ("127.0.0.1", "::1")  # A proxy speaks for many.


class Connection(H11Protocol):
    """One whose client keeps the server waiting for too long is closed."""

    since: float
    look: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.since = self.loop.time()
        if self._is_one_too_many():
            self._end("too_many")
        else:
            self._look_later()

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

    def _look_later(self) -> None:
        self.look = self.loop.call_later(SECONDS_BETWEEN_LOOKS, self._look)

    def _look(self) -> None:
        is_asking = self.cycle is None or self.cycle.response_complete
        if self.loop.time() - self.since > (SECONDS_TO_ASK if is_asking else SECONDS_IN_ALL):
            self._end("too_slow")
        else:
            self._look_later()

    def _is_one_too_many(self) -> bool:
        if len(self.connections) > MOST_CONNECTIONS:
            return True
        ours = (each.address for each in self.connections if isinstance(each, Connection))
        return self.address not in LOCAL and list(ours).count(self.address) > MOST_OF_ONE_ADDRESS

    def _end(self, reason: str) -> None:
        self.transport.abort()
        count_ended_connection(reason)
