"""The vectors of a segment's documents: a column of the segment's file.

A row is kept as one byte a dimension with a scale of its own: 0 for a document without a vector. The hash of the text
says whether a vector can be taken over, the name of the model whether it can be compared at all.

Beside the rows stand their signs, which show in a tenth of the time which documents may lie near a text at all: two
vectors at an angle of a share of the half circle differ in about that share of their signs (Charikar, 2002). Vectors
that differ in few enough are compared number by number; the others are not.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from math import acos, pi, sqrt
from typing import Protocol

import numpy as np
import numpy.typing as npt

from app.adapters.whoosh.files import FilePart
from app.domain.search.sentence_model import Vectors

Rows = npt.NDArray[np.int8]
Scales = npt.NDArray[np.float32]
Hashes = npt.NDArray[np.uint64]
Places = slice | npt.NDArray[np.integer]
Differing = npt.NDArray[np.uint16]

_HEAD = struct.Struct("<II")  # Dimensions, bytes of the model's name.
_ALIGNMENT = 8
_LARGEST = 127
_APART = 16  # Places with more rows than that between them are read one by one.
_WORD = 64  # Signs that are compared at once.
DEVIATIONS = 4  # Standard deviations above the expected number; of 500 searches of 8,000 real products none needed 2.


class ReadableRows(Protocol):
    """Rows in memory or in a file."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def __getitem__(self, places: Places, /) -> Rows: ...


class StoredRows:
    """The rows of a file, read where they are needed: all processes share what the operating system caches. They are
    not mapped into memory, since who touches a mapped file that was cut short, or whose disk fails, is killed."""

    def __init__(self, file: FilePart, count: int, dimensions: int) -> None:
        self._file = file
        self.shape = count, dimensions

    def __getitem__(self, places: Places) -> Rows:
        """Return the rows of rising places. Raises ValueError where the file was cut short, and OSError."""
        if isinstance(places, slice):
            start, stop, _ = places.indices(self.shape[0])
            return self._read(start, stop)
        if not len(places):
            return self._read(0, 0)
        first, last = int(places[0]), int(places[-1])
        if last - first < _APART * len(places):
            return self._read(first, last + 1)[places - first]
        return np.concatenate([self._read(place, place + 1) for place in places.tolist()])

    def _read(self, start: int, stop: int) -> Rows:
        width = self.shape[1]
        return np.frombuffer(self._file[start * width : stop * width], np.int8).reshape(stop - start, width)


@dataclass(frozen=True, slots=True)
class RowVectors:
    """The vectors of some documents, in their order, by one model."""

    model: str
    rows: ReadableRows
    scales: Scales
    hashes: Hashes

    def __len__(self) -> int:
        return len(self.scales)

    @property
    def dimensions(self) -> int:
        return int(self.rows.shape[1])

    def at(self, places: Places) -> RowVectors:
        return RowVectors(self.model, self.rows[places], self.scales[places], self.hashes[places])

    def cosines(self, vector: Vectors, places: Places) -> npt.NDArray[np.float32]:
        """Return the cosine of each of the places with a vector of length 1; 0 for those without a vector."""
        found: npt.NDArray[np.float32] = (self.rows[places].astype(np.float32) @ vector) * self.scales[places]
        return found


def empty_rows(model: str, dimensions: int, count: int) -> RowVectors:
    """Return the rows of so many documents without vectors."""
    rows = np.zeros((count, dimensions), np.int8)
    return RowVectors(model, rows, np.zeros(count, np.float32), np.zeros(count, np.uint64))


def pack_vectors(model: str, vectors: Vectors, hashes: Hashes) -> RowVectors:
    """Return vectors as rows of bytes with the scale of each."""
    scales = (np.abs(vectors).max(axis=1, initial=0) / _LARGEST).astype(np.float32)
    rows = np.rint(vectors / np.where(scales, scales, 1)[:, None]).astype(np.int8)
    return RowVectors(model, rows, scales, hashes)


def hash_texts(texts: Sequence[str]) -> Hashes:
    """Return a hash of 64 bits for each text."""
    digests = b"".join(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, np.uint64)


