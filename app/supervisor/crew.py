"""All parts of the shop that run, and how one release takes over from another while requests are answered."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TextIO

from app.operations.instance import CannotStart
from app.supervisor.outcomes import FAILED, NEEDS_A_STOP, READY, READY_WITH_DEMO
from app.supervisor.parts import Part, stop

SECONDS_TO_ANSWER = 60.0
SECONDS_TO_STOP = 8.0
SECONDS_TO_DRAIN = 40.0  # A little longer than a web server takes at most.


class Crew:
    """The parts of the running shop. `lasting` parts are those that a release does not replace; `draining` ones finish
    what they began."""

    def __init__(self) -> None:
        self.lasting: list[Part] = []
        self.web: list[Part] = []
        self.others: list[Part] = []
        self._draining: list[tuple[Part, float]] = []

    def tend(self) -> None:
        """Wait for a moment, restart parts that died, and end draining ones that are finished or late."""
        time.sleep(0.1)
        for part in (*self.lasting, *self.web, *self.others):
            if news := part.tend():
                say(news)
        now = time.monotonic()
        for part, _ in [each for each in self._draining if not each[0].running or now > each[1]]:
            part.force_to_stop()
        self._draining = [each for each in self._draining if each[0].running]

    def stop(self) -> None:
        stop([*self.web, *self.others, *(part for part, _ in self._draining)], SECONDS_TO_STOP)

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
        ended already are started again as they are tended."""
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
            stop([*fresh_web, *fresh_others], SECONDS_TO_STOP)
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
                self.tend()
        finally:
            stop([preparing], SECONDS_TO_STOP)
        status = preparing.process.returncode if preparing.process else FAILED
        if status not in (READY, READY_WITH_DEMO, NEEDS_A_STOP):
            say(f"The {preparing.name} stopped ({preparing.ending}).")  # One that was killed said nothing itself.
        return status

    def _are_ready(self, parts: Sequence[Part], restarted: bool) -> bool:
        deadline = time.monotonic() + SECONDS_TO_ANSWER
        while not all(part.is_ready for part in parts):
            if time.monotonic() > deadline or not (restarted or all(part.running for part in parts)):
                return False
            self.tend()
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
