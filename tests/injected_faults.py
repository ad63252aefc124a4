"""The note of each fault that a test injects, in whatever process, with its moment. It needs no pytest, since processes
that a test starts and benchmarks inject faults, too."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

FILE = "INJECTED_FAULTS"  # Processes that a test starts inherit the name of the file.
# Lines of strace, which begin with a process and a time: a call that it made fail, and a process that it killed.
_TRACED = re.compile(r"^(?:\d+ +)?([\d.]+) (?:.*\(INJECTED\)|(\+\+\+ killed by SIG\w+ \+\+\+))$", re.MULTILINE)


def injected(times: int = 1) -> None:
    """Note that a fault happens now."""
    _note(f"{times} {time.time()}")


def requested(times: int, failed: int) -> None:
    """Note how many requests were made while a fault happened, and how many of them failed."""
    _note(f"requests {times} {failed}")


def injects(trace: Path) -> None:
    """Note that strace injects faults, which it writes to that file with their times (-ttt)."""
    _note(f"strace {trace}")


def _note(line: str) -> None:
    if file := os.environ.get(FILE):
        with open(file, "a") as lines:
            lines.write(f"{line}\n")


def requests_in(file: Path) -> tuple[int, int]:
    """How many requests were noted, and how many of them failed."""
    noted = [line.split()[1:] for line in file.read_text().splitlines() if line.startswith("requests ")]
    return sum(int(made) for made, _ in noted), sum(int(failed) for _, failed in noted)


def moments(file: Path) -> tuple[int, float]:
    """How many faults were injected, and when the last of them was; at 0 where there was none."""
    count, last = 0, 0.0
    for line in file.read_text().splitlines():
        kind, rest = line.split(" ", 1)
        if kind == "requests":
            continue
        more, at = _traced(Path(rest)) if kind == "strace" else (int(kind), float(rest))
        count, last = count + more, max(last, at)
    return count, last


def _traced(trace: Path) -> tuple[int, float]:
    found = _TRACED.findall(trace.read_text()) if trace.exists() else []
    # A process that is killed takes all its threads along, each with a line.
    count = sum(not killed for _, killed in found) or min(1, len(found))
    return count, max((float(at) for at, _ in found), default=0.0)