def join_rows(parts: Sequence[RowVectors]) -> RowVectors:
    """Return the rows of several parts by the same model, one after the other."""
    return RowVectors(
        parts[0].model,
        np.concatenate([part.rows[:] for part in parts]),
        np.concatenate([part.scales for part in parts]),
        np.concatenate([part.hashes for part in parts]),
    )


def merge_rows(parts: Sequence[tuple[RowVectors | None, int]]) -> RowVectors | None:
    """Return the rows of several parts, each with its number of documents, by the model of the last part that has
    vectors; those by another model are left out. None where no part has any."""
    known = [vectors for vectors, _ in parts if vectors is not None]
    if not known:
        return None
    model, dimensions = known[-1].model, known[-1].dimensions
    return join_rows(
        [
            part if part is not None and part.model == model else empty_rows(model, dimensions, count)
            for part, count in parts
        ]
    )


def write_vectors(vectors: RowVectors) -> bytes:
    name = vectors.model.encode()
    head = _HEAD.pack(vectors.dimensions, len(name)) + name
    padding = b"\0" * (-len(head) % _ALIGNMENT)
    return b"".join((head, padding, vectors.hashes.tobytes(), vectors.scales.tobytes(), vectors.rows[:].tobytes()))


def read_vectors(file: FilePart, count: int) -> RowVectors:
    """Return the vectors of a file; of the rows, which are nearly all of it, none is read before it is needed."""
    dimensions, length = _HEAD.unpack(file[: _HEAD.size])
    start = _HEAD.size + length + -(_HEAD.size + length) % _ALIGNMENT
    end = start + count * (np.dtype(np.uint64).itemsize + np.dtype(np.float32).itemsize)
    beginning = parse_vectors(file[:end], count, with_rows=False)
    rows = StoredRows(file.part(end, len(file) - end), count, dimensions)
    return RowVectors(beginning.model, rows, beginning.scales, beginning.hashes)


def parse_vectors(buffer: bytes | memoryview, count: int, *, with_rows: bool = True) -> RowVectors:
    dimensions, length = _HEAD.unpack_from(buffer)
    model = bytes(buffer[_HEAD.size : _HEAD.size + length]).decode()
    start = _HEAD.size + length + -(_HEAD.size + length) % _ALIGNMENT
    hashes = np.frombuffer(buffer, np.uint64, count, start)
    scales = np.frombuffer(buffer, np.float32, count, start + hashes.nbytes)
    stored = count if with_rows else 0
    rows = np.frombuffer(buffer, np.int8, stored * dimensions, start + hashes.nbytes + scales.nbytes)
    return RowVectors(model, rows.reshape(stored, dimensions), scales, hashes)


@dataclass(frozen=True, slots=True)
class Signs:
    """The signs of some vectors, a bit each: `words` holds an array for every 64 dimensions."""

    words: npt.NDArray[np.uint64]

    @classmethod
    def of(cls, rows: npt.NDArray[np.int8]) -> Signs:
        return cls(np.ascontiguousarray(_pack_signs(rows).T))

    def differing(self, vector: Vectors) -> Differing:
        """Return in how many signs each vector differs from another one."""
        found = np.zeros(self.words.shape[1], np.uint16)
        for word, other in zip(self.words, _pack_signs(vector[None])[0], strict=True):
            found += np.bitwise_count(word ^ other)
        return found


def most_differing(cosine: float, dimensions: int) -> int:
    """Return the number of differing signs beyond which no vector of so many dimensions is expected to have that cosine
    or a larger one."""
    share = acos(cosine) / pi
    return round(share * dimensions + DEVIATIONS * sqrt(share * (1 - share) * dimensions))


def least_differing(differing: Differing, count: int) -> npt.NDArray[np.intp]:
    """Return the places, rising, of the `count` that differ least, and of those that differ as much as the last."""
    return np.flatnonzero(differing <= np.partition(differing, count - 1)[count - 1])


def _pack_signs(rows: npt.NDArray[np.generic]) -> npt.NDArray[np.uint64]:
    bits = np.packbits(rows > 0, axis=1)  # type: ignore[operator]
    return np.pad(bits, ((0, 0), (0, -bits.shape[1] % (_WORD // 8)))).view(np.uint64)
