"""A segment of an index: one file in Whoosh's compound format, written in one go from inverted documents, read as
arrays on first use, and merged with others.

A segment file is never changed by the shop, so what is decoded here stays true until the segment is dropped.
"""

from __future__ import annotations

import os
import pickle
import secrets
import struct
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice, takewhile
from pathlib import Path

import numpy as np
import numpy.typing as npt
from whoosh.codec.whoosh3 import W3Codec, W3Segment

from app.adapters.whoosh.files import (
    BYTES_COLUMNS,
    FORMS_COLUMN,
    ID_FIELD,
    INDEXED_FIELDS,
    NUMBER_PREFIX,
    RARE_NUMBER_PREFIX,
    VALUES_PREFIX,
    VECTORS_COLUMN,
    FilePart,
    Ints,
    TextColumn,
    ValueColumn,
    open_file,
    read_numbers,
    read_rare_numbers,
    read_values,
    utf8,
    write_numbers,
    write_rare_numbers,
    write_texts,
    write_values,
)
from app.adapters.whoosh.inversion import Inverted, InvertedField
from app.adapters.whoosh.terms import (
    Postings,
    TermFile,
    document_frequency,
    read_postings,
    term_key,
    write_postings,
    write_terms,
)
from app.adapters.whoosh.vectors import RowVectors, Signs, merge_rows, read_vectors, write_vectors
from app.adapters.whoosh.word_forms import find_forms, write_forms
from app.domain.search.ranking.scoring import TEXT_FIELDS

INDEX_NAME = "MAIN"
_START = struct.Struct("!qi")  # Where the directory of the file begins, and its length.
_ALIGNMENT = 8

# A number is rare in a segment when fewer than one in so many documents have it.
RARE = 4

# A segment of so many documents stays for long; what is made of its words and names is worth keeping.
LARGE = 2_000

SMALL = 10_000  # Only segments of fewer documents are merged.
SEGMENTS_A_TIER = 5
TIER = 8


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
        """Return whether the file was not written to since it was opened; it may have been removed."""
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
        """Return the names of the columns of a kind, without the prefix of the kind."""
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
        """Return the terms of a field, sorted, and how many documents hold each."""
        known = self._frequencies.get(field)
        if known is None:
            vocabulary = self._terms.vocabulary(field)
            known = {term.decode(): document_frequency(info) for term, info in vocabulary}
            if self.count < LARGE:
                self._frequencies[field] = known
        return known

    def forms(self, shared: str) -> list[str]:
        """Return the words of the text fields with a root, the root itself aside."""
        return find_forms(self._forms, shared)

    @cached_property
    def _forms(self) -> bytes:
        column = self._column(FORMS_COLUMN)
        return b"" if column is None else column[:]

    def lengths(self, field: str) -> npt.NDArray[np.uint8]:
        """Return Whoosh's one-byte field length of each document."""
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


def write_segment(directory: Path, inverted: Inverted) -> W3Segment:
    """Write and fsync the file of a segment, and return the segment, which becomes visible with the table of
    contents."""
    segment = W3Segment(W3Codec(), INDEX_NAME, doccount=inverted.count, segid=secrets.token_hex(8))
    segment.compound = True
    segment._fieldlengths = {name: field.total_length for name, field in inverted.fields.items() if field.total_length}
    segment.analysis = inverted.analysis  # Kept in the table of contents, as all of a segment but its file.
    with open(directory / segment_name(segment), "xb") as file:
        file.write(_START.pack(0, 0))
        entries = {}
        for name, content in _segment_parts(segment, inverted):
            file.write(b"\0" * (-file.tell() % _ALIGNMENT))
            entries[name] = {"offset": file.tell(), "length": len(content), "modified": int(time.time())}
            file.write(content)
        start = file.tell()
        file.write(pickle.dumps(entries, 4) + pickle.dumps({}, 4))
        end = file.tell()
        file.seek(0)
        file.write(_START.pack(start, end - start))
        file.flush()
        os.fsync(file.fileno())
    return segment


