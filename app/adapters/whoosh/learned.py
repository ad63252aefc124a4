"""The lifts that clicks taught for a search (app/domain/search/ranking/learning.py), over arrays."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from app.adapters.whoosh.facet_column import Docs
from app.adapters.whoosh.scoring import Scores, place_of
from app.adapters.whoosh.view import View
from app.domain.search.engine import SearchRequest
from app.domain.search.ranking.scoring import KIND


def factors(view: View, request: SearchRequest, docs: Docs) -> Iterator[tuple[str, Scores]]:
    """Yield (kind of score part, factor of each document), for products and for levels where the request has factors
    of them."""
    learned = request.learned
    if learned.documents:
        yield "learned", _of_documents(view, learned.documents, docs)
    if learned.levels:
        yield "learned_level", _of_levels(view, learned.levels, docs)


def _of_documents(view: View, by_id: tuple[tuple[str, float], ...], docs: Docs) -> Scores:
    found: Scores = np.ones(len(docs), np.float32)
    for document_id, factor in by_id:
        doc = view.document_of(document_id)
        place = None if doc is None else place_of(docs, doc)
        if place is not None:
            found[place] = factor
    return found


def _of_levels(view: View, by_level: tuple[tuple[str, float], ...], docs: Docs) -> Scores:
    found: Scores = np.ones(len(docs), np.float32)
    for level, factor in by_level:
        carries = view.value_mask(KIND, [level])[docs]
        found[carries] = np.maximum(found[carries], np.float32(factor))
    return found
