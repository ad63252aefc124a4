"""Child processes of a job: long work beside the scheduler, one at a time, which does not outlive it; and calls with a
time limit."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Any, NoReturn, Protocol, TypeVar

import structlog
from flask import Flask

from app.domain.alerts.alerts import write_unwritten
from app.extensions import db
from app.operations.storage import note_storage_fault
from app.transaction import transaction

PR_SET_PDEATHSIG = 1
SECONDS_TO_END = 6.0
SECONDS_TO_DIE = 1.0

log = structlog.get_logger()
T = TypeVar("T")


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
        signal.signal(signal.SIGTERM, _raise_exit)
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


def _raise_exit(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit("The scheduler is being stopped.")


def run_within(seconds: float, work: Callable[[], T]) -> T:
    """Return what `work` returns, or raise what it raises, from a child process, since it may never return, as reads of
    a mount whose server is gone. Raises TimeoutError when the limit passes; the child is killed then, and left behind
    should even that not end it. The caller must have no threads."""
    # Not a process of multiprocessing: work beside the scheduler may have none, and Python would wait for it at exit.
    receiver, sender = Pipe(duplex=False)
    with receiver:
        child = os.fork()
        if child == 0:
            _run_child(work, sender)
        sender.close()
        try:
            result: T = _receive_result(receiver, seconds)
            return result
        finally:
            _kill_child(child)


def end_with_parent(number: signal.Signals) -> None:
    """Have the system send this process a signal when its parent ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)


def _run_child(work: Callable[[], object], sender: Connection) -> NoReturn:
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        end_with_parent(signal.SIGKILL)
        sender.send(_run_to_outcome(work))
    finally:
        os._exit(0)  # What the parent has open, such as its database connection, is not for this process to close.


def _run_to_outcome(work: Callable[[], object]) -> tuple[object, Exception | None]:
    try:
        return work(), None
    except Exception as error:
        return None, error


def _receive_result(receiver: Connection, seconds: float) -> Any:
    if not receiver.poll(seconds):
        raise TimeoutError
    try:
        value, error = receiver.recv()
    except EOFError:
        raise RuntimeError("The child process ended without a result.") from None
    if error is not None:
        raise error
    return value


def _kill_child(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    watched = os.pidfd_open(child)
    try:
        wait([watched], SECONDS_TO_DIE)
    finally:
        os.close(watched)
    os.waitpid(child, os.WNOHANG)
