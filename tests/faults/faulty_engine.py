"""The real engine, with a fault at one point of its work, in whatever process it runs."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from app.domain.search.engine import (
    Change,
    Generation,
    IndexDocument,
    IndexName,
    SearchEngine,
    Searching,
)
from tests.injected_faults import injected

POINTS = ("start", "started", "added", "sealed", "exclusive", "publish", "published", "discard")


def fault(description: str) -> Callable[[], None]:
    """`KILL` and `STOP` send the process that signal; a number is seconds to dawdle."""
    if description.isdigit():
        return lambda: time.sleep(int(description))
    return lambda: os.kill(os.getpid(), signal.Signals[f"SIG{description}"])


class FaultyEngine:
    """`plan` is `point:fault`, as in `sealed:KILL`; the fault happens the first time the point is reached."""

    def __init__(self, engine: SearchEngine, plan: str) -> None:
        self._engine = engine
        self._point, _, description = plan.partition(":")
        self._happen = fault(description)

    def plan(self, point: str, happen: Callable[[], None]) -> None:
        self._point, self._happen = point, happen

    def __getattr__(self, name: str) -> object:
        return getattr(self._engine, name)

    def reach(self, point: str) -> None:
        if point == self._point:
            self._point = ""
            injected()
            self._happen()

    def apply(self, site_id: int, index: IndexName, changes: Sequence[Change]) -> None:
        self.reach("apply")
        self._engine.apply(site_id, index, changes)
        self.reach("applied")

    @contextmanager
    def exclusive(self, site_id: int, index: IndexName) -> Iterator[None]:
        with self._engine.exclusive(site_id, index):
            self.reach("exclusive")
            yield

    def start_generation(self, site_id: int, index: IndexName, *, by_meaning: bool = True) -> Generation:
        self.reach("start")
        generation = self._engine.start_generation(site_id, index, by_meaning=by_meaning)
        self.reach("started")
        return FaultyGeneration(self, generation)


class FaultyGeneration:
    def __init__(self, engine: FaultyEngine, generation: Generation) -> None:
        self._engine = engine
        self._generation = generation

    def add(self, documents: Iterable[IndexDocument]) -> None:
        self._generation.add(documents)
        self._engine.reach("added")

    def seal(self) -> int:
        count = self._generation.seal()
        self._engine.reach("sealed")
        return count

    def preview(self) -> Searching:
        return self._generation.preview()

    def prepare(self, changes: Iterable[Change]) -> None:
        self._generation.prepare(changes)

    def replay(self, changes: Sequence[Change]) -> None:
        self._generation.replay(changes)

    def publish(self) -> None:
        self._engine.reach("publish")
        self._generation.publish()
        self._engine.reach("published")

    def discard(self) -> None:
        self._engine.reach("discard")
        self._generation.discard()
