"""The shopper's filters over the documents that are found, and the counts of facets and ranges under them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import numpy as np

from app.adapters.whoosh.facet_column import Docs, Mask
from app.adapters.whoosh.view import View
from app.domain.search.engine import MOST_FACET_VALUES, RangeCount, RangeFilter, SearchRequest, ValueFilter


class Filters:
    """The filters of a request over found documents. Each facet is counted without its own filter, so that its other
    values can be chosen too."""

    def __init__(self, view: View, request: SearchRequest, docs: Docs) -> None:
        self._view, self._request, self._docs = view, request, docs
        self._masks: list[tuple[tuple[str, str], Mask]] = [
            *((("value", chosen.name), value_mask(view, chosen)[docs]) for chosen in request.filters),
            *((("range", chosen.name), _range_mask(view, chosen)[docs]) for chosen in request.ranges),
        ]
        kept = self.kept()
        self._kept_docs = docs if kept is None else docs[kept]

    def kept(self) -> Mask | None:
        """Return the mask of documents that pass all filters; None when there are no filters."""
        return all_of([mask for _, mask in self._masks])

    def masks(self) -> list[Mask]:
        """Return a mask for each filter, over all documents of the view, found or not."""
        view, request = self._view, self._request
        return [*(value_mask(view, f) for f in request.filters), *(_range_mask(view, r) for r in request.ranges)]

    def facets(self) -> Mapping[str, tuple[tuple[str, int], ...]]:
        return {
            name: self._view.facet(name).counts(self._docs_without("value", name), MOST_FACET_VALUES)
            for name in self._request.facets
        }

    def ranges(self) -> Mapping[str, RangeCount]:
        return {
            name: _range_count(self._view, name, self._docs_without("range", name))
            for name in self._request.range_facets
        }

    def _docs_without(self, kind: str, name: str) -> Docs:
        """Return the documents that pass every filter but the one of this kind and name."""
        others = [mask for own, mask in self._masks if own != (kind, name)]
        if len(others) == len(self._masks):
            return self._kept_docs
        mask = all_of(others)
        return self._docs if mask is None else self._docs[mask]


def value_mask(view: View, chosen: ValueFilter) -> Mask:
    return view.recent(("mask", chosen), lambda: view.value_mask(chosen.name, chosen.values), lambda mask: mask.nbytes)


def all_of(masks: Sequence[Mask]) -> Mask | None:
    """Return the mask of documents in all masks; None for no masks at all."""
    return reduce(np.logical_and, masks) if masks else None


def _range_mask(view: View, chosen: RangeFilter) -> Mask:
    numbers = view.numbers(chosen.name)
    low = -np.inf if chosen.low is None else chosen.low
    high = np.inf if chosen.high is None else chosen.high
    return (numbers >= low) & (numbers <= high)


def _range_count(view: View, name: str, docs: Docs) -> RangeCount:
    numbers = view.numbers(name)[docs]
    numbers = numbers[~np.isnan(numbers)]
    if not len(numbers):
        return RangeCount(None, None, 0)
    return RangeCount(float(numbers.min()), float(numbers.max()), len(numbers))
