"""A search engine in whose builds something happens at one step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

from app.domain.search.engine import Change, Generation, IndexDocument, IndexName, SearchEngine


class Interrupted:
    """The real engine, with something happening at one step of a build."""

    def __init__(self, engine: SearchEngine, step: str, happen: Callable[[], object], nth: int = 1) -> None:
        self._engine = engine
        self.step = step
        self.happen = happen
        self._nth = nth

    def __getattr__(self, name: str) -> object:
        return getattr(self._engine, name)

    def reach(self, step: str) -> None:
        if step != self.step:
            return
        self._nth -= 1
        if not self._nth:
            self.step = "passed"
            self.happen()

    def start_generation(self, site_id: int, index: IndexName, *, by_meaning: bool = True) -> Generation:
        self.reach("start")
        return InterruptedGeneration(self, self._engine.start_generation(site_id, index, by_meaning=by_meaning))

    def exclusive(self, site_id: int, index: IndexName) -> AbstractContextManager[None]:
        self.reach("lock")
        return self._engine.exclusive(site_id, index)

    @contextmanager
    def together(self, site_id: int, indexes: Sequence[IndexName]) -> Iterator[None]:
        with self._engine.together(site_id, indexes):
            yield
        self.reach("swapped")


class InterruptedGeneration:
    def __init__(self, interrupted: Interrupted, generation: Generation) -> None:
        self._interrupted = interrupted
        self._generation = generation

    def __getattr__(self, name: str) -> object:
        return getattr(self._generation, name)

    def add(self, documents: Iterable[IndexDocument]) -> None:
        self._interrupted.reach("add")
        self._generation.add(documents)
        self._interrupted.reach("added")

    def seal(self) -> int:
        count = self._generation.seal()
        self._interrupted.reach("sealed")
        return count

    def replay(self, changes: Sequence[Change]) -> None:
        self._interrupted.reach("replay")
        self._generation.replay(changes)

    def publish(self) -> None:
        self._interrupted.reach("publish")
        self._generation.publish()
