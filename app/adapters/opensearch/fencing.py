"""The fence of an index: whoever writes has a token, and a writer that was overtaken by a later one neither leaves an
old state behind nor believes that it wrote.

Tokens are numbers that only grow. They lie in the cluster, beside the documents that carry them as their versions, so
that neither a restored database nor a lost queue makes them begin anew. See docs/adr/0067-an-index-on-a-cluster.md.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from app.adapters.opensearch.cluster import Cluster
from app.adapters.opensearch.mapping import Body
from app.domain.search.engine import EngineFault, IndexName, SearchUnavailable

OVERTAKEN = "Another process took over the work on the index. What this one had to do is done anew."
WriteLock = Callable[[str], AbstractContextManager[None]]


class Names:
    """The names that a shop's indices and aliases have in the cluster, each with the shop's prefix. Aliases have
    letters that no name of an index may have: a write through one that is gone fails, where the cluster would else
    make an index of its name."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    @property
    def fences(self) -> str:
        return f"{self._prefix}-fences"

    def of(self, site_id: int, index: IndexName) -> str:
        return f"{self._prefix}-{site_id}-{index.value}"

    def live(self, site_id: int, index: IndexName) -> str:
        """The alias of the live generation."""
        return f"{self.of(site_id, index)}-LIVE"

    def generation(self, site_id: int, index: IndexName, name: str) -> str:
        return f"{self.of(site_id, index)}-{name}"

    def generations(self, site_id: int, index: IndexName) -> str:
        """The pattern that all generations of an index fit."""
        return self.generation(site_id, index, "gen-*")


def building(generation: str) -> str:
    """Return the alias through which the builder of a generation writes, for as long as none took its place."""
    return f"{generation}-BUILDING"


def writing(generation: str) -> str:
    """Return the alias through which changes are written to a generation, for as long as it is the live one."""
    return f"{generation}-WRITING"


@dataclass(frozen=True, slots=True)
class Section:
    """A section of writing: its token, and the generation that was live when it began, None where there was none. It
    writes to that one: through the live alias a late change would reach an index that was built after it was read."""

    token: int
    live: str | None


class Fence:
    """Hands out the tokens of writers and of builders."""

    def __init__(
        self, cluster: Cluster, names: Names, replicas: int, lock: WriteLock, now: Callable[[], float]
    ) -> None:
        self._cluster = cluster
        self._names = names
        self._replicas = replicas
        self._lock = lock
        self._now = now
        self._is_made = False
        self._held = threading.local()

    @contextmanager
    def exclusive(self, site_id: int, index: IndexName) -> Iterator[None]:
        """Wait until no other process writes, and begin a section of writing. Raises SearchUnavailable."""
        key = self._names.of(site_id, index)
        with self._lock(key):
            # A clock that only ever goes on would do as well; where the index of fences was lost, it begins above.
            token = self._raise(f"{key}-writes", int(self._now() * 1000))
            self._sections[key] = Section(token, self.live_generation(site_id, index))
            try:
                yield
            finally:
                del self._sections[key]

    def section(self, site_id: int, index: IndexName) -> Section:
        """Return the section that this thread is in."""
        return self._sections[self._names.of(site_id, index)]

    def live_generation(self, site_id: int, index: IndexName) -> str | None:
        """Return the generation that is live, as the manager of the cluster knows it; None where there is none."""
        try:
            return next(iter(self._cluster.indices(self._names.live(site_id, index))), None)
        except SearchUnavailable as error:
            if error.fault is not EngineFault.INDEX:
                raise
            return None

    def check(self, site_id: int, index: IndexName) -> None:
        """Raise SearchUnavailable where a later section has begun. What was written before it did was read before it
        as well, so the later writer has at least that state."""
        key = self._names.of(site_id, index)
        if self._cluster.number(self._names.fences, f"{key}-writes") != self._sections[key].token:
            raise SearchUnavailable(OVERTAKEN, fault=None)

    def begin_build(self, site_id: int, index: IndexName, least: int) -> int:
        """Return the number of a new build, which is above those of all others."""
        return self._raise(f"{self._names.of(site_id, index)}-builds", least)

    def latest_build(self, site_id: int, index: IndexName) -> int | None:
        return self._cluster.number(self._names.fences, f"{self._names.of(site_id, index)}-builds")

    @property
    def _sections(self) -> dict[str, Section]:
        if not hasattr(self._held, "sections"):
            self._held.sections = {}
        return self._held.sections  # type: ignore[no-any-return]

    def _raise(self, key: str, least: int) -> int:
        try:
            return self._raise_stored(key, least)
        except SearchUnavailable as error:
            if error.fault is not EngineFault.INDEX:
                raise
        self._is_made = False  # It was lost, and not every cluster makes an index by itself.
        return self._raise_stored(key, least)

    def _raise_stored(self, key: str, least: int) -> int:
        if not self._is_made:
            settings: Body = {"number_of_shards": 1, "number_of_replicas": self._replicas}
            mappings: Body = {"dynamic": "strict", "properties": {"number": {"type": "long"}}}
            self._cluster.create_index(self._names.fences, {"settings": settings, "mappings": mappings})
            self._is_made = True
        return self._cluster.raise_number(self._names.fences, key, least)
