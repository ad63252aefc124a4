"""One child process each: started, started again when it dies, stopped in time."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from app.config import READY
from app.operations.instance import CannotStart

PR_SET_PDEATHSIG = 1
STEADY_AFTER = 30.0  # Seconds that a part must run for its next death to count as the first.
LONGEST_PAUSE = 30.0
_libc = ctypes.CDLL(None)


def pause_before_restart(deaths_in_a_row: int) -> float:
    """Return the seconds before a restart: none at first, then ever more, so that a broken part does not keep the
    machine busy."""
    return 0.0 if deaths_in_a_row <= 1 else float(min(2.0 ** (deaths_in_a_row - 2), LONGEST_PAUSE))


@dataclass
class Part:
    """A child process: its program with arguments and environment, and its state. `handed_over` are the file
    descriptors that it inherits. A part that `reports` writes to a pipe when it is ready."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    handed_over: Sequence[int] = ()
    reports: bool = False
    process: subprocess.Popen[bytes] | None = None
    deaths_in_a_row: int = 0
    started_at: float = 0.0
    start_again_at: float | None = None
    _has_reported: bool = False
    _pipe: int | None = None

    def start(self) -> None:
        """Start the process. Raises CannotStart where there is no room for it, or its program cannot be run."""
        self.process, self.started_at = None, time.monotonic()
        try:
            with self._pipe_for_report() as (environment, handed_over):
                self.process = self._spawn(environment, handed_over)
        except OSError as error:
            raise CannotStart.because_of(error, f"The {self.name}") from error
        self.start_again_at = None

    def _spawn(self, environment: Mapping[str, str], handed_over: Sequence[int]) -> subprocess.Popen[bytes]:
        # A session of its own keeps Ctrl-C from reaching the part: the supervisor stops the parts in order.
        return subprocess.Popen(
            self.command,
            env=environment,
            start_new_session=True,
            preexec_fn=_die_with_parent,
            pass_fds=handed_over,
        )

    @contextmanager
    def _pipe_for_report(self) -> Iterator[tuple[Mapping[str, str], Sequence[int]]]:
        """Yield the environment and the descriptors of the process, among them a pipe where it reports."""
        self._forget_report()
        if not self.reports:
            yield self.environment, self.handed_over
            return
        self._pipe, write = os.pipe()
        try:
            yield {**self.environment, READY: str(write)}, [*self.handed_over, write]
        finally:
            os.close(write)

    @property
    def is_ready(self) -> bool:
        """Whether the part reported, since it was started, that it is ready."""
        if self._pipe is not None and not self._has_reported and select.select([self._pipe], [], [], 0)[0]:
            self._has_reported = os.read(self._pipe, 1) != b""  # Nothing: the process ended without a report.
        return self._has_reported

    def _forget_report(self) -> None:
        if self._pipe is not None:
            os.close(self._pipe)
        self._pipe, self._has_reported = None, False

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def tend(self) -> str | None:
        """Restart the part once it died and its pause is over; return a message for the operator where it has just
        died, or could not be started."""
        if self.running:
            return None
        if self.start_again_at is None:
            return self._note_death()
        if time.monotonic() >= self.start_again_at:
            return self._start_again()
        return None

    def _note_death(self) -> str:
        self._signal_group(signal.SIGKILL)  # A dead server's own workers would keep its port.
        return f"The {self.name} stopped ({self.ending}); it is started again {self._pause()}."

    def _start_again(self) -> str | None:
        """Start the part; a start that fails counts as one more death."""
        try:
            self.start()
        except CannotStart as trouble:
            return f"{trouble} The next try is {self._pause()}."
        return None

    def _pause(self) -> str:
        """Count a death, and return when the next start is."""
        now = time.monotonic()
        steady = now - self.started_at > STEADY_AFTER
        self.deaths_in_a_row = 1 if steady else self.deaths_in_a_row + 1
        pause = pause_before_restart(self.deaths_in_a_row)
        self.start_again_at = now + pause
        return f"in {pause:.0f} s" if pause else "now"

    @property
    def ending(self) -> str:
        """How the process ended."""
        return _ending(self.process.returncode if self.process else None)

    def ask_to_stop(self) -> None:
        if self.running and self.process:
            self.process.terminate()

    def drain(self) -> None:
        """Make a web server leave new connections to others and finish its requests."""
        if self.running and self.process:
            self.process.send_signal(signal.SIGUSR2)

    def force_to_stop(self) -> None:
        self._forget_report()
        if self.process:
            self._signal_group(signal.SIGKILL)
            self.process.wait()

    def _signal_group(self, number: int) -> None:
        assert self.process is not None
        try:
            os.killpg(self.process.pid, number)
        except (ProcessLookupError, PermissionError):
            return  # No process of its group is left.


def stop(parts: Sequence[Part], seconds: float) -> None:
    """Stop all parts together: signal each, wait for all, then force those that still run."""
    for part in parts:
        part.ask_to_stop()
    deadline = time.monotonic() + seconds
    while any(part.running for part in parts) and time.monotonic() < deadline:
        time.sleep(0.05)
    for part in parts:
        part.force_to_stop()


def _die_with_parent() -> None:
    """Make the child end with its parent, even with one that was killed. Runs in the child."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _ending(code: int | None) -> str:
    if code is None or code >= 0:
        return f"exit status {code}"
    named = {each.value: each.name for each in signal.Signals}  # Most real-time signals have no name.
    return f"killed by {named.get(-code, f'signal {-code}')}"
