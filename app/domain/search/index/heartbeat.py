"""Keeps a builder's lease alive while it is busy for longer than the lease."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from app.domain.search.index.builders import Builder, renewal
from app.domain.shared.clock import Clock
from app.extensions import db

BEATS_IN_A_LEASE = 4


@contextmanager
def kept_alive(clock: Clock, builder: Builder) -> Iterator[None]:
    """While the block runs, a thread renews the lease. A process that dies or is stopped stops renewing."""
    ended = threading.Event()
    thread = threading.Thread(target=_beat, args=(clock, builder, db.engine, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _beat(clock: Clock, builder: Builder, engine: Engine, ended: threading.Event) -> None:
    pause = builder.lease.total_seconds() / BEATS_IN_A_LEASE
    while not ended.wait(pause):
        with suppress(SQLAlchemyError):  # A database that is busy or away now takes the next beat.
            _renew(clock, builder, engine)


def _renew(clock: Clock, builder: Builder, engine: Engine) -> None:
    """Not through the session, which belongs to the thread that builds."""
    with engine.begin() as connection:
        connection.execute(renewal(clock, builder))
