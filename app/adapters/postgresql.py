"""The PostgreSQL connections of the application: a server, or a network to it, that goes silent is noticed. The kernel
gives up a connection whose other side is gone; one whose other side takes everything and answers nothing is given up
here, by statements that say how long they may take. All others may take as long as they need."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from sqlalchemy import Connection, Engine, ExceptionContext, event, make_url

ANSWERS_WITHIN = "answers_within"  # The execution option of a statement: the most seconds that it may take.
LIMIT = "shop_limit"  # The name under which the context of a statement carries its limit.
CONNECTION_LIMITS: Mapping[str, int] = {
    "connect_timeout": 4,  # Seconds, as all but the next.
    "tcp_user_timeout": 10_000,  # Milliseconds until what was sent must have arrived.
    "keepalives": 1,
    "keepalives_idle": 10,  # Without a word, before the other side is looked for.
    "keepalives_interval": 3,
    "keepalives_count": 3,
}


def connection_limits(url: str) -> dict[str, int]:
    """Return the limits of a connection to this database, but for those that the URL sets itself; none for other
    databases."""
    address = make_url(url)
    if address.get_backend_name() != "postgresql":
        return {}
    return {name: value for name, value in CONNECTION_LIMITS.items() if name not in address.query}


def prepare(engine: Engine) -> None:
    """Register the listeners on an engine; a no-op for other databases."""
    if engine.dialect.name != "postgresql":
        return
    event.listen(engine, "before_cursor_execute", _start_limit)
    event.listen(engine, "after_cursor_execute", _end_limit)
    event.listen(engine, "handle_error", _end_limit_of_failure)


class TimeLimit:
    """The seconds that a connection of psycopg has from now on. Once they are over its socket is shut down, and what
    waits for it fails as if the server had closed the connection."""

    def __init__(self, connection: Any, seconds: float) -> None:
        self._connection = connection
        self._is_over = False
        self._lock = threading.Lock()
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True
        self._timer.start()

    def end(self) -> None:
        with self._lock:
            self._is_over = True
        self._timer.cancel()

    def _cut(self) -> None:
        with self._lock:
            if self._is_over:
                return  # The answer came in the same moment; the connection may be another's by now.
            with suppress(OSError, self._connection.OperationalError), _socket_of(self._connection) as shared:
                shared.shutdown(socket.SHUT_RDWR)


@contextmanager
def limited(connection: Any, seconds: float) -> Iterator[None]:
    """Let what is done with a connection of psycopg fail with its OperationalError after so many seconds."""
    limit = TimeLimit(connection, seconds)
    try:
        yield
    finally:
        limit.end()


@contextmanager
def _socket_of(connection: Any) -> Iterator[socket.socket]:
    with socket.socket(fileno=os.dup(connection.fileno())) as shared:
        yield shared


def _start_limit(
    connection: Connection, _cursor: object, _statement: str, _parameters: object, context: Any, _many: bool
) -> None:
    if (seconds := context.execution_options.get(ANSWERS_WITHIN)) is not None:
        setattr(context, LIMIT, TimeLimit(connection.connection.dbapi_connection, seconds))


def _end_limit(
    _connection: Connection, _cursor: object, _statement: str, _parameters: object, context: Any, _many: bool
) -> None:
    if (limit := getattr(context, LIMIT, None)) is not None:
        limit.end()


def _end_limit_of_failure(context: ExceptionContext) -> None:
    if (limit := getattr(context.execution_context, LIMIT, None)) is not None:
        limit.end()
