"""Sources of the time: the machine's clock or, where several machines share a database, that of its server."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from sqlalchemy import Engine, event
from sqlalchemy.exc import DisconnectionError, InvalidatePoolError

from app.adapters.postgresql import limited
from app.domain.shared.clock import Clock


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


@dataclass(frozen=True, slots=True)
class _Reading:
    server: datetime
    monotonic: float


class ServerClock:
    """The clock of PostgreSQL's server, by which all machines date what they store in it, however wrong their own are.
    It is read every two seconds, as a connection is taken from the pool, and measured on from there; before the first
    reading it is the machine's own."""

    READ_EVERY = 2.0  # Seconds, as the next.
    ANSWERS_WITHIN = 3.0

    def __init__(self, own: Clock) -> None:
        self._own = own
        self._reading: _Reading | None = None

    def now(self) -> datetime:
        known = self._reading
        if known is None:
            return self._own.now()
        return known.server + timedelta(seconds=self.monotonic() - known.monotonic)

    def monotonic(self) -> float:
        return self._own.monotonic()

    def follow(self, engine: Engine) -> None:
        """Read the clock of this engine's server from now on, as connections are taken from its pool."""
        dbapi: Any = engine.dialect.dbapi

        def read(connection: Any, _record: object, _proxy: object) -> None:
            known, now = self._reading, self.monotonic()
            if known is not None and now - known.monotonic < self.READ_EVERY:
                return
            try:
                with limited(connection, self.ANSWERS_WITHIN):
                    self._reading = _Reading(_time_of(connection), now)
            except dbapi.Error as error:  # The server closed it meanwhile; the pool takes another.
                is_silent = self.monotonic() - now >= self.ANSWERS_WITHIN
                raise (InvalidatePoolError if is_silent else DisconnectionError) from error

        event.listen(engine, "checkout", read)


def _time_of(connection: Any) -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (moment,) = cursor.fetchone()
    connection.rollback()  # Nothing was begun yet.
    return cast(datetime, moment).astimezone(UTC)
