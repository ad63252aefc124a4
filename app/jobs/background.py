"""Long work beside the scheduler: a process of its own, one at a time, that does not outlive it."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Protocol

import structlog
from flask import Flask

from app.domain.alerts.alerts import write_unwritten
from app.extensions import db
from app.jobs.time_limit import end_with_parent
from app.operations.storage import note_storage_fault
from app.transaction import transaction

SECONDS_TO_END = 6.0
SECONDS_TO_DIE = 1.0

log = structlog.get_logger()


class Stoppable(Protocol):
    """A process of multiprocessing, as far as stopping it needs."""

    @property
    def name(self) -> str: ...

    @property
    def pid(self) -> int | None: ...

    def terminate(self) -> None: ...

    def kill(self) -> None: ...

    def join(self, timeout: float) -> None: ...

    def is_alive(self) -> bool: ...


class BackgroundProcess:
    """A process for work beside the scheduler, one at a time. It is forked, since the application is loaded already;
    the caller must have no threads."""

    def __init__(self, application: Flask) -> None:
        self._application = application
        self._process: BaseProcess | None = None

    def begin(self, name: str, work: Callable[[], object]) -> bool:
        """Begin the work; return False while earlier work goes on."""
        if self._process is not None and self._process.is_alive():
            return False
        context = multiprocessing.get_context("fork")
        self._process = context.Process(target=self._run, args=(name, work), name=name, daemon=True)
        self._process.start()
        return True

    def end(self) -> bool:
        """End the work: request its end and wait, then force it; False when it could not be ended."""
        return self._process is None or end_process(self._process)

    def _run(self, name: str, work: Callable[[], object]) -> None:
        end_with_parent(signal.SIGTERM)
        signal.signal(signal.SIGTERM, _stop)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with self._application.app_context(), structlog.contextvars.bound_contextvars(job=name, pid=os.getpid()):
            db.engine.dispose(close=False)  # The parent's connections must not be used by two processes.
            try:
                work()
            except Exception as error:
                if not note_storage_fault(error):
                    log.exception("job_failed")
                raise SystemExit(1) from None
            finally:
                write_unwritten(transaction)  # The memory of this process, which holds them, ends with the work.


def end_process(process: Stoppable) -> bool:
    """End a process; False when even SIGKILL does not end it: the system keeps a process that waits for a device until
    it answers."""
    process.terminate()
    process.join(SECONDS_TO_END)
    process.kill()
    process.join(SECONDS_TO_DIE)
    if is_left := process.is_alive():
        log.error("job_left_behind", job=process.name, process=process.pid)
    return not is_left


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit("The scheduler is being stopped.")
