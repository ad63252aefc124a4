"""The search engine on a cluster: what the port requires, of an index of OpenSearch behind an alias."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

from app.adapters.opensearch.changes import last_changes, write
from app.adapters.opensearch.cluster import PAGE, Cluster, Contents, SupersededError, Target
from app.adapters.opensearch.embedding import Embedder, StoredVectors
from app.adapters.opensearch.failures import NO_INDEX, SENTENCES
from app.adapters.opensearch.fencing import OVERTAKEN, Fence, Names, WriteLock, writing
from app.adapters.opensearch.generations import Generations, number_of
from app.adapters.opensearch.mapping import is_outdated
from app.adapters.opensearch.searching import IndexSearch
from app.config import OpenSearchSettings
from app.domain.search.engine import (
    Change,
    EngineFault,
    EngineState,
    EngineStatus,
    Explanation,
    Generation,
    IndexName,
    SearchBeingPrepared,
    Searching,
    SearchRequest,
    SearchResult,
    SearchUnavailable,
    TrialsUnsupported,
)
from app.domain.search.sentence_model import (
    COVERED,
    WAIT,
    Meanings,
    QueryVectors,
    SentenceModel,
    SentenceModelUnavailable,
)
from app.domain.shared.paging import batched

Answer = TypeVar("Answer")
NO_PLUGIN = (
    "The search cluster compares no vectors: install its plugin opensearch-knn on every machine of it, and the shop "
    "rebuilds the products by itself."
)


class OpenSearchEngine:
    """The search engine on a cluster. `lock` gives a lock by name that every process sees which writes to the same
    shop's indexes. `is_awaited` says of a site whether products are on their way into its index while that is empty.
    Without a `model`, or the cluster's plugin for vectors, words alone rank; `wait` is for how many seconds a search
    waits for the vector of its words. `now` is in seconds since 1970; `pause` waits for some."""

    supports_trials = False

    def __init__(
        self,
        settings: OpenSearchSettings,
        lock: WriteLock,
        is_awaited: Callable[[int], bool] = lambda _site_id: False,
        now: Callable[[], float] = time.time,
        model: SentenceModel | None = None,
        wait: float = WAIT,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._cluster = Cluster(settings)
        self._names = Names(settings.prefix)
        self._fence = Fence(self._cluster, self._names, settings.replicas, lock, now)
        self._generations = Generations(self._cluster, self._names, self._fence, settings.replicas, pause)
        self._is_awaited = is_awaited
        self._product_meanings = None if model is None else Meanings(model, QueryVectors(model), wait)
        self._live: dict[str, str] = {}  # By alias, the index that was last seen behind it.
        # By alias, fields that an index behind it had. A later one has those of its documents from its build.
        self._declared: dict[str, set[str]] = {}
        self._made_with: dict[str, Mapping[str, Any]] = {}
        self._prepared: dict[tuple[int, IndexName], StoredVectors] = {}

    def _meanings(self, index: IndexName) -> Meanings | None:
        """Return what ranks an index by meaning; None without a model, and for indexes other than that of products."""
        return self._product_meanings if index is IndexName.PRODUCTS else None

    def _was_made_with(self, name: str) -> Mapping[str, Any]:
        if name not in self._made_with:
            self._made_with[name] = self._cluster.made_with(name)
        return self._made_with[name]

    # Reading

    def status(self, site_id: int, index: IndexName) -> EngineStatus:
        try:
            live = self._cluster.live_index(self._names.live(site_id, index))
            contents = self._cluster.contents(live.name)
            outdated = is_outdated(self._was_made_with(live.name))
            vectors, lacks_vectors, meaning_fault = self._vectors(index, contents)
            has_manager = self._cluster.has_manager(self._names.live(site_id, index))
        except SearchUnavailable as error:
            return EngineStatus(EngineState.UNREACHABLE, error.message, fault=error.fault)
        fault = EngineFault.QUORUM if not has_manager else EngineFault.DISK_FULL if live.is_full else None
        generation = live.name.removeprefix(f"{self._names.of(site_id, index)}-")
        return EngineStatus(
            EngineState.HEALTHY,
            error=SENTENCES[fault] if fault else None,
            documents=contents.documents,
            generation=generation,
            version=f"{generation}.{contents.newest}.{contents.documents}",
            lacks_vectors=lacks_vectors,
            vectors=vectors,
            meaning_fault=meaning_fault,
            outdated=outdated,
            fault=fault,
        )

    def _vectors(self, index: IndexName, contents: Contents) -> tuple[int | None, str | None, str | None]:
        """Return `vectors`, `lacks_vectors` and `meaning_fault` of the status of an index. Raises SearchUnavailable."""
        meanings = self._meanings(index)
        if meanings is None:
            return None, None, None
        try:
            vectors = contents.vectors.get(meanings.model.name, 0)
            if not self._cluster.compares_vectors():
                return vectors, None, NO_PLUGIN
            is_covered = vectors >= COVERED * contents.documents
            return vectors, meanings.model.name if not is_covered and meanings.model.label else None, None
        except SentenceModelUnavailable:
            return None, None, None

    def size(self, site_id: int, index: IndexName) -> int | None:
        try:
            return self._cluster.size(self._names.live(site_id, index))
        except SearchUnavailable:
            return None

    def search(self, site_id: int, index: IndexName, request: SearchRequest) -> SearchResult:
        return self.search_many(site_id, index, [request])[0]

    def search_many(self, site_id: int, index: IndexName, requests: Sequence[SearchRequest]) -> list[SearchResult]:
        def answer(live: IndexSearch) -> list[SearchResult]:
            results = live.search_many(site_id, index, requests)
            finds_nothing = index is IndexName.PRODUCTS and results and not any(result.total for result in results)
            if finds_nothing and self._is_awaited(site_id) and not self._cluster.contents(live.target.index).documents:
                raise SearchBeingPrepared
            return results

        return self._with_live(site_id, index, answer)

    def explain(self, site_id: int, index: IndexName, request: SearchRequest, document_id: str) -> Explanation:
        return self._with_live(site_id, index, lambda live: live.explain(request, document_id))

    def trial(self, site_id: int, index: IndexName, changes: Sequence[Change]) -> AbstractContextManager[Searching]:
        raise TrialsUnsupported

    def digests(self, site_id: int, index: IndexName, ids: Collection[str] | None = None) -> Iterator[tuple[str, str]]:
        name, fields = self._live_name(site_id, index), ("id", "digest")
        if ids is None:
            yield from ((id, digest) for id, digest in self._pages(name, fields))
            return
        for some in batched(sorted(ids), PAGE):
            yield from ((one["id"], one["digest"]) for one in self._cluster.documents(name, some, fields))

    def verify(self, site_id: int, index: IndexName) -> None:
        """Read every stored document. The cluster compares the checksums of its files itself whenever it opens, copies
        or merges them, and takes a damaged one out of service."""
        name = self._live_name(site_id, index)
        documents = self._cluster.contents(name).documents
        stored = sum(1 for _ in self._pages(name, ("id", "digest", "card")))
        if stored < documents and self._cluster.contents(name).documents > stored:
            raise SearchUnavailable(f"The search index holds {stored} of its {documents} documents. Rebuild to fix it.")
        self._generations.prune(site_id, index, below=number_of(name), spared=0)

    def _pages(self, name: str, fields: Sequence[str]) -> Iterator[tuple[str, ...]]:
        after: str | None = None
        while page := self._cluster.page(name, fields, after):
            yield from (tuple(document[field] for field in fields) for document in page)
            after = page[-1]["id"]

    def _live_name(self, site_id: int, index: IndexName) -> str:
        return self._cluster.live_index(self._names.live(site_id, index)).name

    def _with_live(self, site_id: int, index: IndexName, answer: Callable[[IndexSearch], Answer]) -> Answer:
        """Return an answer from the live generation, whichever machine published it. All its round trips are to one
        generation: the one that was live last, which the first of them checks. Where another is live by then, or the
        generation is gone in the middle, since two swaps came quickly, it is answered anew."""
        alias = self._names.live(site_id, index)
        name = self._live.get(alias) or self._look_up_live(alias)
        try:
            return answer(IndexSearch(self._cluster, Target(name, alias), self._meanings(index)))
        except SupersededError:
            name = self._look_up_live(alias)
        except SearchUnavailable as error:
            if error.fault is not EngineFault.INDEX or (other := self._look_up_live(alias)) == name:
                raise
            name = other
        return answer(IndexSearch(self._cluster, Target(name), self._meanings(index)))

    def _look_up_live(self, alias: str) -> str:
        self._live[alias] = self._cluster.live_index(alias).name
        return self._live[alias]

    # Writing

    @contextmanager
    def exclusive(self, site_id: int, index: IndexName) -> Iterator[None]:
        with self._fence.exclusive(site_id, index):
            try:
                yield
            finally:
                self._prepared.pop((site_id, index), None)  # Vectors of thousands of documents.

    def together(self, site_id: int, indexes: Sequence[IndexName]) -> AbstractContextManager[None]:
        return self._generations.together()

    def prepare(self, site_id: int, index: IndexName, changes: Iterable[Change]) -> None:
        meanings = self._meanings(index)
        if meanings is None:
            return
        made_with = self._was_made_with(self._live_name(site_id, index))
        has_vectors = made_with.get("dimensions") == meanings.model.dimensions
        embedder = Embedder(self._cluster, meanings.model, self._names.live(site_id, index))
        self._prepared[site_id, index] = embedder.of_changes(changes) if has_vectors else {}

    def apply(self, site_id: int, index: IndexName, changes: Sequence[Change]) -> None:
        section, vectors = self._fence.section(site_id, index), self._prepared.get((site_id, index))
        if section.live is None:
            raise SearchUnavailable(NO_INDEX)
        declared = self._declared.setdefault(self._names.live(site_id, index), set())
        alias = writing(section.live)
        try:
            write(self._cluster, alias, last_changes(changes), section.token, declared, vectors)
            self._cluster.refresh(alias)
        except SearchUnavailable as error:
            is_gone = error.fault is EngineFault.INDEX
            if is_gone and self._fence.live_generation(site_id, index) not in (None, section.live):
                raise SearchUnavailable(OVERTAKEN, fault=None) from error
            raise
        self._fence.check(site_id, index)

    def start_generation(self, site_id: int, index: IndexName, *, by_meaning: bool = True) -> Generation:
        meanings = self._meanings(index) if by_meaning else None
        if meanings is not None and not self._cluster.compares_vectors():
            meanings = None
        return self._generations.start(site_id, index, meanings)

    def forget(self, site_id: int) -> None:
        for index in IndexName:
            self._cluster.delete_indices(self._cluster.indices(self._names.generations(site_id, index)))
