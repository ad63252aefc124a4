"""What a run of the tests cost: how many there were, seconds, processor seconds, and where these went."""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from collections.abc import Generator
from typing import Any

import pytest

SLOWEST = 10
DEPTH = 3  # tests/domain/taxonomy counts with all that lies in it.
OUTPUT = "processor_seconds"


def processor_seconds() -> float:
    """Of this process and the children that it waited for."""
    return sum(os.times()[:4])


class Account:
    """Measures in every worker, and adds up and prints in the process that gathers their reports."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._since = 0.0
        self._is_last = False
        self._tests: Counter[str] = Counter()
        self._folders: defaultdict[str, float] = defaultdict(float)
        self._workers = 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, nextitem: pytest.Item | None) -> Generator[None, object, object]:
        self._since, self._is_last = processor_seconds(), nextitem is None
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
        report = yield
        now = processor_seconds()
        # With the last test all that tests shared ends, such as the database server, which is not the test's cost.
        report.processor_seconds = 0.0 if self._is_last and call.when == "teardown" else now - self._since
        self._since = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        folder = "/".join(report.nodeid.partition("::")[0].split("/")[:-1][:DEPTH])
        self._folders[folder] += getattr(report, "processor_seconds", 0.0)
        self._tests[folder] += report.when == "setup"

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[OUTPUT] = processor_seconds()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Called by xdist. A worker that crashed has no output."""
        self._workers += getattr(node, "workeroutput", {}).get(OUTPUT, 0.0)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        # Workers are children: waited for by now or not, they count once.
        own = os.times()
        processor = own.user + own.system + (self._workers or own.children_user + own.children_system)
        shared = processor - sum(self._folders.values())
        terminalreporter.section("account")
        terminalreporter.write_line(
            f"{self._tests.total()} tests, {time.monotonic() - self._started:.0f} s, {processor:.0f} processor seconds"
            f" ({shared:.0f} of them for collecting and for what tests share)"
        )
        for folder in sorted(self._folders, key=self._folders.__getitem__, reverse=True)[:SLOWEST]:
            terminalreporter.write_line(f"{self._folders[folder]:7.1f} s {self._tests[folder]:5} tests  {folder}")
