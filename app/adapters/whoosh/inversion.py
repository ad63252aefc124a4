"""The inversion of documents to the content of a segment, in memory and in bulk.

Whoosh's own writer takes each posting through a chain of generators and a pool on disk. Here a word costs one
dictionary look-up; counting and sorting happen once a segment on whole arrays.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from whoosh.util.numeric import length_to_byte

from app.adapters.whoosh.files import (
    CARD_COLUMN,
    DIGEST_COLUMN,
    ID_COLUMN,
    ID_FIELD,
    KIND_NAMES,
    SORT_NAME_COLUMN,
    VALUE_SEPARATOR,
    Ints,
    ValueColumn,
    utf8,
)
from app.adapters.whoosh.vectors import RowVectors
from app.domain.search.engine import IndexDocument
from app.domain.search.ranking.analysis import ANALYSIS, analyse
from app.domain.search.ranking.scoring import FIELDS, TEXT_FIELDS
from app.domain.search.text import code, parts, stem, tokens
from app.domain.shared.text import fold

_LENGTH_BYTES = np.array([length_to_byte(length) for length in range(4096)], np.uint8)


@dataclass(slots=True)
class InvertedField:
    """The postings of a field: term i is in documents `docs[starts[i]:starts[i + 1]]`, as often as `weights` says.

    `terms` are sorted bytes. `lengths` are Whoosh's one-byte field lengths by document, None where a field
    is not scored by length; `total_length` counts the words of all documents.
    """

    terms: Sequence[bytes]
    starts: Ints
    docs: Ints
    weights: Ints
    lengths: npt.NDArray[np.uint8] | None = None
    total_length: int = 0


@dataclass(slots=True)
class Inverted:
    """The content of a segment of `count` documents, from which its file is written. `analysis` is the version of the
    analysis of the documents, the earliest where they have several."""

    count: int
    analysis: int = ANALYSIS
    fields: dict[str, InvertedField] = field(default_factory=dict)
    values: dict[str, ValueColumn] = field(default_factory=dict)
    numbers: dict[str, npt.NDArray[np.float64]] = field(default_factory=dict)
    texts: dict[str, list[bytes]] = field(default_factory=dict)
    vectors: RowVectors | None = None


def invert(documents: Iterable[IndexDocument]) -> Inverted:
    """Return the content of a segment of documents."""
    inverter = Inverter()
    for document in documents:
        inverter.add(document)
    return inverter.finish()


class Inverter:
    """An inverter that takes documents one by one and gives an inverted segment at the end."""

    def __init__(self) -> None:
        self.count = 0
        self._terms = _Terms()
        self._fields = {name: _Occurrences() for name in FIELDS}
        self._ids: list[bytes] = []
        self._values: dict[str, tuple[list[int], list[tuple[str, ...]]]] = {}
        self._numbers: dict[str, tuple[list[int], list[float]]] = {}
        self._texts: dict[str, list[bytes]] = {CARD_COLUMN: [], DIGEST_COLUMN: [], SORT_NAME_COLUMN: []}

    def add(self, document: IndexDocument) -> None:
        for name, numbers in analyse(document, self._terms).items():
            self._fields[name].add(numbers)
        self._add_columns(document)
        self._ids.append(utf8(document.id))
        self.count += 1

    def _add_columns(self, document: IndexDocument) -> None:
        doc = self.count
        for name, values in (*document.values.items(), (KIND_NAMES, document.kind_names)):
            if values:
                docs, entries = self._values.setdefault(name, ([], []))
                docs.append(doc)
                entries.append(values)
        for name, number in document.numbers.items():
            docs, numbers = self._numbers.setdefault(name, ([], []))
            docs.append(doc)
            numbers.append(number)
        self._texts[CARD_COLUMN].append(_pack_hit(document))
        self._texts[DIGEST_COLUMN].append(utf8(document.digest))
        self._texts[SORT_NAME_COLUMN].append(utf8(fold(document.name)))

    def finish(self) -> Inverted:
        names, places = self._terms.sorted()
        inverted = Inverted(self.count)
        for name, occurrences in self._fields.items():
            inverted.fields[name] = occurrences.invert(names, places, scored=name in TEXT_FIELDS)
        inverted.fields[ID_FIELD] = self._invert_ids()
        inverted.values = {name: _value_column(self.count, *column) for name, column in self._values.items()}
        inverted.numbers = {name: _number_column(self.count, *column) for name, column in self._numbers.items()}
        inverted.texts = {ID_COLUMN: self._ids, **self._texts}
        return inverted

    def _invert_ids(self) -> InvertedField:
        order = sorted(range(self.count), key=self._ids.__getitem__)
        return InvertedField(
            [self._ids[doc] for doc in order],
            np.arange(self.count + 1),
            np.array(order, np.int64),
            np.ones(self.count, np.int64),
        )


class _Terms(dict[str, int]):
    """Numbers words in the order they are met; a word and its plural share a number. The lexicon of an index."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._stems: dict[str, int] = {}
        self._parts: dict[int, list[int]] = {}
        self._compounds: dict[tuple[int, int], int] = {}

    def __missing__(self, token: str) -> int:
        number = self._stems.get(stem(token))
        if number is None:
            number = self._number(stem(token))
            pieces = parts(stem(token))
            if pieces:
                self._parts[number] = [self._number(piece) for piece in pieces]
        self[token] = number
        return number

    def _number(self, term: str) -> int:
        number = self._stems.get(term)
        if number is None:
            number = self._stems[term] = len(self.names)
            self.names.append(term)
        return number

    def words(self, text: str) -> list[int]:
        return list(map(self.__getitem__, tokens(text)))

    def compound(self, first: int, second: int) -> int:
        number = self._compounds.get((first, second))
        if number is None:
            number = self._compounds[first, second] = self._number(self.names[first] + self.names[second])
        return number

    def parts(self, word: int) -> Sequence[int]:
        return self._parts.get(word, ())

    def code(self, text: str) -> int | None:
        term = code(text)
        return self._number(term) if term else None

    def sorted(self) -> tuple[list[bytes], Ints]:
        """Return the terms in their order, and the place of each number among them."""
        names = [name.encode() for name in self.names]
        order = sorted(range(len(names)), key=names.__getitem__)
        return [names[number] for number in order], np.argsort(order)


