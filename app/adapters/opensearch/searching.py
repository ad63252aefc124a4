"""Searches of one index of the cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.adapters.opensearch import evaluation
from app.adapters.opensearch.cluster import Cluster, Target
from app.domain.search.engine import Explanation, IndexName, SearchRequest, SearchResult
from app.domain.search.sentence_model import Meanings


@dataclass(frozen=True, slots=True)
class IndexSearch:
    """Answers from one index of the cluster, whatever index of a shop is named to it. Without `meanings` words alone
    rank."""

    cluster: Cluster
    target: Target
    meanings: Meanings | None = None

    def search(self, site_id: int, index: IndexName, request: SearchRequest) -> SearchResult:
        return self.search_many(site_id, index, [request])[0]

    def search_many(self, site_id: int, index: IndexName, requests: Sequence[SearchRequest]) -> list[SearchResult]:
        return evaluation.evaluate(self.cluster, self.target, requests, self.meanings) if requests else []

    def explain(self, request: SearchRequest, document_id: str) -> Explanation:
        return evaluation.explain(self.cluster, self.target, request, document_id, self.meanings)
