"""Facets: values by document over all segments, the shopper's filters, and the counts of facets and ranges under them.

A document's values are one entry, however many they are ("Black", or "Black" and "Red"); entries are counted by
document and spread over their values afterwards, which costs the same for one value as for many.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import reduce

import numpy as np
import numpy.typing as npt

from app.adapters.whoosh.files import VALUE_SEPARATOR, ValueColumn, utf8
from app.adapters.whoosh.view import Docs, Mask, View
from app.domain.search.engine import (
    MOST_FACET_VALUES,
    PlacedGroup,
    RangeCount,
    RangeFilter,
    SearchRequest,
    ValueFilter,
)

# A column of more entries is no facet but a code of each document; it is looked through instead of numbered.
FACET_ENTRIES = 20_000


class FacetColumn:
    """The values of a facet by document. `codes` number the entries by document: 0 is no value, 1 to len(names) are the
    single values in their order, and entries of several values come after those; there are `entries` of them."""

    def __init__(self, columns: Sequence[ValueColumn | None], counts: Sequence[int]) -> None:
        entries = {entry for column in columns if column is not None for entry in column.uniques if entry}
        values = {entry: entry.decode().split(VALUE_SEPARATOR) for entry in entries}
        self.names = sorted({value for several in values.values() for value in several})
        self._numbers = {name: number for number, name in enumerate(self.names)}
        several = sorted(entry for entry, own in values.items() if len(own) > 1)
        self.entries = 1 + len(self.names) + len(several)
        self._entries = {entry: 1 + self._numbers[own[0]] for entry, own in values.items() if len(own) == 1}
        self._entries |= {entry: 1 + len(self.names) + place for place, entry in enumerate(several)}
        self._entries[b""] = 0
        # One row for every value of every entry of several.
        self._row_entry = np.repeat(np.arange(len(several)), [len(values[entry]) for entry in several])
        self._row_value = np.array([self._numbers[value] for entry in several for value in values[entry]], np.intp)
        self.codes = np.concatenate(list(map(self._codes, columns, counts)))

    def _codes(self, column: ValueColumn | None, count: int) -> npt.NDArray[np.integer]:
        dtype = np.uint16 if self.entries <= 1 << 16 else np.int32
        if column is None:
            return np.zeros(count, dtype)
        codes: npt.NDArray[np.integer] = np.array([self._entries[entry] for entry in column.uniques], dtype)
        return codes[column.codes]

    def extended(self, size: int, columns: Sequence[ValueColumn | None], counts: Sequence[int]) -> FacetColumn | None:
        """Return the column of the first `size` documents and those of further segments; None where these have entries
        that have no number yet."""
        if any(column is not None and not self._entries.keys() >= set(column.uniques) for column in columns):
            return None
        extended = copy(self)
        extended.codes = np.concatenate([self.codes[:size], *map(self._codes, columns, counts)])
        return extended

    def counts(self, docs: Docs, limit: int) -> tuple[tuple[str, int], ...]:
        """Return (value, documents) of the values among `docs`, commonest first, equals by name."""
        entries = np.bincount(self.codes[docs], minlength=self.entries)
        if entries[0] == len(docs):
            return ()  # Most attributes are those of other products.
        counts = entries[1 : len(self.names) + 1]
        if len(self._row_entry):
            several = entries[len(self.names) + 1 :]
            spread = np.bincount(self._row_value, several[self._row_entry], len(self.names))
            counts = counts + spread.astype(np.intp)
        found = counts.nonzero()[0]
        order = found[(-counts[found]).argsort(kind="stable")][:limit]
        names = map(self.names.__getitem__, order.tolist())
        return tuple(zip(names, counts[order].tolist(), strict=True))

    def mask(self, values: Iterable[str]) -> Mask:
        """Return the mask of documents that carry any of the values."""
        wanted = [self._numbers[value] for value in values if value in self._numbers]
        entries = np.zeros(self.entries, np.bool_)
        entries[[1 + number for number in wanted]] = True
        entries[1 + len(self.names) + self._row_entry[np.isin(self._row_value, wanted)]] = True
        mask: Mask = entries[self.codes]
        return mask


def facet_of(view: View, name: str) -> FacetColumn:
    """Return the column of a facet, cached only where documents carry it: addresses can make up any name."""
    key = "facet", name
    facet: FacetColumn | None = view.columns.get(key)
    if facet is None:
        columns = [segment.values(name) for segment in view.segments]
        known, first = view.take_over(key)
        if known is not None:
            facet = known.extended(int(view.bases[first]), columns[first:], view.counts[first:])
        facet = facet or FacetColumn(columns, view.counts)
        if any(columns):
            view.columns[key] = facet
    return facet


def value_mask(view: View, name: str, values: Sequence[str]) -> Mask:
    """Return the mask of documents that carry any of the values under a name."""
    columns = [segment.values(name) for segment in view.segments]
    if sum(len(column.uniques) for column in columns if column is not None) <= FACET_ENTRIES:
        return facet_of(view, name).mask(values)
    return np.concatenate([_entry_mask(c, n, values) for c, n in zip(columns, view.counts, strict=True)])


def _entry_mask(column: ValueColumn | None, count: int, values: Iterable[str]) -> Mask:
    """Return the mask of a segment's documents that carry any of the values, without numbering them all."""
    if column is None:
        return np.zeros(count, np.bool_)
    wanted = {utf8(value) for value in values}
    separator = VALUE_SEPARATOR.encode()
    carries = [not wanted.isdisjoint(entry.split(separator)) for entry in column.uniques]
    mask: Mask = np.array(carries, np.bool_)[column.codes]
    return mask


