"""The calls of the port over documents in memory."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from itertools import count

from app.domain.search.engine import (
    Change,
    EngineState,
    EngineStatus,
    Explanation,
    Generation,
    IndexDocument,
    IndexName,
    Searching,
    SearchRequest,
    SearchResult,
    SearchUnavailable,
)
from app.domain.search.sentence_model import SentenceModel
from tests.adapters.reference_engine.documents import Documents
from tests.adapters.reference_engine.evaluation import Evaluation
from tests.adapters.reference_engine.explaining import Explainer

_NO_INDEX = "There is no index yet. Rebuild to make it."
_DAMAGED = "The index is damaged. Rebuild to fix it."


class ReferenceEngine:
    """Keeps everything in memory. One process, so its lock is a lock of threads."""

    supports_trials = True

    def __init__(self, model: SentenceModel | None = None) -> None:
        self.model = model
        self.live: dict[tuple[int, IndexName], Documents] = {}
        self.begun: dict[tuple[int, IndexName], ReferenceGeneration] = {}
        self.damaged: set[tuple[int, IndexName]] = set()
        self.numbers = count(1)
        self._locks: dict[tuple[int, IndexName], threading.Lock] = {}

    def _documents(self, site_id: int, index: IndexName) -> Documents:
        if (site_id, index) in self.damaged:
            raise SearchUnavailable(_DAMAGED)
        try:
            return self.live[site_id, index]
        except KeyError:
            raise SearchUnavailable(_NO_INDEX) from None

    def status(self, site_id: int, index: IndexName) -> EngineStatus:
        try:
            live = self._documents(site_id, index)
        except SearchUnavailable as error:
            return EngineStatus(EngineState.UNREACHABLE, error.message, fault=error.fault)
        version = f"{live.generation}.{live.version}"
        return EngineStatus(EngineState.HEALTHY, None, len(live.by_id), live.generation, version)

    def size(self, site_id: int, index: IndexName) -> int | None:
        return None

    def search(self, site_id: int, index: IndexName, request: SearchRequest) -> SearchResult:
        evaluation = Evaluation(self._documents(site_id, index), request)
        result = evaluation.result()
        if not request.explain:
            return result
        explainer = Explainer(evaluation)
        return replace(
            result, hits=tuple(replace(hit, explanation=explainer.explanation(hit.id)) for hit in result.hits)
        )

    def search_many(self, site_id: int, index: IndexName, requests: Sequence[SearchRequest]) -> list[SearchResult]:
        return [self.search(site_id, index, request) for request in requests]

    def explain(self, site_id: int, index: IndexName, request: SearchRequest, document_id: str) -> Explanation:
        return Explainer(Evaluation(self._documents(site_id, index), request)).explanation(document_id)

    @contextmanager
    def trial(self, site_id: int, index: IndexName, changes: Sequence[Change]) -> Iterator[Searching]:
        yield preview(site_id, index, self._documents(site_id, index).changed(changes))

    def exclusive(self, site_id: int, index: IndexName) -> AbstractContextManager[object]:
        return self._locks.setdefault((site_id, index), threading.Lock())

    @contextmanager
    def together(self, site_id: int, indexes: Sequence[IndexName]) -> Iterator[None]:
        before = {(site_id, index): self.live[site_id, index] for index in indexes if (site_id, index) in self.live}
        try:
            yield
        except BaseException:
            self.live |= before
            raise

    def prepare(self, site_id: int, index: IndexName, changes: Iterable[Change]) -> None:
        """Documents are embedded whenever they are wanted."""

    def apply(self, site_id: int, index: IndexName, changes: Sequence[Change]) -> None:
        self.live[site_id, index] = self._documents(site_id, index).changed(changes)

    def start_generation(self, site_id: int, index: IndexName, *, by_meaning: bool = True) -> Generation:
        generation = ReferenceGeneration(self, site_id, index, f"generation {next(self.numbers)}")
        self.begun[site_id, index] = generation
        return generation

    def digests(self, site_id: int, index: IndexName, ids: Collection[str] | None = None) -> Iterator[tuple[str, str]]:
        documents = self._documents(site_id, index).by_id
        return ((id, document.digest) for id, document in documents.items() if ids is None or id in ids)

    def verify(self, site_id: int, index: IndexName) -> None:
        self._documents(site_id, index)

    def forget(self, site_id: int) -> None:
        for key in [key for key in self.live if key[0] == site_id]:
            del self.live[key]


@dataclass
class ReferenceGeneration:
    engine: ReferenceEngine
    site_id: int
    index: IndexName
    name: str
    documents: dict[str, IndexDocument] = field(default_factory=dict)

    def add(self, documents: Iterable[IndexDocument]) -> None:
        self.documents |= {document.id: document for document in documents}

    def seal(self) -> int:
        self._check()
        return len(self.documents)

    def preview(self) -> Searching:
        return preview(self.site_id, self.index, self._made())

    def _made(self) -> Documents:
        model = self.engine.model if self.index is IndexName.PRODUCTS else None
        return Documents(self.name, 1, self.documents, model)

    def prepare(self, changes: Iterable[Change]) -> None:
        """Documents are embedded whenever they are wanted."""

    def replay(self, changes: Sequence[Change]) -> None:
        self._check()
        self.documents = dict(Documents(self.name, 1, self.documents).changed(changes).by_id)

    def publish(self) -> None:
        self._check()
        self.engine.live[self.site_id, self.index] = self._made()
        self.engine.damaged.discard((self.site_id, self.index))

    def discard(self) -> None:
        """What was never published is not live."""

    def _check(self) -> None:
        if self.engine.begun[self.site_id, self.index] is not self:
            raise SearchUnavailable("A later generation was begun. Rebuild.")


def preview(site_id: int, index: IndexName, documents: Documents) -> ReferenceEngine:
    engine = ReferenceEngine()
    engine.live[site_id, index] = documents
    return engine
