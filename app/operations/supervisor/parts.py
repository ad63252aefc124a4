"""The parts of the shop that run: child processes, each started, started again when it dies, and stopped in time; the
crew of them all; and the release that they run. One release takes over from another while requests are answered.

The folder of a release may be a link, such as /opt/shop/current, which leads to another release after an upgrade: it is
resolved once for all parts, so that none of them mixes two."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from app.config import LISTENER, MEMORY, READY, Config
from app.operations.instance import CannotStart

PR_SET_PDEATHSIG = 1
STEADY_AFTER = 30.0  # Seconds that a part must run for its next death to count as the first.
LONGEST_PAUSE = 30.0
SECONDS_TO_ANSWER = 60.0
SECONDS_TO_STOP = 8.0
SECONDS_TO_DRAIN = 40.0  # A little longer than a web server takes at most.
FOLDER = Path(__file__).absolute().parents[3]  # With its links unresolved: they may lead elsewhere later.
PYTHON = Path(sys.executable)
WITHOUT_SURFACES = "app:create_app(surfaces=False)"
# The outcomes of a release's preparation: the exit statuses of its process.
PREPARED = 0
FAILED = 1
PREPARED_WITH_DEMO = 10
NEEDS_A_STOP = 11
REFUSED = 12  # Another machine runs beside which this one cannot.
_libc = ctypes.CDLL(None)


def pause_before_restart(deaths_in_a_row: int) -> float:
    """Return the seconds before a restart: none at first, then ever more, so that a broken part does not keep the
    machine busy."""
    return 0.0 if deaths_in_a_row <= 1 else float(min(2.0 ** (deaths_in_a_row - 2), LONGEST_PAUSE))


@dataclass
class Part:
    """A child process: its program with arguments and environment, the file descriptors that it inherits, and its
    state. A part that `reports` writes to a pipe when it is ready."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    inherited_descriptors: Sequence[int] = ()
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
            with self._pipe_for_report() as (environment, inherited_descriptors):
                self.process = self._spawn(environment, inherited_descriptors)
        except OSError as error:
            raise CannotStart.because_of(error, f"The {self.name}") from error
        self.start_again_at = None

    def _spawn(self, environment: Mapping[str, str], inherited_descriptors: Sequence[int]) -> subprocess.Popen[bytes]:
        # A session of its own keeps Ctrl-C from reaching the part: the supervisor stops the parts in order.
        return subprocess.Popen(
            self.command,
            env=environment,
            start_new_session=True,
            preexec_fn=_die_with_parent,
            pass_fds=inherited_descriptors,
        )

    @contextmanager
    def _pipe_for_report(self) -> Iterator[tuple[Mapping[str, str], Sequence[int]]]:
        """Yield the environment and the descriptors of the process, among them a pipe where it reports."""
        self._forget_report()
        if not self.reports:
            yield self.environment, self.inherited_descriptors
            return
        self._pipe, write = os.pipe()
        try:
            yield {**self.environment, READY: str(write)}, [*self.inherited_descriptors, write]
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

    def supervise(self) -> str | None:
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

    def terminate(self) -> None:
        if self.running and self.process:
            self.process.terminate()

    def drain(self) -> None:
        """Make a web server leave new connections to others and finish its requests."""
        if self.running and self.process:
            self.process.send_signal(signal.SIGUSR2)

    def kill(self) -> None:
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
        part.terminate()
    deadline = time.monotonic() + seconds
    while any(part.running for part in parts) and time.monotonic() < deadline:
        time.sleep(0.05)
    for part in parts:
        part.kill()


