"""Processes of a shop under test. Most are forked from one that has loaded the application already: a second saved
for each, which many tests make minutes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from multiprocessing.process import BaseProcess
from pathlib import Path

from tests.surroundings import ROOT

MODULE = "tests.faults.act"
_numbers = count(1)


class Deed:
    """A running process. What it says goes to a file, so that it stays when the process is killed."""

    def __init__(self, process: BaseProcess | subprocess.Popen[bytes], output: Path) -> None:
        self._process = process
        self._output = output
        self._read = 0

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def said(self) -> list[str]:
        """Every whole line so far."""
        return self._output.read_text().split("\n")[:-1]

    @property
    def is_running(self) -> bool:
        return self._status() is None

    def _status(self) -> int | None:
        return self._process.poll() if isinstance(self._process, subprocess.Popen) else self._process.exitcode

    def line(self) -> str:
        """The next thing it says."""
        until(lambda: len(self.said) > self._read)
        self._read += 1
        return self.said[self._read - 1]

    def finish(self, seconds: float = 60) -> int:
        """Its exit status, negative for the signal that ended it."""
        until(lambda: not self.is_running, seconds)
        status = self._status()
        assert status is not None
        return status

    def signal(self, name: str) -> None:
        os.kill(self.pid, signal.Signals[f"SIG{name}"])

    def until_stopped(self) -> None:
        """Waits for a process that stops itself, as SIGSTOP does."""
        until(lambda: _state(self.pid) == "T")

    def end(self) -> None:
        """Whatever it is doing, and reap it."""
        if self.is_running:
            self.signal("KILL")
        if isinstance(self._process, subprocess.Popen):
            self._process.wait()
        else:
            self._process.join()
            self._process.close()


def run_program(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Deed:
    output = _output(folder)
    with output.open("wb") as said, (folder / "errors.log").open("ab") as errors:
        return Deed(subprocess.Popen(command, cwd=folder, env=environment, stdout=said, stderr=errors), output)


def do(deed: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Deed:
    """A deed of tests/faults/act.py."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([MODULE])
    output = _output(folder)
    with _importable():
        process = context.Process(target=_become, args=(deed, folder, dict(environment), output))
        process.start()
    return Deed(process, output)


def traced(deed: Sequence[str], folder: Path, environment: Mapping[str, str], strace: Sequence[str]) -> Deed:
    """A deed whose system calls are made to fail."""
    tracer = ["strace", "-f", "-qq", "-o", os.devnull, *strace]
    return run_program([*tracer, sys.executable, "-m", MODULE, *deed], folder, environment)


def until(condition: Callable[[], object], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


class _importable:
    """The server of forks is started with the first deed and finds the tests by this."""

    def __enter__(self) -> None:
        self._before = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = str(ROOT)

    def __exit__(self, *_error: object) -> None:
        if self._before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = self._before


def _become(deed: Sequence[str], folder: Path, environment: dict[str, str], output: Path) -> None:
    """Runs in the fork: takes on the folder, the environment and the outputs of a program."""
    from tests.faults import act

    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    os.dup2(os.open(output, os.O_WRONLY | os.O_APPEND), 1)
    os.dup2(os.open(folder / "errors.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT), 2)
    act.main(list(deed))


def _output(folder: Path) -> Path:
    output = folder / f"said-{next(_numbers)}.txt"
    output.touch()
    return output


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
