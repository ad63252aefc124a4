"""A column of values over all segments: one code by document, so that counting is one pass over an array.

A document's values are one entry, however many they are ("Black", or "Black" and "Red"); entries are counted by
document and spread over their values afterwards, which costs the same for one value as for many.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from app.adapters.whoosh.inverted import ValueColumn
from app.adapters.whoosh.schema import VALUE_SEPARATOR

Docs = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]


class FacetColumn:
    """`codes` number the entries by document; entry 0 is "no value"."""

    def __init__(self, columns: Sequence[ValueColumn | None], counts: Sequence[int]) -> None:
        numbers: dict[bytes, int] = {b"": 0}
        parts = []
        for column, count in zip(columns, counts, strict=True):
            if column is None:
                parts.append(np.zeros(count, np.int32))
                continue
            targets = np.array([numbers.setdefault(entry, len(numbers)) for entry in column.uniques], np.int32)
            parts.append(targets[column.codes])
        codes = np.concatenate(parts) if parts else np.zeros(0, np.int32)
        self.codes = codes.astype(np.uint16) if len(numbers) <= 1 << 16 else codes
        self._entries = len(numbers)
        entries = [entry.decode().split(VALUE_SEPARATOR) if entry else [] for entry in numbers]
        self.names = sorted({value for entry in entries for value in entry})
        self._numbers = {value: number for number, value in enumerate(self.names)}
        # One row for every value of every entry.
        self._row_entry = np.repeat(np.arange(len(entries)), [len(entry) for entry in entries])
        self._row_value = np.array([self._numbers[value] for entry in entries for value in entry], np.intp)

    def entry_counts(self, docs: Docs | None) -> npt.NDArray[np.intp]:
        return np.bincount(self.codes if docs is None else self.codes[docs], minlength=self._entries)

    def counts(self, docs: Docs, limit: int) -> tuple[tuple[str, int], ...]:
        """(value, documents) of the values among `docs`, commonest first, equals by name."""
        entry_counts = self.entry_counts(docs)
        counts = np.bincount(self._row_value, entry_counts[self._row_entry], len(self.names)).astype(np.intp)
        found = np.flatnonzero(counts)
        order = found[np.argsort(-counts[found], kind="stable")][:limit]
        names = self.names
        return tuple((names[value], count) for value, count in zip(order.tolist(), counts[order].tolist(), strict=True))

    def mask(self, values: Sequence[str]) -> Mask:
        """Which documents carry any of the values."""
        wanted = [self._numbers[value] for value in values if value in self._numbers]
        entries = np.zeros(self._entries, np.bool_)
        entries[self._row_entry[np.isin(self._row_value, wanted)]] = True
        return entries[self.codes]
