"""Processes of a shop under test. Most are forks (tests/forks.py)."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from itertools import count
from multiprocessing.process import BaseProcess
from pathlib import Path

from tests.faults import act
from tests.forks import fork
from tests.injected_faults import injects
from tests.waiting import until

PR_SET_PTRACER, ANYBODY = 0x59616D61, ctypes.c_ulong(-1)
_numbers = count(1)


class Deed:
    """A running process. What it says goes to a file, so that it stays when the process is killed."""

    def __init__(self, process: BaseProcess, output: Path) -> None:
        self._process = process
        self._output = output
        self._read = 0
        self._tracer: subprocess.Popen[bytes] | None = None

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
        return self._process.exitcode is None

    def line(self) -> str:
        """The next thing it says."""
        until(lambda: len(self.said) > self._read)
        self._read += 1
        return self.said[self._read - 1]

    def finish(self, seconds: float = 60) -> int:
        """Its exit status, negative for the signal that ended it."""
        self._process.join(seconds)
        assert self._process.exitcode is not None, "waited in vain"
        return self._process.exitcode

    def signal(self, name: str) -> None:
        os.kill(self.pid, signal.Signals[f"SIG{name}"])

    def until_stopped(self) -> None:
        """Waits for a process that stops itself, as SIGSTOP does."""
        until(lambda: _state(self.pid) == "T")

    def trace(self, strace: Sequence[str], messages: Path) -> None:
        """Have strace interfere with a process that waits for it stopped."""
        self.until_stopped()
        command = ["strace", "-f", "-p", str(self.pid), *strace]
        if "-o" not in strace:
            injections = messages.with_suffix(".injections")
            injects(injections)
            command += ["-ttt", "-o", str(injections)]
        with messages.open("wb") as log:
            self._tracer = subprocess.Popen(command, stderr=log)
        until(lambda: f"Process {self.pid} attached" in messages.read_text())
        self.signal("CONT")

    def end(self) -> None:
        """Whatever it is doing, and reap it."""
        if self.is_running:
            self.signal("KILL")
        if self._tracer:
            self._tracer.wait()
        self._process.join()
        self._process.close()


def do(deed: Sequence[str], folder: Path, environment: Mapping[str, str], strace: Sequence[str] = ()) -> Deed:
    """A deed of tests/faults/act.py, whose system calls strace makes fail."""
    output = _output(folder)
    function = _act_when_traced if strace else act.main
    process = fork(function, deed, folder=folder, environment=environment, output=output, errors=folder / "errors.log")
    started = Deed(process, output)
    if strace:
        started.trace(strace, output.with_suffix(".strace"))
    return started


def _act_when_traced(deed: Sequence[str]) -> None:
    ctypes.CDLL(None).prctl(PR_SET_PTRACER, ANYBODY)  # Some systems allow only a parent to trace.
    os.kill(os.getpid(), signal.SIGSTOP)
    act.main(deed)


def _output(folder: Path) -> Path:
    output = folder / f"said-{next(_numbers)}.txt"
    output.touch()
    return output


def has_ended(pid: int) -> bool:
    """Whether a process is gone, or waits for nothing but to be reaped."""
    try:
        return _state(pid) in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
