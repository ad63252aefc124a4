"""The web server: waitress, which reads requests and writes answers without holding a thread, with limits for clients
that do not send or read, and with threads by lane."""

from __future__ import annotations

import logging
import resource
import select
import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher

from app.operations.metrics import count_ended_connection
from app.web.server.connection import SIGNER, Busy, Connection, Leaving, Phase
from app.web.server.lanes import HEALTH, LANES, Lane
from app.web.tokens import Signer

MOST_OF_ONE_ADDRESS = 64  # Connections that wait for their client.
MOST_IN_ALL = 512
MOST_CONNECTIONS = 1_000
FILES_BESIDES = 200  # The database's, the index's and those of the application.
LOOK_SECONDS = 1.0  # Between two looks for clients that are too slow.
SECONDS_TO_FINISH = 5.0
# Seconds, after which a computing thread gives way to others. With Python's default of five milliseconds, a search of
# half a millisecond waits fifteen while three pages are rendered.
SWITCH_INTERVAL = 0.001
READINESS = "/readyz"
SECONDS_TO_DRAIN = 35.0  # Longer than a connection is kept for another request.
SETTINGS = {
    "ident": None,
    "max_request_header_size": 32 * 1024,
    "inbuf_overflow": 64 * 1024,  # Larger bodies wait in a file.
    "backlog": 1_024,
    "clear_untrusted_proxy_headers": False,  # The application believes them where TRUSTED_PROXIES says so.
}


