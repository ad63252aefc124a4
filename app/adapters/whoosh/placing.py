"""Pinned, boosted and buried documents (app/domain/search/ranking/scoring.py) in an order by keys."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.adapters.whoosh.facet_column import Docs, Mask
from app.adapters.whoosh.ordering import Keys, slice_of
from app.adapters.whoosh.scoring import place_of
from app.adapters.whoosh.view import View
from app.domain.search.engine import SearchRequest
from app.domain.search.ranking.scoring import PlacedDocuments


def pinned_docs(view: View, request: SearchRequest, allowed: Mask | None) -> Docs:
    """Return the pinned documents in the scope, rising, each once: they belong to the results in any order."""
    docs = [doc for pin in request.pins if (doc := view.document_of(pin.id)) is not None]
    return np.unique(np.array([doc for doc in docs if allowed is None or allowed[doc]], np.intp))


@dataclass(frozen=True, slots=True)
class PlacedOrder:
    """The order of `docs` (rising) by `keys`, highest first, where `placement` puts none elsewhere. `numbers` has those
    of `docs` that the request names, by their ids."""

    docs: Docs
    keys: Keys
    placement: PlacedDocuments
    numbers: dict[str, int]

    @classmethod
    def of(cls, view: View, request: SearchRequest, docs: Docs, keys: Keys) -> PlacedOrder:
        numbers = {}
        for document_id in (*(pin.id for pin in request.pins), *request.boosts, *request.buries):
            doc = view.document_of(document_id)
            if doc is not None and place_of(docs, doc) is not None:
                numbers[document_id] = doc
        return cls(docs, keys, PlacedDocuments.of(request, numbers, len(docs)), numbers)

    def between(self, start: int, end: int) -> Docs:
        """Return the documents at the places from `start` to before `end`."""
        if not self.placement:
            return slice_of(self.docs, self.keys, start, end)
        before, slots = self.placement.slots(start, end)
        docs, keys = self._unpinned()
        others = iter(slice_of(docs, keys, before, before + slots.count(None)).tolist())
        return np.array([next(others) if pinned is None else self.numbers[pinned] for pinned in slots], np.intp)

    def rank(self, document_id: str, doc: int) -> int:
        """Return the rank, 1-based, of a document that is among `docs`."""
        pinned = self.placement.pin_rank(document_id)
        if pinned is not None:
            return pinned
        docs, keys = self._unpinned()
        at = int(docs.searchsorted(doc))
        return self.placement.rank(int(np.count_nonzero(keys > keys[at]) + np.count_nonzero(keys[:at] == keys[at])))

    def _unpinned(self) -> tuple[Docs, Keys]:
        """Return the documents without the pinned, and their keys; boosted ones have keys above all others, buried ones
        below."""
        keys = self.keys.astype(np.float64)
        boosts, buries = (self._places(ids) for ids in (self.placement.boosts, self.placement.buries))
        if len(boosts) or len(buries):
            highest, span = keys.max(), keys.max() - keys.min() + 1
            keys[buries] -= span
            keys[boosts] = highest + np.arange(len(boosts), 0, -1)
        free = np.ones(len(self.docs), np.bool_)
        free[self._places(tuple(self.placement.pins.values()))] = False
        return self.docs[free], keys[free]

    def _places(self, ids: tuple[str, ...]) -> Docs:
        return self.docs.searchsorted(np.array([self.numbers[document_id] for document_id in ids], np.intp))