def filter_mask(view: View, chosen: ValueFilter) -> Mask:
    """Return the mask of documents that pass a filter, from the cache of recent ones."""
    return view.recent(("mask", chosen), lambda: value_mask(view, chosen.name, chosen.values), lambda mask: mask.nbytes)


class Filters:
    """The filters of a request over found documents. Each facet is counted without its own filter, so that its other
    values can be chosen too."""

    def __init__(self, view: View, request: SearchRequest, docs: Docs) -> None:
        self._view, self._request, self._docs = view, request, docs
        self._masks: list[tuple[tuple[str, str], Mask]] = [
            *((("value", chosen.name), filter_mask(view, chosen)[docs]) for chosen in request.filters),
            *((("range", chosen.name), _range_mask(view, chosen)[docs]) for chosen in request.ranges),
        ]
        kept = self.mask()
        self._kept_docs = docs if kept is None else docs[kept]

    def mask(self) -> Mask | None:
        """Return the mask of documents that pass all filters; None when there are no filters."""
        return all_of([mask for _, mask in self._masks])

    def masks_of_all(self) -> list[Mask]:
        """Return a mask for each filter, over all documents of the view, found or not."""
        view, request = self._view, self._request
        return [*(filter_mask(view, f) for f in request.filters), *(_range_mask(view, r) for r in request.ranges)]

    def facets(self) -> Mapping[str, tuple[tuple[str, int], ...]]:
        return {
            name: facet_of(self._view, name).counts(self._docs_without("value", name), MOST_FACET_VALUES)
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


def group_mask(view: View, group: PlacedGroup) -> Mask:
    """Return the mask of the documents of a group, from the cache of recent ones."""

    def mask() -> Mask:
        masks = [*(filter_mask(view, f) for f in group.values), *(_range_mask(view, r) for r in group.ranges)]
        masks += [~filter_mask(view, f) for f in group.excluded]
        held = all_of(masks)
        return np.ones(view.size, np.bool_) if held is None else held

    return view.recent(("group", replace(group, is_boosted=True)), mask, lambda mask: mask.nbytes)


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
