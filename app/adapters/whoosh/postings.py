"""Posting lists and term infos in Whoosh's W3 format, written from and read into whole arrays.

A term of one document is kept inside its term info, a longer list is one uncompressed block whose document
steps are packed bytes or machine numbers: Whoosh's reader iterates them as it does its own tuples, and
ours takes them over without a loop.
"""

from __future__ import annotations

import io
import pickle
import struct
from array import array
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from app.adapters.whoosh.file_bytes import Bytes
from app.adapters.whoosh.inverted import Ints, InvertedField

_INFO = struct.Struct("!BfIBBfII")
_EXTENT = struct.Struct("!qi")
_BLOCK_LENGTH = struct.Struct("!i")
_MAGIC = b"W3Bl"

# What Whoosh packs for a term of one document: the info, then ((doc,), (weight,), ()) as a pickle.
_SINGLE = np.dtype(
    [
        ("inlined", "u1"), ("weight", ">f4"), ("df", ">u4"), ("shortest", "u1"), ("longest", "u1"),
        ("heaviest", ">f4"), ("first", ">u4"), ("last", ">u4"),
        ("open", "S3"), ("doc", "<i4"), ("tuple", "S2"), ("frequency", ">f8"), ("close", "S4"),
    ]
)  # fmt: skip

Postings = tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]


def write_postings(field: InvertedField, offset: int) -> tuple[list[bytes], list[bytes]]:
    """Return (packed term infos, posting blocks) of a field whose first block starts at `offset` of the posting
    file."""
    if not field.terms:
        return [], []
    stats = _Statistics(field)
    singles = stats.singles()
    infos = [single for single in singles if single is not None]
    if len(infos) == len(singles):
        return infos, []
    starts, weights = field.starts.tolist(), field.weights
    steps, widest = stats.steps()
    infos = []
    blocks: list[bytes] = []
    for term, single in enumerate(singles):
        if single is not None:
            infos.append(single)
            continue
        begin, end = starts[term], starts[term + 1]
        block = _block(steps[begin:end], widest[term], weights[begin:end], stats.block_info(term))
        infos.append(stats.info(term) + _EXTENT.pack(offset, len(block)))
        blocks.append(block)
        offset += len(block)
    return infos, blocks


class _Statistics:
    """The statistics of terms that Whoosh's searcher reads before their postings."""

    def __init__(self, field: InvertedField) -> None:
        self._field, starts = field, field.starts[:-1]
        self.counts = np.diff(field.starts)
        self.weights = np.add.reduceat(field.weights, starts)
        self.heaviest = np.maximum.reduceat(field.weights, starts)
        self.first = field.docs[starts]
        self.last = field.docs[field.starts[1:] - 1]
        none = np.zeros(len(starts), np.uint8)
        lengths = None if field.lengths is None else field.lengths[field.docs]
        self.shortest = none if lengths is None else np.minimum.reduceat(lengths, starts)
        self.longest = none if lengths is None else np.maximum.reduceat(lengths, starts)
        self._columns = [
            column.tolist()
            for column in (self.counts, self.weights, self.shortest, self.longest, self.heaviest, self.first, self.last)
        ]

    def steps(self) -> tuple[Ints, list[int]]:
        """Return the steps between the documents of each term, from 0 on, and the widest of each."""
        steps = np.diff(self._field.docs, prepend=0)
        steps[self._field.starts[:-1]] = self.first
        return steps, np.maximum.reduceat(steps, self._field.starts[:-1]).tolist()

    def info(self, term: int) -> bytes:
        count, weight, shortest, longest, heaviest, first, last = (column[term] for column in self._columns)
        return _INFO.pack(0, weight, count, shortest, longest, heaviest, first, last)

    def block_info(self, term: int) -> tuple[int, int, float, int, int, int]:
        count, _, shortest, longest, heaviest, _, last = (column[term] for column in self._columns)
        return count, last, float(heaviest), 0, shortest, longest

    def singles(self) -> list[bytes | None]:
        """Return the packed term info, posting included, of each term that one document has; None for the others."""
        records = np.zeros(len(self.counts), _SINGLE)
        records["inlined"], records["df"] = 1, 1
        records["weight"] = records["heaviest"] = records["frequency"] = self.weights
        records["shortest"], records["longest"] = self.shortest, self.longest
        records["first"] = records["last"] = records["doc"] = self.first
        records["open"], records["tuple"], records["close"] = b"\x80\x02J", b"\x85G", b"\x85)\x87."
        packed, size = records.tobytes(), _SINGLE.itemsize
        return [
            packed[size * term : size * (term + 1)] if count == 1 else None
            for term, count in enumerate(self.counts.tolist())
        ]


def _block(steps: Ints, widest: int, weights: Ints, info: tuple[int, int, float, int, int, int]) -> bytes:
    head = pickle.dumps(info, 2)
    data = pickle.dumps((_packed(steps, widest), _packed_weights(weights, info[2]), None), 4)
    return _MAGIC + _BLOCK_LENGTH.pack(-(len(head) + len(data))) + head + data


def _packed(steps: Ints, widest: int) -> bytes | array[int]:
    if widest < 1 << 8:
        return steps.astype(np.uint8).tobytes()
    typecode, dtype = ("H", np.uint16) if widest < 1 << 16 else ("I", np.uint32)
    return array(typecode, steps.astype(dtype).tobytes())


def _packed_weights(weights: Ints, heaviest: float) -> bytes | array[float] | None:
    if heaviest == 1:
        return None
    if heaviest < 1 << 8:
        return weights.astype(np.uint8).tobytes()
    return array("f", weights.astype(np.float32).tobytes())


def document_frequency(info: bytes) -> int:
    frequency: int = _INFO.unpack_from(info)[2]
    return frequency


def read_postings(info: bytes, posting_file: Bytes) -> Postings:
    """The documents of a term, rising, and its frequency in each."""
    inlined, weight, _, _, _, _, first, _ = _INFO.unpack_from(info)
    if inlined:
        return np.array([first], np.int32), np.array([weight], np.float32)
    offset, length = _EXTENT.unpack_from(info, _INFO.size)
    blocks = list(_read_blocks(posting_file[offset : offset + length]))
    if len(blocks) == 1:
        return blocks[0]
    return np.concatenate([docs for docs, _ in blocks]), np.concatenate([weights for _, weights in blocks])


def _read_blocks(buffer: bytes) -> Iterator[Postings]:
    if buffer[:4] != _MAGIC:
        raise ValueError("a posting list does not start with its mark")
    position = len(_MAGIC)
    last = False
    while not last:
        (length,) = _BLOCK_LENGTH.unpack_from(buffer, position)
        last = length < 0
        position += _BLOCK_LENGTH.size
        block = _Block(buffer[position : position + abs(length)])
        position += abs(length)
        yield block.postings()


class _Block:
    """One block of a posting list: its info and its data are two pickles, one after the other."""

    def __init__(self, content: bytes) -> None:
        pickles = io.BytesIO(content)
        self._count: int = pickle.load(pickles)[0]
        self._data = pickle.load(pickles)

    def postings(self) -> Postings:
        steps, weights, _ = self._data
        docs = _unpacked(steps).cumsum(dtype=np.int32)
        if weights is None:
            return docs, np.ones(self._count, np.float32)
        return docs, _unpacked(weights).astype(np.float32)


def _unpacked(packed: bytes | array[int] | array[float]) -> npt.NDArray[np.generic]:
    if isinstance(packed, bytes):
        return np.frombuffer(packed, np.uint8)
    return np.frombuffer(packed, packed.typecode)