def _segment_parts(segment: W3Segment, inverted: Inverted) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of each file that the segment file is made of."""
    terms, postings = _write_terms(inverted)
    yield str(segment.make_filename(W3Codec.TERMS_EXT)), terms
    yield str(segment.make_filename(W3Codec.POSTS_EXT)), postings
    for name, field in inverted.fields.items():
        if field.lengths is not None:
            yield column_file(segment, length_column(name)), field.lengths.tobytes()
    words = (word for name in TEXT_FIELDS for word in inverted.fields[name].terms)
    yield column_file(segment, FORMS_COLUMN), write_forms(words)
    for name, values in inverted.values.items():
        yield column_file(segment, VALUES_PREFIX + name), write_values(values)
    for name, numbers in inverted.numbers.items():
        rare = RARE * np.count_nonzero(~np.isnan(numbers)) < len(numbers)
        prefix, write = (RARE_NUMBER_PREFIX, write_rare_numbers) if rare else (NUMBER_PREFIX, write_numbers)
        yield column_file(segment, prefix + name), write(numbers)
    for name, texts in inverted.texts.items():
        yield column_file(segment, name), write_texts(texts)
    if inverted.vectors is not None:
        yield column_file(segment, VECTORS_COLUMN), write_vectors(inverted.vectors)
    # Whoosh reads stored fields from every segment, empty here: ours are columns that need no decompression.
    yield column_file(segment, "_stored"), write_texts([b""] * inverted.count)


def _write_terms(inverted: Inverted) -> tuple[bytes, bytes]:
    """Return (term index, posting lists) of all fields."""
    numbers = {name: number for number, name in enumerate(INDEXED_FIELDS)}
    keys: list[bytes] = []
    infos: list[bytes] = []
    blocks: list[bytes] = []
    offset = 0
    for name, number in numbers.items():
        field = inverted.fields[name]
        keys.extend(term_key(number, term) for term in field.terms)
        field_infos, field_blocks = write_postings(field, offset)
        infos.extend(field_infos)
        blocks.extend(field_blocks)
        offset += sum(map(len, field_blocks))
    return write_terms(numbers, keys, infos), b"".join(blocks)


def column_file(segment: W3Segment, column: str) -> str:
    name: str = W3Codec.column_filename(segment, column)
    return name


def length_column(field: str) -> str:
    return f"_{field}_len"


def segment_name(segment: W3Segment) -> str:
    """Return the name of the file of a segment."""
    name: str = segment.make_filename(W3Segment.COMPOUND_EXT)
    return name


def segments_to_merge(entries: Iterable[W3Segment]) -> list[W3Segment]:
    """Return the segments of the lowest size class with more than SEGMENTS_A_TIER, and of those below it; none without
    such a class. Each class is eight times the one below, so that a document is rewritten only a few times."""
    tiers: dict[int, list[W3Segment]] = defaultdict(list)
    for entry in entries:
        live = entry.doc_count_all() - entry.deleted_count()
        if live < SMALL:
            tiers[(max(live, 1).bit_length() - 1) // (TIER.bit_length() - 1)].append(entry)
    crowded = [tier for tier, members in sorted(tiers.items()) if len(members) > SEGMENTS_A_TIER]
    return [entry for tier in tiers if crowded and tier <= crowded[0] for entry in tiers[tier]]


def merge_segments(segments: Sequence[Segment], deleted: Sequence[Iterable[int]]) -> Inverted:
    """Return the live documents of the segments, in their order, as one inverted segment."""
    live = [np.delete(np.arange(s.count), list(gone)) for s, gone in zip(segments, deleted, strict=True)]
    inverted = Inverted(sum(map(len, live)), min(segment.analysis for segment in segments))
    places = _new_places(segments, live)
    for name in INDEXED_FIELDS:
        inverted.fields[name] = _merge_field(name, segments, live, places)
    for name in sorted({name for segment in segments for name in segment.value_names()}):
        inverted.values[name] = _merge_values(name, segments, live)
    for name in sorted({name for segment in segments for name in segment.number_names()}):
        columns = [segment.numbers(name) for segment in segments]
        inverted.numbers[name] = np.concatenate([c[docs] for c, docs in zip(columns, live, strict=True)])
    for name in BYTES_COLUMNS:
        texts = [segment.text(name) for segment in segments]
        inverted.texts[name] = [column[doc] for column, docs in zip(texts, live, strict=True) for doc in docs.tolist()]
    vectors = [
        None if segment.vectors is None else segment.vectors.at(docs)
        for segment, docs in zip(segments, live, strict=True)
    ]
    inverted.vectors = merge_rows(list(zip(vectors, map(len, live), strict=True)))
    return inverted


def _new_places(segments: Sequence[Segment], live: Sequence[Ints]) -> list[Ints]:
    """Return the new place of each document of each segment; -1 for deleted ones."""
    places, base = [], 0
    for segment, docs in zip(segments, live, strict=True):
        place = np.full(segment.count, -1)
        place[docs] = np.arange(base, base + len(docs))
        places.append(place)
        base += len(docs)
    return places


def _merge_field(name: str, segments: Sequence[Segment], live: Sequence[Ints], places: Sequence[Ints]) -> InvertedField:
    postings: dict[bytes, list[tuple[Ints, Ints]]] = defaultdict(list)
    for segment, place in zip(segments, places, strict=True):
        for term, (docs, weights) in segment.all_postings(name):
            targets = place[docs]
            kept = targets >= 0
            if kept.any():
                postings[term].append((targets[kept], weights[kept].astype(np.int64)))
    field = _lay_out_postings(postings)
    if name in TEXT_FIELDS:
        field.lengths = np.concatenate([s.lengths(name)[docs] for s, docs in zip(segments, live, strict=True)])
        field.total_length = int(field.weights.sum())
    return field


def _lay_out_postings(postings: Mapping[bytes, list[tuple[Ints, Ints]]]) -> InvertedField:
    terms = sorted(postings)
    runs = [run for term in terms for run in postings[term]]
    counts = [sum(len(docs) for docs, _ in postings[term]) for term in terms]
    none = np.zeros(0, np.int64)
    return InvertedField(
        terms,
        np.concatenate(([0], np.cumsum(counts, dtype=np.int64))),
        np.concatenate([none, *(docs for docs, _ in runs)]),
        np.concatenate([none, *(weights for _, weights in runs)]),
    )


def _merge_values(name: str, segments: Sequence[Segment], live: Sequence[Ints]) -> ValueColumn:
    numbers: dict[bytes, int] = {b"": 0}
    codes = []
    for segment, docs in zip(segments, live, strict=True):
        column = segment.values(name)
        if column is None:
            codes.append(np.zeros(len(docs), np.int64))
            continue
        targets = np.array([numbers.setdefault(entry, len(numbers)) for entry in column.uniques], np.int64)
        codes.append(targets[column.codes[docs]])
    return ValueColumn(np.concatenate(codes), list(numbers))
