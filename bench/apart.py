"""A step in a process of its own, so that its peak of memory is its own."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app import create_app
from app.config import from_environment
from bench.measuring import seconds


@dataclass(frozen=True, slots=True)
class Step:
    """A step that was done: its seconds, the most megabytes that its process had, and what it returned."""

    seconds: float
    peak: float
    result: Any


def apart(environment: Mapping[str, str], work: Callable[[], object]) -> Step:
    """Do the work, which must be a module's function with its arguments, in a process with the application of these
    settings."""
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    child = context.Process(target=_measured, args=(dict(environment), work, sending))
    child.start()
    sending.close()
    try:
        step: Step = receiving.recv()
    except EOFError:
        raise SystemExit("The process that was measured failed; what it said stands above.") from None
    finally:
        child.join()
    return step


def _measured(environment: Mapping[str, str], work: Callable[[], object], sending: Any) -> None:
    results: list[object] = []
    with create_app(from_environment(environment)).app_context():
        took = seconds(lambda: results.append(work()))
    sending.send(Step(took, _peak_megabytes(), results[0]))


def _peak_megabytes() -> float:
    """Of this process alone; `getrusage` would count the one that started it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