def _die_with_parent() -> None:
    """Make the child end with its parent, even with one that was killed. Runs in the child."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _ending(code: int | None) -> str:
    if code is None or code >= 0:
        return f"exit status {code}"
    named = {each.value: each.name for each in signal.Signals}  # Most real-time signals have no name.
    return f"killed by {named.get(-code, f'signal {-code}')}"


class Crew:
    """The parts of the running shop. `lasting` parts are those that a release does not replace; `draining` ones finish
    what they began."""

    def __init__(self, drain_seconds: int = 0) -> None:
        self._drain_seconds = drain_seconds
        self.lasting: list[Part] = []
        self.web: list[Part] = []
        self.others: list[Part] = []
        self._draining: list[tuple[Part, float]] = []

    def supervise(self) -> None:
        """Wait for a moment, restart parts that died, and end draining ones that are finished or late."""
        time.sleep(0.1)
        for part in (*self.lasting, *self.web, *self.others):
            if news := part.supervise():
                say(news)
        now = time.monotonic()
        for part, _ in [each for each in self._draining if not each[0].running or now > each[1]]:
            part.kill()
        self._draining = [each for each in self._draining if each[0].running]

    def stop(self) -> None:
        parts = [*self.web, *self.others, *(part for part, _ in self._draining)]
        stop(parts, SECONDS_TO_STOP + self._drain_seconds)

    def start_first(self, web: Sequence[Part], others: Sequence[Part]) -> None:
        """Start all parts, the first web server alone at first: all at once would keep each other from loading. Raises
        CannotStart."""
        first, *rest = web
        start([first], self.web)
        if not self._are_ready([first], restarted=True):
            raise CannotStart("The web server does not answer; the reason stands above.")
        start(rest, self.web)
        start(others, self.others)

    def take_over(self, web: Sequence[Part], make_others: Callable[[], Sequence[Part]]) -> bool:
        """Start new web servers beside the old ones, then drain the old ones; of the other parts, for which no request
        waits, the old ones end before the new ones start. Returns False when the new web servers do not become ready,
        and raises CannotStart when a part cannot be started: then the old ones go on, and those of the other parts that
        ended already are started again as they are supervised."""
        fresh_web: list[Part] = []
        fresh_others: list[Part] = []
        old_web = self.web
        try:
            start(web, fresh_web)
            if not self._are_ready(fresh_web, restarted=False):
                return False
            stop(self.others, SECONDS_TO_STOP)
            start(make_others(), fresh_others)
            self.web, self.others, fresh_web, fresh_others = fresh_web, fresh_others, [], []
        finally:
            stop([*fresh_web, *fresh_others], SECONDS_TO_STOP + self._drain_seconds)
        self._drain(old_web)
        return True

    def _drain(self, web: Sequence[Part]) -> None:
        deadline = time.monotonic() + SECONDS_TO_DRAIN
        for part in web:
            part.drain()
            self._draining.append((part, deadline))

    def prepare(self, preparing: Part) -> int:
        """Run the preparation of a release to its end, and return the exit status of that process. Raises
        CannotStart."""
        preparing.start()
        try:
            while preparing.running:
                self.supervise()
        finally:
            stop([preparing], SECONDS_TO_STOP)
        status = preparing.process.returncode if preparing.process else FAILED
        if status not in (PREPARED, PREPARED_WITH_DEMO, NEEDS_A_STOP, REFUSED):
            say(f"The {preparing.name} stopped ({preparing.ending}).")  # One that was killed said nothing itself.
        return status

    def _are_ready(self, parts: Sequence[Part], restarted: bool) -> bool:
        deadline = time.monotonic() + SECONDS_TO_ANSWER
        while not all(part.is_ready for part in parts):
            if time.monotonic() > deadline or not (restarted or all(part.running for part in parts)):
                return False
            self.supervise()
        return True


def start(parts: Iterable[Part], among: list[Part]) -> None:
    """Start the parts and put them `among` others, also one that cannot be started. Raises CannotStart."""
    for part in parts:
        among.append(part)
        part.start()


def say(news: str, to: TextIO | None = None) -> None:
    """Print news for the operator. A log that takes none, such as one on a full disk, must not end the shop."""
    with suppress(OSError):
        print(news, file=to or sys.stderr, flush=True)


@dataclass(frozen=True, slots=True)
class Release:
    folder: Path
    python: str
    environment: Mapping[str, str]

    def web_servers(self, config: Config, listener: int, memory: int) -> list[Part]:
        environment = {**self.environment, LISTENER: str(listener), MEMORY: str(memory)}
        command, inherited = [self.python, "-m", "app.web.server"], [listener, memory]
        numbers = range(1, config.web_workers + 1)
        return [Part(f"web server {number}", command, environment, inherited, reports=True) for number in numbers]

    def others(self, mcp_listener: int | None, memory: int) -> list[Part]:
        worker, flask = str(self.folder / "worker.py"), ("-m", "flask", "--app", WITHOUT_SURFACES)
        parts = [
            Part("worker", [self.python, worker, "default"], self.environment),
            Part("rebuild worker", [self.python, worker, "builds"], self.environment),
            Part("scheduler", [self.python, *flask, "scheduler"], self.environment),
        ]
        if mcp_listener is not None:
            command = [self.python, "-m", "app.mcp", "--fd", str(mcp_listener)]
            environment = {**self.environment, MEMORY: str(memory)}
            parts.append(Part("MCP server", command, environment, [mcp_listener, memory]))
        return parts

    def preparation(self, *options: str) -> Part:
        return Part(
            "preparation", [self.python, "-m", "app.operations.supervisor.preparation", *options], self.environment
        )


def current_release() -> Release:
    """Return the release that is in place now. Raises CannotStart where its link leads to itself."""
    try:
        folder = FOLDER.resolve()
        # The program itself may be a link out of the environment, which Python finds by the folder it is called in.
        python = PYTHON.parent.resolve() / PYTHON.name
    except RuntimeError as error:
        raise CannotStart(f"The link {FOLDER} leads in a circle: let it lead to a release.") from error
    return Release(folder, str(python), {**os.environ, "PYTHONPATH": str(folder)})
