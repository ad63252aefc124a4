"""Search on files of this machine: Whoosh's format keeps the index, arrays answer from it."""

from __future__ import annotations

import pickle
import shutil
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from whoosh.codec.whoosh3 import W3Segment

from app.adapters.whoosh.building import WhooshGeneration
from app.adapters.whoosh.changes import apply_changes
from app.adapters.whoosh.evaluation import evaluate
from app.adapters.whoosh.explaining import explain
from app.adapters.whoosh.generations import Place
from app.adapters.whoosh.readers import UNREADABLE, Reader
from app.adapters.whoosh.segment import Segment
from app.adapters.whoosh.trial import changed_view
from app.adapters.whoosh.view import View
from app.domain.search.engine import (
    BuildInProgress,
    Change,
    EngineState,
    EngineStatus,
    Explanation,
    Generation,
    IndexName,
    Searching,
    SearchRequest,
    SearchResult,
    SearchUnavailable,
)


class WhooshEngine:
    """Keeps every index under `directory`, which must be private: Whoosh's files hold pickles."""

    def __init__(self, directory: Path) -> None:
        self._directory = Path(directory)
        self._lock = threading.Lock()
        self._readers: dict[tuple[int, IndexName], Reader] = {}

    def _place(self, site_id: int, index: IndexName) -> Place:
        return Place(self._directory / str(site_id) / index.value)

    def _reader(self, site_id: int, index: IndexName) -> Reader:
        with self._lock:
            return self._readers.setdefault((site_id, index), Reader(self._place(site_id, index)))

    def status(self, site_id: int, index: IndexName) -> EngineStatus:
        try:
            view = self._reader(site_id, index).fresh_view()
        except SearchUnavailable as error:
            return EngineStatus(EngineState.UNREACHABLE, error.message)
        return EngineStatus(
            EngineState.HEALTHY,
            documents=view.documents,
            generation=view.generation,
            version=f"{view.generation}.{view.commit}",
        )

    def search(self, site_id: int, index: IndexName, request: SearchRequest) -> SearchResult:
        with _readable():
            return evaluate(self._reader(site_id, index).view(), request)

    @contextmanager
    def trial(self, site_id: int, index: IndexName, changes: Sequence[Change]) -> Iterator[Searching]:
        with ExitStack() as stack:
            with _readable():
                view = stack.enter_context(changed_view(self._reader(site_id, index).view(), changes))
            yield _Trial(view)

    def explain(self, site_id: int, index: IndexName, request: SearchRequest, document_id: str) -> Explanation:
        with _readable():
            return explain(self._reader(site_id, index).view(), request, document_id)

    def exclusive(self, site_id: int, index: IndexName) -> AbstractContextManager[None]:
        return self._place(site_id, index).publish_lock()

    def apply(self, site_id: int, index: IndexName, changes: Sequence[Change]) -> None:
        view = self._reader(site_id, index).fresh_view()
        directory = self._place(site_id, index).directory / view.generation
        known = {segment.id: segment for segment in view.segments}

        def open_segment(entry: W3Segment) -> Segment:
            return known.get(entry.segment_id()) or Segment(directory, entry)

        try:
            apply_changes(directory, changes, open_segment)
        except UNREADABLE as error:
            raise SearchUnavailable(f"The search index could not be changed: {error}. Changes wait.") from error

    def start_generation(self, site_id: int, index: IndexName) -> Generation:
        place = self._place(site_id, index)
        lock = place.try_build_lock()
        if lock is None:
            raise BuildInProgress("Another process is building this index.")
        place.prune()
        return WhooshGeneration(place, lock)

    def digests(self, site_id: int, index: IndexName) -> Iterator[tuple[str, str]]:
        return self._reader(site_id, index).fresh_view().digests()

    def forget(self, site_id: int) -> None:
        with self._lock:
            for key in [key for key in self._readers if key[0] == site_id]:
                del self._readers[key]
        shutil.rmtree(self._directory / str(site_id), ignore_errors=True)


class _Trial:
    """Answers from one view."""

    def __init__(self, view: View) -> None:
        self._view = view

    def search(self, site_id: int, index: IndexName, request: SearchRequest) -> SearchResult:
        with _readable():
            return evaluate(self._view, request)


@contextmanager
def _readable() -> Iterator[None]:
    """What a failing disk raises in the middle of a search is told like an index that cannot be opened."""
    try:
        yield
    except (OSError, EOFError, ValueError, struct.error, pickle.UnpicklingError) as error:
        raise SearchUnavailable("Search does not answer: its index cannot be read. Rebuild to mend it.") from error
