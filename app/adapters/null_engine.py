"""The engine of a shop that has none: the product state "Not set up"."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext

from app.domain.search.engine import (
    NOT_SET_UP,
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


class NullEngine:
    """Reports that search is not set up, and raises SearchUnavailable for everything that needs an index."""

    supports_trials = False

    def status(self, site_id: int, index: IndexName) -> EngineStatus:
        return EngineStatus(EngineState.NOT_SET_UP)

    def size(self, site_id: int, index: IndexName) -> int | None:
        return None

    def search(self, site_id: int, index: IndexName, request: SearchRequest) -> SearchResult:
        raise SearchUnavailable(NOT_SET_UP)

    def search_many(self, site_id: int, index: IndexName, requests: Sequence[SearchRequest]) -> list[SearchResult]:
        raise SearchUnavailable(NOT_SET_UP)

    def trial(self, site_id: int, index: IndexName, changes: Sequence[Change]) -> AbstractContextManager[Searching]:
        raise SearchUnavailable(NOT_SET_UP)

    def explain(self, site_id: int, index: IndexName, request: SearchRequest, document_id: str) -> Explanation:
        raise SearchUnavailable(NOT_SET_UP)

    def exclusive(self, site_id: int, index: IndexName) -> AbstractContextManager[None]:
        return nullcontext()

    def together(self, site_id: int, indexes: Sequence[IndexName]) -> AbstractContextManager[None]:
        return nullcontext()

    def prepare(self, site_id: int, index: IndexName, changes: Iterable[Change]) -> None:
        """Do nothing: there is nothing to prepare."""

    def apply(self, site_id: int, index: IndexName, changes: Sequence[Change]) -> None:
        raise SearchUnavailable(NOT_SET_UP)

    def start_generation(self, site_id: int, index: IndexName, *, by_meaning: bool = True) -> Generation:
        raise SearchUnavailable(NOT_SET_UP)

    def digests(self, site_id: int, index: IndexName, ids: Collection[str] | None = None) -> Iterator[tuple[str, str]]:
        raise SearchUnavailable(NOT_SET_UP)

    def verify(self, site_id: int, index: IndexName) -> None:
        raise SearchUnavailable(NOT_SET_UP)

    def forget(self, site_id: int) -> None:
        """Do nothing: there is nothing to remove."""
