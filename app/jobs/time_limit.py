"""A time limit for calls that may never return, such as reads of a mount whose server is gone."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Any, NoReturn, TypeVar

PR_SET_PDEATHSIG = 1
SECONDS_TO_DIE = 1.0
T = TypeVar("T")


def run_within(seconds: float, work: Callable[[], T]) -> T:
    """Return what `work` returns, or raise what it raises, from a child process. Raises TimeoutError when the limit
    passes; the child is killed then, and left behind should even that not end it. The caller must have no threads."""
    # Not a process of multiprocessing: work beside the scheduler may have none, and Python would wait for it at exit.
    receiver, sender = Pipe(duplex=False)
    with receiver:
        child = os.fork()
        if child == 0:
            _run_child(work, sender)
        sender.close()
        try:
            result: T = _result(receiver, seconds)
            return result
        finally:
            _kill(child)


def end_with_parent(number: signal.Signals) -> None:
    """Have the system send this process a signal when its parent ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)


def _run_child(work: Callable[[], object], sender: Connection) -> NoReturn:
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        end_with_parent(signal.SIGKILL)
        sender.send(_outcome(work))
    finally:
        os._exit(0)  # What the parent has open, such as its database connection, is not for this process to close.


def _outcome(work: Callable[[], object]) -> tuple[object, Exception | None]:
    try:
        return work(), None
    except Exception as error:
        return None, error


def _result(receiver: Connection, seconds: float) -> Any:
    if not receiver.poll(seconds):
        raise TimeoutError
    try:
        value, error = receiver.recv()
    except EOFError:
        raise RuntimeError("The child process ended without a result.") from None
    if error is not None:
        raise error
    return value


def _kill(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    watched = os.pidfd_open(child)
    try:
        wait([watched], SECONDS_TO_DIE)
    finally:
        os.close(watched)
    os.waitpid(child, os.WNOHANG)
