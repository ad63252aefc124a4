"""The evaluation of requests on an index of the cluster."""

from __future__ import annotations

from collections.abc import Sequence

from app.adapters.opensearch.cluster import Cluster
from app.domain.search.engine import EngineFault, Explanation, SearchRequest, SearchResult, SearchUnavailable

_NOT_YET = "This version of the shop cannot search on a cluster yet."


def evaluate(cluster: Cluster, index: str, requests: Sequence[SearchRequest]) -> list[SearchResult]:
    """Return the result of each request, in their order. Raises SearchUnavailable."""
    raise SearchUnavailable(_NOT_YET, EngineFault.REFUSED)


def explain(cluster: Cluster, index: str, request: SearchRequest, document_id: str) -> Explanation:
    """Return why a document is, or is not, among the results. Raises SearchUnavailable."""
    raise SearchUnavailable(_NOT_YET, EngineFault.REFUSED)