class WebServer(TcpWSGIServer):
    channel_class = Connection

    def __init__(
        self,
        application: Callable[..., Any],
        listener: socket.socket,
        behind_proxy: bool = False,
        signer: Signer | None = None,
    ) -> None:
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # A full lane is refused and counted instead.
        self._dispatchers = {lane: _dispatcher(lane) for lane in LANES}
        self._most_of_one_address = MOST_IN_ALL if behind_proxy else MOST_OF_ONE_ADDRESS
        self._stop_at: float | None = None
        self._leave_at: float | None = None
        self._is_draining = False
        self._watched = Watched()
        sockinfo = (listener.family, listener.type, listener.proto, listener.getsockname())
        adjustments = Adjustments(sockets=[listener], connection_limit=_most_connections(), **SETTINGS)
        setattr(adjustments, SIGNER, signer)
        super().__init__(
            application,
            _sock=listener,
            dispatcher=self._dispatchers[HEALTH],
            adj=adjustments,
            bind_socket=False,
            sockinfo=sockinfo,
        )

    def run(self) -> None:
        """Serve until `stop`, `leave` or `drain`, then finish what was begun."""
        looked_at = 0.0
        self._watched.changed(self.trigger)
        while self._stop_at is None or (time.monotonic() < self._stop_at and self._is_busy()):
            self._watched.changed(self)  # It stops accepting where there are too many connections.
            self._watched.wait(LOOK_SECONDS, self._map)
            now = time.monotonic()
            if self._stop_at is None and self._leave_at is not None and now >= self._leave_at:
                self._stop_at = now + SECONDS_TO_DRAIN
            if now - looked_at >= LOOK_SECONDS:
                looked_at = now
                self._end_stalled(now)
            if self._stop_at is not None and self.accepting:
                self._stop_accepting()
        self._close_all()

    def stop(self) -> None:
        """Stop serving. Safe to call from a signal handler."""
        self._is_draining = False
        self._stop_at = time.monotonic() + SECONDS_TO_FINISH
        self._wake()

    def leave(self, seconds: float) -> None:
        """Serve for so many seconds more, but answer 503 at /readyz, so that proxies send requests elsewhere; then stop
        as soon as what was begun is answered. Without a second to leave, and when called again, stop at once. Safe to
        call from a signal handler."""
        if seconds <= 0 or self._leave_at is not None:
            self.stop()
            return
        self._leave_at = time.monotonic() + seconds
        self._wake()

    def drain(self) -> None:
        """Leave new connections to other processes and end when those that are open have had their answers: no client
        loses a request. Safe to call from a signal handler."""
        self._is_draining = True
        self._stop_at = time.monotonic() + SECONDS_TO_DRAIN
        self._wake()

    def _wake(self) -> None:
        with suppress(OSError):  # Another thread's call may come when it has stopped already.
            self.pull_trigger()

    def _is_busy(self) -> bool:
        open_ones = list(self.active_channels.values())
        if self._is_draining:
            return bool(open_ones)
        is_begun = self._leave_at is not None and any(connection.request is not None for connection in open_ones)
        return is_begun or any(connection.phase in (Phase.WORKING, Phase.READING) for connection in open_ones)

    def _stop_accepting(self) -> None:
        self.accepting = False
        self._watched.forget(self._fileno)
        self.del_channel(self._map)
        self.socket.close()

    def _close_all(self) -> None:
        for dispatcher in self._dispatchers.values():
            dispatcher.set_thread_count(0)
        self.trigger.close()
        wasyncore.close_all(self._map)
        self._watched.close()

    def _end_stalled(self, now: float) -> None:
        for connection in list(self.active_channels.values()):
            self.changed(connection)
            if connection.is_stalled(now):
                if connection.phase in (Phase.ASKING, Phase.READING):
                    count_ended_connection("too_slow")
                connection.give_up()

    def changed(self, connection: Connection) -> None:
        """Note, from any thread, that a connection may wait for something else from now on."""
        self._watched.changed(connection)

    def forget(self, descriptor: int) -> None:
        self._watched.forget(descriptor)

    def handle_accept(self) -> None:
        super().handle_accept()
        self._make_room()

    def _make_room(self) -> None:
        """Close a connection where there are too many: of those that wait for their client, one of the address that has
        the most."""
        waiting = [each for each in self.active_channels.values() if each.phase <= Phase.IDLE and not each.will_close]
        if len(waiting) <= self._most_of_one_address:
            return
        now = time.monotonic()
        network, most = Counter(connection.network for connection in waiting).most_common(1)[0]
        if most > self._most_of_one_address or len(waiting) > MOST_IN_ALL:
            min(_to_give_way(waiting, network, now), key=lambda each: each.since).give_up()
            count_ended_connection("too_many")

    def add_task(self, connection: Connection) -> None:
        request = connection.requests[0]
        if self._is_draining or self._leave_at is not None:
            request.headers["CONNECTION"] = "close"
        if self._leave_at is not None and request.path == READINESS:
            request.error = Leaving("This web server is being stopped.", request.path)
        lane = HEALTH if request.error else request.lane
        if not request.error and len(self._dispatchers[lane].queue) >= lane.waiting:
            count_ended_connection("lane_full")
            request.error = Busy("The shop is busy just now. Try again in a few seconds.", request.path)
            lane = HEALTH
        self._dispatchers[lane].add_task(connection)

    def maintenance(self, now: float) -> None:
        """Do nothing: waitress's own time limit goes by the wall clock, which may jump."""


def _to_give_way(waiting: Sequence[Connection], network: str, now: float) -> Sequence[Connection]:
    """Return the connections of a network of which one is to be closed: those that keep the server waiting; without
    any, the idle ones or the new ones, whichever are more, so that a flood of new ones does not cost served clients
    theirs."""
    idle = [each for each in waiting if each.network == network and each.phase is Phase.IDLE]
    others = [each for each in waiting if each.network == network and each.phase is not Phase.IDLE]
    return [each for each in others if each.has_waited(now)] or max(idle, others, key=len)


def _dispatcher(lane: Lane) -> ThreadedTaskDispatcher:
    dispatcher = ThreadedTaskDispatcher()
    dispatcher.set_thread_count(lane.threads)
    return dispatcher


def _most_connections() -> int:
    """Return the most connections: MOST_CONNECTIONS, or fewer where this process may not open that many files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + FILES_BESIDES
    if soft < wanted:
        soft = min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return min(MOST_CONNECTIONS, soft - FILES_BESIDES)


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
