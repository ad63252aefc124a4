"""Calls that may never return get a time limit."""

from __future__ import annotations

import os
import signal

import pytest

from app.domain.alerts.safeguards import NoSecureConnection
from app.jobs.time_limit import run_within


def test_what_ends_in_time_gives_its_result() -> None:
    assert run_within(10, lambda: "found") == "found"


@pytest.mark.parametrize("error", [FileNotFoundError(2, "No such file"), NoSecureConnection("refused")])
def test_what_it_raises_is_raised_here(error: Exception) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(type(error)) as raised:
        run_within(10, fail)
    assert raised.value.args == error.args


def test_a_process_that_dies_is_no_result() -> None:
    with pytest.raises(RuntimeError, match="without a result"):
        run_within(10, lambda: os._exit(1))


def test_what_never_ends_is_killed_at_the_limit() -> None:
    """The pipe ends once no process has it open for writing any more."""
    reading, writing = os.pipe()
    with pytest.raises(TimeoutError):
        run_within(0.02, signal.pause)
    os.close(writing)
    os.set_blocking(reading, False)
    assert os.read(reading, 1) == b""
    os.close(reading)
