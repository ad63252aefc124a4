"""Waiting for events of many connections at a cost that does not grow with the silent ones."""

from __future__ import annotations

import select
from collections import deque
from collections.abc import Mapping
from typing import Any

from waitress import wasyncore


class Watched:
    """The sockets that are watched. Waitress checks the state of every connection whenever one of them has an event,
    which a thousand slow clients make expensive; here only those are checked that may have changed."""

    def __init__(self) -> None:
        self._changed: deque[Any] = deque()  # Threads append to it.
        self._epoll = select.epoll()
        self._events: dict[int, int] = {}  # What is waited for, by file descriptor.

    def changed(self, changed: Any) -> None:
        self._changed.append(changed)

    def wait(self, seconds: float, sockets: Mapping[int, Any]) -> None:
        """Wait for events for so many seconds at most, and let each socket that has one read and write."""
        while self._changed:
            self._watch(self._changed.popleft(), sockets)
        for descriptor, events in self._epoll.poll(seconds):
            if known := sockets.get(descriptor):
                wasyncore.readwrite(known, events)
                self._changed.append(known)

    def forget(self, descriptor: int) -> None:
        """Forget a socket. To be called before it is closed: its number is given to the next."""
        if self._events.pop(descriptor, 0):
            self._epoll.unregister(descriptor)

    def close(self) -> None:
        self._epoll.close()

    def _watch(self, changed: Any, sockets: Mapping[int, Any]) -> None:
        descriptor: int | None = changed._fileno  # None once it is closed.
        if descriptor is None or sockets.get(descriptor) != changed:
            return
        events = select.POLLIN if changed.readable() else 0
        events |= select.POLLOUT if changed.writable() else 0
        before = self._events.get(descriptor, 0)
        if events == before:
            return
        if not events:
            self.forget(descriptor)  # Even then epoll would report a client that hung up, over and over.
            return
        (self._epoll.modify if before else self._epoll.register)(descriptor, events)
        self._events[descriptor] = events
