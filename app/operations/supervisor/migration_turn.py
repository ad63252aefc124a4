"""The turn of a machine to migrate a database that machines share: one after the other, and seen by those that wait."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from flask import Flask
from sqlalchemy import Engine, func, select
from sqlalchemy.exc import SQLAlchemyError

from app.domain.machines import machines
from app.domain.shared.redaction import error_summary
from app.ports import clock, machine_id
from app.transaction import transaction

LOCK = 7_404_163_022_019  # The key of PostgreSQL's advisory lock: any number, the same in every release.

log = structlog.get_logger()


@contextmanager
def turn_to_migrate(
    application: Flask, engine: Engine, between_beats: float = machines.BETWEEN_BEATS.total_seconds()
) -> Iterator[None]:
    """Wait until no other machine migrates, and let this one be seen to run until the end. One that waits is not seen:
    it serves nothing yet, and must not keep away the one that migrates. SQLite is a database for one machine."""
    if engine.dialect.name != "postgresql":
        yield
        return
    with engine.connect() as connection:
        connection.detach()  # The lock is its session's, which ends with this block, or with the process.
        connection.execute(select(func.pg_advisory_lock(LOCK)))
        connection.commit()
        with _beating(application, between_beats):
            yield


@contextmanager
def _beating(application: Flask, seconds: float) -> Iterator[None]:
    """Beat beside what is done here: migrations of a large shop take minutes."""
    is_over = threading.Event()

    def beat_until_over() -> None:
        while not is_over.wait(seconds):
            try:
                with application.app_context(), transaction():
                    machines.beat(clock(), machine_id())
            except SQLAlchemyError as error:  # As long as the database has no machines.
                log.info("machine_not_noted", error=error_summary(error))

    thread = threading.Thread(target=beat_until_over, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
