"""A column of values over all segments: one code by document, so that counting is one pass over an array.

A document's values are one entry, however many they are ("Black", or "Black" and "Red"); entries are counted by
document and spread over their values afterwards, which costs the same for one value as for many.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy

import numpy as np
import numpy.typing as npt

from app.adapters.whoosh.inverted import ValueColumn, utf8
from app.adapters.whoosh.schema import VALUE_SEPARATOR

Docs = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]


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

    def entry_counts(self, docs: Docs | None) -> npt.NDArray[np.intp]:
        return np.bincount(self.codes if docs is None else self.codes[docs], minlength=self.entries)

    def counts(self, docs: Docs, limit: int) -> tuple[tuple[str, int], ...]:
        """Return (value, documents) of the values among `docs`, commonest first, equals by name."""
        entries = self.entry_counts(docs)
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


def entry_mask(column: ValueColumn | None, count: int, values: Iterable[str]) -> Mask:
    """Return the mask of a segment's documents that carry any of the values, without numbering them all."""
    if column is None:
        return np.zeros(count, np.bool_)
    wanted = {utf8(value) for value in values}
    separator = VALUE_SEPARATOR.encode()
    carries = [not wanted.isdisjoint(entry.split(separator)) for entry in column.uniques]
    mask: Mask = np.array(carries, np.bool_)[column.codes]
    return mask
