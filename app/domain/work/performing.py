"""The performance of claimed work: its lease is kept alive, and its outcome is written to its row."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from app.domain.shared.clock import Clock
from app.domain.work.context import WorkContext
from app.domain.work.leases import Claim, LeaseLost, fail, release, renewal
from app.extensions import db

BEATS_IN_A_LEASE = 4
INTERRUPTIONS = (OperationalError, SystemExit, KeyboardInterrupt)


def perform(context: WorkContext, claim: Claim[Any], work: Callable[[], object]) -> bool:
    """Do the work, whose last step finishes it, and return True; False when the lease was lost meanwhile. Where the
    worker is stopped or the database goes away, work of a kind that is resumed is released; any other error fails it.
    Errors that the row does not explain are raised as well."""
    kind = claim.kind
    with context.locks.hold(claim.lock), _heartbeat(context.clock, claim):
        try:
            work()
        except LeaseLost:
            return False
        except (*INTERRUPTIONS, Exception) as error:
            db.session.rollback()
            is_resumed = kind.is_resumed and isinstance(error, INTERRUPTIONS)
            with suppress(LeaseLost):
                if is_resumed:
                    context.commit(lambda: release(context.clock, claim))
                else:
                    words = kind.describe_error(error)
                    context.commit(lambda: fail(context.clock, claim, words))
            if is_resumed or not isinstance(error, kind.expected):
                raise
    return True


@contextmanager
def _heartbeat(clock: Clock, claim: Claim[Any]) -> Iterator[None]:
    """Renew the lease by a thread while the block runs. A process that dies or is stopped stops renewing."""
    ended = threading.Event()
    thread = threading.Thread(target=_beat, args=(clock, claim, db.engine, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _beat(clock: Clock, claim: Claim[Any], engine: Engine, ended: threading.Event) -> None:
    """Renew the lease at intervals, and not through the session, which belongs to the thread that works."""
    pause = claim.lease.total_seconds() / BEATS_IN_A_LEASE
    while not ended.wait(pause):
        with suppress(SQLAlchemyError), engine.begin() as connection:  # A busy database takes the next beat.
            since = clock.monotonic()
            if connection.execute(renewal(clock, claim)).rowcount:
                claim.extend(since)