class _Occurrences:
    """The words of one field, document after document."""

    def __init__(self) -> None:
        self.numbers = array("I")
        self.lengths = array("I")

    def add(self, numbers: Sequence[int]) -> None:
        self.numbers.extend(numbers)
        self.lengths.append(len(numbers))

    def invert(self, names: list[bytes], places: Ints, *, scored: bool) -> InvertedField:
        count = len(self.lengths)
        lengths = np.frombuffer(self.lengths, np.uint32).astype(np.int64)
        docs = np.repeat(np.arange(count), lengths)
        occurring = places[np.frombuffer(self.numbers, np.uint32)]
        terms, starts, docs, frequencies = group_postings(names, occurring, docs, max(count, 1))
        if not scored:
            return InvertedField(terms, starts, docs, np.ones(len(docs), np.int64))
        return InvertedField(terms, starts, docs, frequencies, _length_bytes(lengths), int(lengths.sum()))


def group_postings(
    terms: Sequence[bytes], places: Ints, docs: Ints, count: int
) -> tuple[list[bytes], Ints, Ints, Ints]:
    """Return single occurrences as postings: (sorted terms, starts, docs, frequencies), as in InvertedField.

    `places` are those of the occurring terms among `terms`, which are sorted and may hold others too.
    """
    keys, frequencies = np.unique(places * count + docs, return_counts=True)
    found = keys // count
    starts = np.flatnonzero(np.diff(found, prepend=-1))
    names = [terms[place] for place in found[starts].tolist()]
    return names, np.append(starts, len(keys)), keys - found * count, frequencies


def _length_bytes(lengths: Ints) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    known = _LENGTH_BYTES[np.minimum(lengths, len(_LENGTH_BYTES) - 1)]
    for doc in np.flatnonzero(lengths >= len(_LENGTH_BYTES)).tolist():
        known[doc] = length_to_byte(int(lengths[doc]))
    return known


def _pack_hit(document: IndexDocument) -> bytes:
    """Return the id and the card of a hit as they are stored, in one piece."""
    return utf8(json.dumps((document.id, document.card), ensure_ascii=False, separators=(",", ":")))


def _value_column(count: int, docs: list[int], entries: list[tuple[str, ...]]) -> ValueColumn:
    codes = np.zeros(count, np.int64)
    numbers: dict[tuple[str, ...], int] = {}
    codes[docs] = [numbers.setdefault(entry, len(numbers) + 1) for entry in entries]
    return ValueColumn(codes, [b"", *(_entry(values) for values in numbers)])


def _entry(values: tuple[str, ...]) -> bytes:
    distinct = dict.fromkeys(value.replace(VALUE_SEPARATOR, " ") for value in values)
    return utf8(VALUE_SEPARATOR.join(distinct))


def _number_column(count: int, docs: list[int], numbers: list[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    column = np.full(count, np.nan)
    column[docs] = numbers
    return column
