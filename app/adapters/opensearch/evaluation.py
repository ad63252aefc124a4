"""The results of requests: page, total and counts of each, in as few round trips as it takes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any

from app.adapters.opensearch.cluster import Cluster, Target
from app.adapters.opensearch.explaining import Explainer
from app.adapters.opensearch.lookups import Lookups
from app.adapters.opensearch.meaning import SearchVectors
from app.adapters.opensearch.ordering import Document, OrderedDocuments, id_of
from app.domain.search.engine import Explanation, Hit, RangeCount, SearchRequest, SearchResult
from app.domain.search.sentence_model import Meanings

AT_ONCE = 24  # Searches that share their round trips; each trip has a time limit, whatever it brings.


def evaluate(
    cluster: Cluster, target: Target, requests: Sequence[SearchRequest], meanings: Meanings | None = None
) -> list[SearchResult]:
    """Return the result of each request, in their order. Without `meanings` words alone rank. Raises SearchUnavailable
    and SupersededError."""
    results: list[SearchResult] = []
    for start in range(0, len(requests), AT_ONCE):
        some = requests[start : start + AT_ONCE]
        lookups, vectors = Lookups(cluster, _preferring(target, some[0])), SearchVectors(meanings)
        results += lookups.complete([partial(_result, lookups, request, vectors) for request in some])
    return results


def _preferring(target: Target, request: SearchRequest) -> Target:
    """Return the target with a preference that all pages of a listing have, whatever its filters and its order."""
    return replace(target, preference=sha256(repr((request.words, request.scope)).encode()).hexdigest()[:16])


def explain(
    cluster: Cluster, target: Target, request: SearchRequest, document_id: str, meanings: Meanings | None = None
) -> Explanation:
    """Return why a document is, or is not, among the results of a request. Raises SearchUnavailable and
    SupersededError."""
    lookups, vectors = Lookups(cluster, _preferring(target, request)), SearchVectors(meanings)
    patient = replace(request, patient=True)

    def explained() -> Explanation:
        return Explainer(OrderedDocuments(lookups, patient, vectors)).explanation(document_id)

    (explanation,) = lookups.complete([explained])
    return explanation


def _result(lookups: Lookups, request: SearchRequest, vectors: SearchVectors) -> SearchResult:
    documents = OrderedDocuments(lookups, request, vectors)
    answer, counted = documents.answer, documents.main.get("aggregations", {})
    full, by_words = _word_counts(documents, counted)
    counts = documents.filters.found(counted)
    return SearchResult(
        total=documents.total,
        hits=_hits(documents),
        facets={name: _values(counts[f"facet {place}"]) for place, name in enumerate(request.facets)},
        ranges={name: _span(counts[f"range {place}"]) for place, name in enumerate(request.range_facets)},
        suggestion=answer.suggestion if answer else None,
        corrected=answer is not None and answer.corrected,
        relaxed=full is not None and full < by_words,
        full_matches=full,
        by_meaning_alone=counted["alone"]["doc_count"] if "alone" in counted else 0,
        similar=tuple(Hit(id_of(near), cosine, _card(near)) for near, cosine in documents.similar()),
        lacks_meaning=documents.lacks_meaning,
    )


def _word_counts(documents: OrderedDocuments, counted: Mapping[str, Any]) -> tuple[int | None, int]:
    """Return how many of the results have all the words, None without words, and how many have words at all."""
    found = documents.answer.found if documents.answer else None
    if found is None:
        return None, 0
    by_words = counted["by words"]["doc_count"] if "by words" in counted else documents.total
    by_words = by_words if len(found) else 0
    if found.full is None:
        return by_words, by_words
    return counted["full"]["doc_count"] if found.full else 0, by_words


def _hits(documents: OrderedDocuments) -> tuple[Hit, ...]:
    start, _ = documents.request.window
    explainer = Explainer(documents) if documents.request.explain else None
    return tuple(
        Hit(
            id_of(document),
            documents.score(document) if documents.answer else 0.0,
            _card(document),
            explainer.explanation_of(document, rank) if explainer else None,
        )
        for rank, document in enumerate(documents.page(), start + 1)
    )


def _card(document: Document) -> Mapping[str, object]:
    card: Mapping[str, object] = json.loads(document["_source"]["card"])
    return card


def _values(counted: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
    return tuple((bucket["key"], bucket["doc_count"]) for bucket in counted["buckets"])


def _span(counted: Mapping[str, Any]) -> RangeCount:
    return RangeCount(counted["min"], counted["max"], counted["count"])
