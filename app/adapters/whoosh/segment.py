"""One segment for reading: its postings and columns as arrays on first use.

A segment file is never changed by the shop, so what is decoded here stays true until the segment is dropped.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import islice, takewhile
from pathlib import Path

import numpy as np
import numpy.typing as npt
from whoosh.codec.whoosh3 import W3Codec, W3Segment

from app.adapters.whoosh.column_files import TextColumn, read_numbers, read_rare_numbers, read_values
from app.adapters.whoosh.file_bytes import FilePart, open_file
from app.adapters.whoosh.inverted import ValueColumn, utf8
from app.adapters.whoosh.postings import Postings, document_frequency, read_postings
from app.adapters.whoosh.schema import ID_FIELD, NUMBER_PREFIX, RARE_NUMBER_PREFIX, VALUES_PREFIX, VECTORS_COLUMN
from app.adapters.whoosh.segment_file import column_file, length_column, segment_name
from app.adapters.whoosh.signs import Signs
from app.adapters.whoosh.term_file import TermFile
from app.adapters.whoosh.vectors import RowVectors, read_vectors

_START = struct.Struct("!qi")

# A segment of so many documents stays for long; what is made of its words and names is worth keeping.
LARGE = 2_000


class Segment:
    """A segment of an index, open for reading. `count` includes deleted documents; the table of contents names
    those."""

    def __init__(self, directory: Path, entry: W3Segment) -> None:
        self.entry = entry
        self.id: str = entry.segment_id()
        self.count: int = entry.doc_count_all()
        self.field_lengths: dict[str, int] = dict(getattr(entry, "_fieldlengths", {}))
        self.analysis: int = getattr(entry, "analysis", 0)  # Earlier releases noted none.
        self.file_name = segment_name(entry)
        self._column_file = column_file(entry, "{}").format  # Called often, so the name is not put together each time.
        self._whole = open_file(directory / self.file_name)
        self.stamp = self._whole.stamp()
        start, length = _START.unpack(self._whole[: _START.size])
        self._entries: dict[str, dict[str, int]] = pickle.loads(self._whole[start : start + length])
        self._terms = TermFile(self._file(str(entry.make_filename(W3Codec.TERMS_EXT))))
        self._posting_file = self._file(str(entry.make_filename(W3Codec.POSTS_EXT)))
        self._texts: dict[str, TextColumn] = {}
        self._values: dict[str, ValueColumn] = {}
        self._frequencies: dict[str, Mapping[str, int]] = {}

    def is_unchanged(self) -> bool:
        """Whether the file was not written to since it was opened; it may have been removed."""
        return self._whole.stamp() == self.stamp

    def _file(self, name: str) -> FilePart:
        entry = self._entries[name]
        return self._whole.part(entry["offset"], entry["length"])

    def _column(self, name: str) -> FilePart | None:
        file = self._column_file(name)
        return self._file(file) if file in self._entries else None

    def value_names(self) -> set[str]:
        return set(self._columns(VALUES_PREFIX))

    def number_names(self) -> set[str]:
        return {*self._columns(NUMBER_PREFIX), *self._columns(RARE_NUMBER_PREFIX)}

    def _columns(self, prefix: str) -> list[str]:
        """The names of the columns of a kind, without the prefix of the kind."""
        start = self._column_file(prefix)[: -len(W3Codec.COLUMN_EXT)]
        end = len(W3Codec.COLUMN_EXT)
        return [name[len(start) : -end] for name in self._entries if name.startswith(start)]

    def document_of(self, document_id: str) -> int | None:
        info = self._terms.info(ID_FIELD, utf8(document_id))
        return None if info is None else int(read_postings(info, self._posting_file)[0][0])

    def postings(self, field: str, term: bytes) -> Postings | None:
        info = self._terms.info(field, term)
        return None if info is None else read_postings(info, self._posting_file)

    def all_postings(self, field: str) -> Iterator[tuple[bytes, Postings]]:
        for term, info in self._terms.vocabulary(field):
            yield term, read_postings(info, self._posting_file)

    def frequencies(self, field: str) -> Mapping[str, int]:
        """The terms of a field, sorted, and how many documents hold each."""
        known = self._frequencies.get(field)
        if known is None:
            vocabulary = self._terms.vocabulary(field)
            known = {term.decode(): document_frequency(info) for term, info in vocabulary}
            if self.count < LARGE:
                self._frequencies[field] = known
        return known

    def lengths(self, field: str) -> npt.NDArray[np.uint8]:
        """Whoosh's one-byte field length of each document."""
        column = self._column(length_column(field))
        return np.zeros(self.count, np.uint8) if column is None else np.frombuffer(column[:], np.uint8, self.count)

    def terms_from(self, field: str, prefix: bytes, limit: int) -> list[bytes]:
        """Return up to `limit` terms that begin with the prefix, sorted."""
        terms = (term for term, _ in islice(self._terms.vocabulary(field, prefix), limit))
        return list(takewhile(lambda term: term.startswith(prefix), terms))

    def values(self, name: str) -> ValueColumn | None:
        if name not in self._values:
            column = self._column(VALUES_PREFIX + name)
            if column is None:
                return None
            self._values[name] = ValueColumn(*read_values(column, self.count))
        return self._values[name]

    def has_numbers(self, name: str) -> bool:
        return any(self._column(prefix + name) is not None for prefix in (NUMBER_PREFIX, RARE_NUMBER_PREFIX))

    def numbers(self, name: str) -> npt.NDArray[np.float64]:
        """Return the number of each document under a name, NaN where it has none."""
        column = self._column(NUMBER_PREFIX + name)
        if column is not None:
            return read_numbers(column, self.count)
        column = self._column(RARE_NUMBER_PREFIX + name)
        return np.full(self.count, np.nan) if column is None else read_rare_numbers(column, self.count)

    @cached_property
    def vectors(self) -> RowVectors | None:
        column = self._column(VECTORS_COLUMN)
        return None if column is None else read_vectors(column, self.count)

    @cached_property
    def signs(self) -> Signs:
        """The signs of the segment's vectors, which it must have."""
        assert self.vectors is not None
        return Signs.of(self.vectors.rows[:])

    def text(self, name: str) -> TextColumn:
        if name not in self._texts:
            column = self._column(name)
            assert column is not None, f"the segment has no column {name}"
            self._texts[name] = TextColumn(column, self.count)
        return self._texts[name]
