"""What came of the faults that a run injected: a line of JSON for each number of tests/faults/README.md.

A test says by `@pytest.mark.fault("F01")` which faults it is about, and `injected_faults.injected()` notes each one the
moment it happens. A test of a fault that did not happen fails."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.injected_faults import FILE, moments, requests_in


@dataclass
class Row:
    """Of one fault, over all its tests."""

    tests: int = 0
    injected: int = 0
    healed: float = 0.0
    failed: bool = False
    survived: int = 0
    requests: int = 0
    failed_requests: int = 0

    def add(self, outcome: dict[str, Any]) -> None:
        self.tests += 1
        self.injected += outcome["injected"]
        self.healed = max(self.healed, outcome["healed"])
        self.requests += outcome["requests"][0]
        self.failed_requests += outcome["requests"][1]
        self.failed |= outcome["outcome"] == "failed"
        self.survived += outcome["outcome"] == "passed"

    @property
    def verdict(self) -> str:
        return "failed" if self.failed else "survived" if self.survived else "not tested"

    def line(self, fault: str) -> str:
        healed = round(self.healed, 2) if self.survived else None
        row = {"fault": fault, "injected": self.injected, "healed in s": healed, "verdict": self.verdict}
        requests = {"requests": self.requests, "of these failed": self.failed_requests} if self.requests else {}
        return json.dumps(row | {"tests": self.tests} | requests)


@dataclass(eq=False)
class FaultTable:
    """Counts in every worker, and adds up and prints in the process that gathers their reports."""

    rows: dict[str, Row] = field(default_factory=dict)

    def pytest_sessionstart(self) -> None:
        handle, name = tempfile.mkstemp(prefix="faults-")
        os.close(handle)
        self._file = Path(name)
        os.environ[FILE] = name

    def pytest_sessionfinish(self) -> None:
        self._file.unlink(missing_ok=True)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        self._file.write_text("")
        result = yield
        if _faults_of(item) and not moments(self._file)[0]:
            pytest.fail("The fault that this test is about did not happen.")
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
        report = yield
        faults = _faults_of(item)
        if faults and (call.when == "call" or not report.passed):
            count, last = moments(self._file) if call.when == "call" else (0, 0.0)
            healed = max(0.0, call.stop - last) if count else 0.0
            requests = requests_in(self._file) if call.when == "call" else (0, 0)
            report.faults = {
                "faults": faults,
                "injected": count,
                "healed": healed,
                "outcome": report.outcome,
                "requests": requests,
            }
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        outcome = getattr(report, "faults", None)
        for fault in outcome["faults"] if outcome else ():
            self.rows.setdefault(fault, Row()).add(outcome)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.rows:
            return
        terminalreporter.section("faults")
        for fault in sorted(self.rows):
            terminalreporter.write_line(self.rows[fault].line(fault))
        survived = sum(row.verdict == "survived" for row in self.rows.values())
        injections = sum(row.injected for row in self.rows.values())
        terminalreporter.write_line(f"{survived} of {len(self.rows)} faults survived, {injections:,} injections")


def _faults_of(item: pytest.Item) -> Sequence[str]:
    marker = item.get_closest_marker("fault")
    return list(marker.args) if marker else []
