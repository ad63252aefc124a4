"""All parts of the shop that run, and how one release takes over from another while requests are answered."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence

from app.instance_claim import CannotStart
from app.supervisor.outcomes import FAILED
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
        waits, the old ones end before the new ones start. Returns False, and leaves the old ones running, when the new
        web servers do not become ready."""
        fresh: list[Part] = []
        old_web, old_others = self.web, self.others
        try:
            start(web, fresh)
            if not self._are_ready(fresh, restarted=False):
                return False
            self.web, fresh = fresh, []
        finally:
            stop(fresh, SECONDS_TO_STOP)
        deadline = time.monotonic() + SECONDS_TO_DRAIN
        for part in old_web:
            part.drain()
            self._draining.append((part, deadline))
        stop(old_others, SECONDS_TO_STOP)
        self.others = []
        start(make_others(), self.others)
        return True

    def prepare(self, preparing: Part) -> int:
        """Run the preparation of a release to its end, and return the exit status of that process."""
        preparing.start()
        try:
            while preparing.running:
                self.tend()
        finally:
            stop([preparing], SECONDS_TO_STOP)
        return preparing.process.returncode if preparing.process else FAILED

    def _are_ready(self, parts: Sequence[Part], restarted: bool) -> bool:
        deadline = time.monotonic() + SECONDS_TO_ANSWER
        while not all(part.is_ready for part in parts):
            if time.monotonic() > deadline or not (restarted or all(part.running for part in parts)):
                return False
            self.tend()
        return True


def start(parts: Iterable[Part], among: list[Part]) -> None:
    for part in parts:
        among.append(part)
        part.start()


def say(news: str) -> None:
    print(news, file=sys.stderr, flush=True)
