"""A part that dies is started again; one that is told to stop stops, or is made to."""

import os
import signal
import sys
import time

import pytest

from app.supervisor.parts import Part, pause_before_restart, stop


def part(code: str, *arguments: str) -> Part:
    return Part("part", [sys.executable, "-c", code, *arguments], dict(os.environ))


def until(condition, seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


SLEEPING = "import time; time.sleep(600)"
DEAF = "import os, signal, sys, time; signal.signal(15, signal.SIG_IGN); open(sys.argv[1], 'w'); time.sleep(600)"


@pytest.mark.parametrize(("deaths", "seconds"), [(1, 0), (2, 1), (3, 2), (4, 4), (50, 30)])
def test_pauses_grow_but_end(deaths: int, seconds: float) -> None:
    assert pause_before_restart(deaths) == seconds


def test_a_part_that_was_killed_runs_again() -> None:
    sleeper = part(SLEEPING)
    sleeper.start()
    first = sleeper.process.pid
    os.kill(first, signal.SIGKILL)
    until(lambda: not sleeper.running)
    assert "killed by SIGKILL" in sleeper.tend()
    sleeper.tend()
    assert sleeper.running
    assert sleeper.process.pid != first
    stop([sleeper], 5)


def test_a_part_that_keeps_dying_is_not_started_at_once_again() -> None:
    broken = part("raise SystemExit(3)")
    broken.start()
    until(lambda: not broken.running)
    assert "exit status 3" in broken.tend()
    broken.tend()
    until(lambda: not broken.running)
    assert "started again in 1 s" in broken.tend()
    broken.tend()
    assert not broken.running


def test_stopping_waits_for_those_that_end_by_themselves() -> None:
    sleepers = [part(SLEEPING), part(SLEEPING)]
    for sleeper in sleepers:
        sleeper.start()
    stop(sleepers, 5)
    assert [sleeper.process.returncode for sleeper in sleepers] == [-signal.SIGTERM, -signal.SIGTERM]


def test_stopping_forces_those_that_do_not_listen(tmp_path) -> None:
    is_deaf = tmp_path / "deaf"
    deaf = part(DEAF, str(is_deaf))
    deaf.start()
    until(is_deaf.exists)
    stop([deaf], 0.2)
    assert deaf.process.returncode == -signal.SIGKILL


def test_what_was_never_started_can_be_stopped() -> None:
    stop([part(SLEEPING)], 1)
