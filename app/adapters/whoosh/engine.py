"""The search engine on files of this machine: Whoosh's format keeps the index, arrays answer from it."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from whoosh.codec.whoosh3 import W3Segment

from app.adapters.whoosh.building import WhooshGeneration, apply_changes, changed_view, prepare_vectors
from app.adapters.whoosh.generation import UNREADABLE, IndexFolder, readable
from app.adapters.whoosh.meaning import lacks_vectors, vector_count
from app.adapters.whoosh.results import ViewSearch, evaluate, explain
from app.adapters.whoosh.segment import Segment
from app.adapters.whoosh.vectors import RowVectors
from app.adapters.whoosh.view import Reader
from app.domain.search.engine import (
    Change,
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
)
from app.domain.search.sentence_model import WAIT, Meanings, QueryVectors, SentenceModel


class WhooshEngine:
    """The search engine on Whoosh. It keeps every index under `directory`, which must be private: Whoosh's files hold
    pickles. Without a `model` words alone rank. `wait` is for how many seconds a search waits for the vector of its
    words. `is_awaited` says of a site whether products are on their way into its index while that is empty."""

    supports_trials = True

    def __init__(
        self,
        directory: Path,
        model: SentenceModel | None = None,
        wait: float = WAIT,
        is_awaited: Callable[[int], bool] = lambda _site_id: False,
    ) -> None:
        self._directory = Path(directory)
        self._product_meanings = None if model is None else Meanings(model, QueryVectors(model), wait)
        self._is_awaited = is_awaited
        self._lock = threading.Lock()
        self._readers: dict[tuple[int, IndexName], Reader] = {}
        self._prepared: dict[tuple[int, IndexName], RowVectors | None] = {}

    def _folder(self, site_id: int, index: IndexName) -> IndexFolder:
        return IndexFolder(self._directory / str(site_id) / index.value)

    def _reader(self, site_id: int, index: IndexName) -> Reader:
        key = site_id, index
        with self._lock:
            if key not in self._readers:
                self._readers[key] = Reader(self._folder(site_id, index))
            return self._readers[key]

    def _meanings(self, index: IndexName) -> Meanings | None:
        """Return what ranks an index by meaning; None without a model, and for indexes other than that of products."""
        return self._product_meanings if index is IndexName.PRODUCTS else None

    def _model(self, index: IndexName) -> SentenceModel | None:
        meanings = self._meanings(index)
        return None if meanings is None else meanings.model

    def status(self, site_id: int, index: IndexName) -> EngineStatus:
        try:
            view = self._reader(site_id, index).fresh_view()
            with readable():
                return EngineStatus(
                    EngineState.HEALTHY,
                    documents=view.documents,
                    generation=view.generation,
                    version=f"{view.generation}.{view.commit}",
                    lacks_vectors=lacks_vectors(view, self._model(index)),
                    vectors=vector_count(view, self._model(index)),
                    outdated=view.is_outdated,
                )
        except SearchUnavailable as error:
            return EngineStatus(EngineState.UNREACHABLE, error.message, fault=error.fault)

    def size(self, site_id: int, index: IndexName) -> int | None:
        return self._folder(site_id, index).size()

    def search(self, site_id: int, index: IndexName, request: SearchRequest) -> SearchResult:
        return self.search_many(site_id, index, [request])[0]

    def search_many(self, site_id: int, index: IndexName, requests: Sequence[SearchRequest]) -> list[SearchResult]:
        reader = self._reader(site_id, index)
        with reader.reading(reader.view(wait=any(request.fresh for request in requests))) as view:
            if index is IndexName.PRODUCTS and not view.documents and self._is_awaited(site_id):
                raise SearchBeingPrepared
            return [evaluate(view, request, self._meanings(index)) for request in requests]

    @contextmanager
    def trial(self, site_id: int, index: IndexName, changes: Sequence[Change]) -> Iterator[Searching]:
        reader = self._reader(site_id, index)
        with ExitStack() as stack:
            with reader.reading(reader.view()) as view:
                changed = stack.enter_context(changed_view(view, changes, self._model(index)))
            yield ViewSearch(changed, self._meanings(index))

    def explain(self, site_id: int, index: IndexName, request: SearchRequest, document_id: str) -> Explanation:
        reader = self._reader(site_id, index)
        with reader.reading(reader.view()) as view:
            return explain(view, request, document_id, self._meanings(index))

    def exclusive(self, site_id: int, index: IndexName) -> AbstractContextManager[None]:
        return self._folder(site_id, index).publish_lock()

    @contextmanager
    def together(self, site_id: int, indexes: Sequence[IndexName]) -> Iterator[None]:
        with ExitStack() as stack:
            for index in indexes:
                stack.enter_context(self._folder(site_id, index).reverting())
            yield

    def prepare(self, site_id: int, index: IndexName, changes: Iterable[Change]) -> None:
        if (model := self._model(index)) is not None:
            known = self._live_vectors(site_id, index)
            self._prepared[site_id, index] = prepare_vectors(model, changes, known)

    def apply(self, site_id: int, index: IndexName, changes: Sequence[Change]) -> None:
        view = self._reader(site_id, index).fresh_view()
        directory = self._folder(site_id, index).directory / view.generation
        known = {segment.id: segment for segment in view.segments}

        def open_segment(entry: W3Segment) -> Segment:
            return known.get(entry.segment_id()) or Segment(directory, entry)

        try:
            prepared = self._prepared.get((site_id, index))
            apply_changes(directory, changes, open_segment, self._model(index), prepared)
        except UNREADABLE as error:
            raise SearchUnavailable(f"The search index could not be changed: {error}. Changes wait.") from error

    def start_generation(self, site_id: int, index: IndexName, *, by_meaning: bool = True) -> Generation:
        folder = self._folder(site_id, index)
        with folder.publish_lock():
            folder.prune()
        meanings = self._meanings(index) if by_meaning else None
        return WhooshGeneration(folder, meanings, self._live_vectors(site_id, index) if meanings else ())

    def _live_vectors(self, site_id: int, index: IndexName) -> list[RowVectors | None]:
        """Return the vectors of the live index, which need not be made again; none where it cannot be read."""
        try:
            return [segment.vectors for segment in self._reader(site_id, index).fresh_view().segments]
        except (SearchUnavailable, *UNREADABLE):
            return []

    def digests(self, site_id: int, index: IndexName, ids: Collection[str] | None = None) -> Iterator[tuple[str, str]]:
        reader = self._reader(site_id, index)
        with reader.reading(reader.fresh_view()) as view:
            yield from (pair for pair in view.digests() if ids is None or pair[0] in ids)

    def verify(self, site_id: int, index: IndexName) -> None:
        self._reader(site_id, index).verify()

    def forget(self, site_id: int) -> None:
        with self._lock:
            for key in [key for key in self._readers if key[0] == site_id]:
                del self._readers[key]
            for key in [key for key in self._prepared if key[0] == site_id]:
                del self._prepared[key]
        shutil.rmtree(self._directory / str(site_id), ignore_errors=True)
