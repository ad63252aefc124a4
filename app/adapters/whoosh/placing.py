"""Where a request puts documents in the order by relevance: pinned at positions, boosted before, buried behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.adapters.whoosh.facet_column import Docs, Mask
from app.adapters.whoosh.ordering import Keys, slice_of
from app.adapters.whoosh.view import View
from app.domain.search.engine import SearchRequest, Sort


def is_placed(request: SearchRequest) -> bool:
    return request.sort is Sort.RELEVANCE and bool(request.pins or request.boosts or request.buries)


def pinned_docs(view: View, request: SearchRequest, allowed: Mask | None) -> Docs:
    """The pinned documents that the scope allows, rising, each once: they belong to the results in any order."""
    docs = [doc for pin in request.pins if (doc := view.document_of(pin.id)) is not None]
    return np.unique(np.array([doc for doc in docs if allowed is None or allowed[doc]], np.intp))


@dataclass(frozen=True, slots=True)
class Placing:
    """The order of `docs` (rising) whose `keys` are highest first. `pins` maps 0-based places of the whole list to
    documents; `boosted` and `buried` leave the pinned out, so that no document stands twice."""

    docs: Docs
    keys: Keys
    pins: dict[int, int]
    boosted: tuple[int, ...]
    buried: tuple[int, ...]

    @classmethod
    def of(cls, view: View, request: SearchRequest, docs: Docs, keys: Keys) -> Placing:
        known = _Known(view, docs)
        pins = _places([(pin.position - 1, known.doc(pin.id)) for pin in request.pins], len(docs))
        pinned = set(pins.values())
        boosted = tuple(doc for doc in known.docs(request.boosts) if doc not in pinned)
        buried = tuple(doc for doc in known.docs(request.buries) if doc not in pinned and doc not in boosted)
        return cls(docs, keys, pins, boosted, buried)

    def page(self, page: int, per_page: int) -> Docs:
        start = (page - 1) * per_page
        end = min(start + per_page, len(self.docs))
        if start >= end:
            return self.docs[:0]
        free = [place for place in range(start, end) if place not in self.pins]
        before = start - sum(place < start for place in self.pins)
        docs, keys = self._unpinned()
        filling = iter(slice_of(docs, keys, before, before + len(free)).tolist())
        return np.array([self.pins[at] if at in self.pins else next(filling) for at in range(start, end)], np.intp)

    def rank(self, doc: int) -> int:
        """1-based, of a document that is among `docs`."""
        for place, pinned in self.pins.items():
            if pinned == doc:
                return place + 1
        docs, keys = self._unpinned()
        at = int(docs.searchsorted(doc))
        place = int(np.count_nonzero(keys > keys[at]) + np.count_nonzero(keys[:at] == keys[at]))
        for taken in sorted(self.pins):
            place += taken <= place
        return place + 1

    def placed(self, doc: int) -> str | None:
        """How the request put it in its place."""
        kinds = (("pinned", self.pins.values()), ("boosted", self.boosted), ("buried", self.buried))
        return next((kind for kind, docs in kinds if doc in docs), None)

    def _unpinned(self) -> tuple[Docs, Keys]:
        """Without the pinned; boosted ones have keys above all others, buried ones below."""
        keys = self.keys.astype(np.float64)
        if len(keys):
            highest, span = keys.max(), keys.max() - keys.min() + 1
            keys[self.docs.searchsorted(np.array(self.buried, np.intp))] -= span
            boosted = self.docs.searchsorted(np.array(self.boosted, np.intp))
            keys[boosted] = highest + np.arange(len(boosted), 0, -1)
        free = ~np.isin(self.docs, list(self.pins.values()))
        return self.docs[free], keys[free]


class _Known:
    """Looks up which of the documents an id names."""

    def __init__(self, view: View, docs: Docs) -> None:
        self._view, self._docs = view, docs

    def doc(self, document_id: str) -> int | None:
        doc = self._view.document_of(document_id)
        if doc is None or not len(self._docs):
            return None
        at = min(int(self._docs.searchsorted(doc)), len(self._docs) - 1)
        return doc if self._docs[at] == doc else None

    def docs(self, ids: Sequence[str]) -> list[int]:
        return list(dict.fromkeys(doc for document_id in ids if (doc := self.doc(document_id)) is not None))


def _places(wanted: Sequence[tuple[int, int | None]], total: int) -> dict[int, int]:
    """Where pins stand in a list of `total`. Each keeps its position although others are filtered out; those beyond
    the end stand at the end in their order. A position that is taken yields the next."""
    docs: dict[int, int] = {}
    for place, doc in wanted:
        if doc is not None and doc not in docs:
            docs[doc] = max(place, 0)
    standing: dict[int, int] = {}
    free_from = 0
    for left, (doc, place) in zip(range(len(docs), 0, -1), sorted(docs.items(), key=lambda pin: pin[1]), strict=True):
        at = min(max(place, free_from), total - left)
        standing[at] = doc
        free_from = at + 1
    return standing
