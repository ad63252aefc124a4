"""Generations: indices in the making, each written through an alias of its builder, and published by one change of
aliases. A builder whose alias is gone, since a later build was begun, can neither write nor publish."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from secrets import token_hex
from threading import local

from app.adapters.opensearch.changes import last_changes, write
from app.adapters.opensearch.cluster import Cluster, Target
from app.adapters.opensearch.connection import PAUSE_SECONDS
from app.adapters.opensearch.embedding import AT_ONCE, Embedder, StoredVectors
from app.adapters.opensearch.fencing import OVERTAKEN, Fence, Names, building, writing
from app.adapters.opensearch.mapping import Body, index_body
from app.adapters.opensearch.searching import IndexSearch
from app.domain.search.engine import (
    Change,
    EngineFault,
    IndexDocument,
    IndexName,
    Searching,
    SearchUnavailable,
    Upsert,
)
from app.domain.search.sentence_model import Meanings
from app.domain.shared.paging import batched

FIRST_VERSION = 1  # Of documents that a build writes. Every token is above it.

# Seconds after which a build sends again what a cluster that is overloaded or slow did not take: it has minutes of work
# to lose, and to send a document of its own twice changes nothing.
PAUSES = (1.0, 5.0, 15.0)
PASSING = frozenset((EngineFault.OVERLOADED, EngineFault.SLOW))

REMEMBERED_DELETIONS = "1h"  # For so long a deletion refuses an older state of its document.


class OpenSearchGeneration:
    """A generation in the making, which is searched by meaning too where an `embedder` gives its documents vectors and
    `meanings` those of searches. `name` is that of its index in the cluster."""

    def __init__(
        self,
        generations: Generations,
        site_id: int,
        index: IndexName,
        name: str,
        embedder: Embedder | None,
        meanings: Meanings | None,
    ) -> None:
        self._generations = generations
        self._cluster = generations.cluster
        self._site_id = site_id
        self._index = index
        self.name = generations.names.generation(site_id, index, name)
        self._embedder, self._meanings = embedder, meanings
        self._prepared: StoredVectors = {}
        self._declared: set[str] = set()
        self._added = 0
        self.is_published = False

    def add(self, documents: Iterable[IndexDocument]) -> None:
        with _explaining_a_later_build():
            if self._embedder is None:
                self._write(documents)
            else:
                for some in batched(documents, AT_ONCE):
                    self._write(some, self._embedder.of_documents(some))

    def _write(self, documents: Iterable[IndexDocument], vectors: StoredVectors | None = None) -> None:
        changes = (Upsert(document) for document in documents)
        target, again = building(self.name), self._generations.patiently
        self._added += write(self._cluster, target, changes, FIRST_VERSION, self._declared, vectors, again)

    def seal(self) -> int:
        with _explaining_a_later_build():
            self._refresh()
            self._cluster.await_copies(building(self.name))
            found = self._cluster.contents(building(self.name)).documents
        if found != self._added:
            raise SearchUnavailable(
                f"The new index does not hold what was written to it ({found} of {self._added} documents). Look at "
                "the log of the search cluster, then rebuild."
            )
        return found

    def _refresh(self) -> None:
        self._generations.patiently(lambda: self._cluster.refresh(building(self.name)))

    def preview(self) -> Searching:
        return IndexSearch(self._cluster, Target(building(self.name)), self._meanings)

    def prepare(self, changes: Iterable[Change]) -> None:
        if self._embedder is not None:
            self._prepared = self._embedder.of_changes(changes)

    def replay(self, changes: Sequence[Change]) -> None:
        with _explaining_a_later_build():
            token = self._generations.fence.section(self._site_id, self._index).token
            target, again = building(self.name), self._generations.patiently
            write(self._cluster, target, last_changes(changes), token, self._declared, self._prepared, again)
            self._refresh()

    def publish(self) -> None:
        self._generations.publish(self._site_id, self._index, self)

    def discard(self) -> None:
        if not self.is_published:
            with suppress(SearchUnavailable):  # The next build removes what could not be removed now.
                self._generations.fence_off(self.name)


Publication = tuple[int, IndexName, OpenSearchGeneration]


class Generations:
    """The generations of all indexes of a shop. `pause` waits for some seconds."""

    def __init__(
        self, cluster: Cluster, names: Names, fence: Fence, replicas: int, pause: Callable[[float], None]
    ) -> None:
        self.cluster = cluster
        self.names = names
        self.fence = fence
        self._replicas = replicas
        self._pause = pause
        self._collected = local()

    def start(self, site_id: int, index: IndexName, meanings: Meanings | None = None) -> OpenSearchGeneration:
        """Begin a generation, one with vectors of the model of `meanings`, and discard all others in the making. Raises
        SearchUnavailable."""
        before = self.cluster.indices(self.names.generations(site_id, index))
        number = self.fence.begin_build(site_id, index, 1 + max(map(number_of, before), default=0))
        model = None if meanings is None else meanings.model
        embedder = None if model is None else Embedder(self.cluster, model, self.names.live(site_id, index))
        name = f"gen-{number}-{token_hex(2)}"
        generation = OpenSearchGeneration(self, site_id, index, name, embedder, meanings)
        body = index_body(self._replicas, None if model is None else model.dimensions)
        body["aliases"] = {building(generation.name): {}}
        body["settings"]["gc_deletes"] = REMEMBERED_DELETIONS
        self.cluster.create_index(generation.name, body)
        if self.fence.latest_build(site_id, index) != number:
            # A later build looked for this one before it was there.
            generation.discard()
            raise SearchUnavailable(OVERTAKEN, fault=None)
        self.prune(site_id, index, below=number)
        return generation

    def prune(self, site_id: int, index: IndexName, below: int, spared: int = 1) -> None:
        """Delete the generations with a number below one that are not live, but for the last `spared` that were:
        searches that began before a swap end on them."""
        live = self.names.live(site_id, index)
        found = self.cluster.indices(self.names.generations(site_id, index))
        older = sorted((name for name in found if number_of(name) < below and live not in found[name]), key=number_of)
        replaced = [name for name in older if building(name) not in found[name]]
        self.cluster.delete_indices(replaced[: max(0, len(replaced) - spared)])
        for name in older:
            if building(name) in found[name]:
                self.fence_off(name)

    def fence_off(self, generation: str) -> None:
        """Delete a generation in the making, first its builder's alias: a publication that is still on its way fails
        without it, and where that came first, nothing is deleted."""
        mine = {"index": generation, "alias": building(generation), "must_exist": True}
        try:
            self.cluster.change_aliases([{"remove": mine}])
        except SearchUnavailable as error:
            if error.fault is not EngineFault.INDEX:
                raise
        else:
            self.cluster.delete_indices([generation])

    def patiently(self, send: Callable[[], None]) -> None:
        """Send something, again after each of PAUSES where the cluster is only overloaded or slow."""
        for seconds in PAUSES:
            try:
                return send()
            except SearchUnavailable as error:
                if error.fault not in PASSING:
                    raise
            self._pause(seconds)
        return send()

    def publish(self, site_id: int, index: IndexName, generation: OpenSearchGeneration) -> None:
        """Make a generation the live one, or within `together` at its end."""
        collected: list[Publication] | None = getattr(self._collected, "block", None)
        if collected is None:
            self._publish([(site_id, index, generation)])
        else:
            collected.append((site_id, index, generation))

    @contextmanager
    def together(self) -> Iterator[None]:
        """Collect the publications of the block and make them in one step."""
        self._collected.block = []
        try:
            yield
            self._publish(self._collected.block)
        finally:
            del self._collected.block

    def _publish(self, publications: Sequence[Publication]) -> None:
        actions: list[Body] = []
        for site_id, index, generation in publications:
            self.fence.check(site_id, index)
            actions += self._actions(site_id, index, generation.name)
        if actions:
            try:
                with _explaining_a_later_build():
                    self.cluster.change_aliases(actions)
            except SearchUnavailable:
                if not self._are_live(publications):
                    raise
        for site_id, index, generation in publications:
            generation.is_published = True
            with suppress(SearchUnavailable):  # It is published; the next build removes what stays.
                self.prune(site_id, index, below=number_of(generation.name))

    def _actions(self, site_id: int, index: IndexName, name: str) -> list[Body]:
        """Return the changes of aliases that make a generation the live one, to which alone changes are written."""
        live, others = self.names.live(site_id, index), self.names.generations(site_id, index)
        actions: list[Body] = [
            {"remove": {"index": name, "alias": building(name), "must_exist": True}},
            {"remove": {"index": others, "alias": live, "must_exist": False}},
            {"add": {"index": name, "alias": live}},
            {"add": {"index": name, "alias": writing(name), "is_write_index": True}},
        ]
        if before := self.fence.section(site_id, index).live:
            actions.append({"remove": {"index": before, "alias": writing(before), "must_exist": False}})
        return actions

    def _are_live(self, publications: Sequence[Publication]) -> bool:
        """Whether generations are live although their publication failed: its answer was lost, or it was made twice,
        where the client sent it to another machine after it lost the answer of the first."""

        def look() -> bool:
            return all(self.fence.live_generation(site, index) == each.name for site, index, each in publications)

        try:
            return look()
        except SearchUnavailable:
            self._pause(PAUSE_SECONDS)  # For so long a cluster that did not answer gets no request.
        with suppress(SearchUnavailable):
            return look()
        return False


def number_of(generation: str) -> int:
    """Return the number in the name of a generation's index."""
    return int(generation.rsplit("-", 2)[1])


@contextmanager
def _explaining_a_later_build() -> Iterator[None]:
    """Say of a builder whose index or alias is gone that another took its place."""
    try:
        yield
    except SearchUnavailable as error:
        if error.fault is EngineFault.INDEX:
            raise SearchUnavailable("A later rebuild took the place of this one.", fault=None) from error
        raise
