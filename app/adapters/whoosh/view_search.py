"""Answers searches from one view, of an index that is not live."""

from __future__ import annotations

from collections.abc import Sequence

from app.adapters.whoosh.damage import readable
from app.adapters.whoosh.meaning import Meanings
from app.adapters.whoosh.results import evaluate
from app.adapters.whoosh.view import View
from app.domain.search.engine import IndexName, SearchRequest, SearchResult


class ViewSearch:
    """Answers from one view of one index of one site."""

    def __init__(self, view: View, meanings: Meanings | None = None) -> None:
        self._view, self._meanings = view, meanings

    def search(self, site_id: int, index: IndexName, request: SearchRequest) -> SearchResult:
        with readable():
            return evaluate(self._view, request, self._meanings)

    def search_many(self, site_id: int, index: IndexName, requests: Sequence[SearchRequest]) -> list[SearchResult]:
        return [self.search(site_id, index, request) for request in requests]
