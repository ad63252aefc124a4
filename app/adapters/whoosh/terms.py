"""The terms of a segment with their posting lists, in Whoosh's W3 format, written from and read into whole arrays.

The term index (`.trm`) is an ordered hash file of keys (field number, term) and term infos; its layout is that of
`whoosh.filedb.filetables.OrderedHashWriter` 2.7.4. A term of one document is kept inside its term info, a longer list
is one uncompressed block whose document steps are packed bytes or machine numbers: Whoosh's reader iterates them as it
does its own tuples, and ours takes them over without a loop.
"""

from __future__ import annotations

import io
import pickle
import struct
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from app.adapters.whoosh.files import Bytes, Ints
from app.adapters.whoosh.inversion import InvertedField

Postings = tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]

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

_HEADER = b"HSH3" + struct.pack("!Bii", 1, 0, 0)  # 1: keys are hashed by CRC32
_LENGTHS = struct.Struct("!ii")
_POINTER = struct.Struct("!Iq")
_DIRECTORY_ENTRY = struct.Struct("!qi")
_DIRECTORY = np.dtype([("position", ">i8"), ("slots", ">i4")])
_SLOT = np.dtype([("hash", ">u4"), ("position", ">i8")])
_FIELD = struct.Struct("!H")
_POSITION = struct.Struct("!q")

# The number of reads is what costs, so each reads as many bytes as are most likely needed.
_LIKELY_RECORD = 128
_LIKELY_SLOTS = 8
_RECORDS_AT_ONCE = 512
_RECORDS_A_BLOCK = 128  # Of which the first key is remembered once it was read.
_LONGEST_EXTRAS = 4096
_BITS_PER_KEY = 8  # At least, of the Bloom filter: one in ten terms that are not there passes it.


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
    data = pickle.dumps((_pack_steps(steps, widest), _pack_weights(weights, info[2]), None), 4)
    return _MAGIC + _BLOCK_LENGTH.pack(-(len(head) + len(data))) + head + data


def _pack_steps(steps: Ints, widest: int) -> bytes | array[int]:
    if widest < 1 << 8:
        return steps.astype(np.uint8).tobytes()
    typecode, dtype = ("H", np.uint16) if widest < 1 << 16 else ("I", np.uint32)
    return array(typecode, steps.astype(dtype).tobytes())


def _pack_weights(weights: Ints, heaviest: float) -> bytes | array[float] | None:
    if heaviest == 1:
        return None
    if heaviest < 1 << 8:
        return weights.astype(np.uint8).tobytes()
    return array("f", weights.astype(np.float32).tobytes())


def document_frequency(info: bytes) -> int:
    frequency: int = _INFO.unpack_from(info)[2]
    return frequency


def read_postings(info: bytes, posting_file: Bytes) -> Postings:
    """Return the documents of a term, rising, and its frequency in each."""
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
        # Two pickles, one after the other: the info of the block and its data.
        pickles = io.BytesIO(buffer[position : position + abs(length)])
        position += abs(length)
        count: int = pickle.load(pickles)[0]
        steps, weights, _ = pickle.load(pickles)
        docs = _unpack(steps).cumsum(dtype=np.int32)
        yield docs, np.ones(count, np.float32) if weights is None else _unpack(weights).astype(np.float32)


def _unpack(packed: bytes | array[int] | array[float]) -> npt.NDArray[np.generic]:
    if isinstance(packed, bytes):
        return np.frombuffer(packed, np.uint8)
    return np.frombuffer(packed, packed.typecode)


def term_key(field_number: int, term: bytes) -> bytes:
    return _FIELD.pack(field_number) + term


def write_terms(field_numbers: Mapping[str, int], keys: Sequence[bytes], infos: Sequence[bytes]) -> bytes:
    """Write the term index. `keys` rise; `infos` are their packed term infos."""
    pack = _LENGTHS.pack
    records = [pack(len(key), len(info)) + key + info for key, info in zip(keys, infos, strict=True)]
    sizes = np.fromiter(map(len, records), np.int64, len(records))
    positions = len(_HEADER) + np.cumsum(sizes) - sizes
    end = len(_HEADER) + int(sizes.sum())
    tables, directory = _hash_tables(keys, positions, end)
    extras = pickle.dumps({"fieldmap": dict(field_numbers), "indextype": "q", "indexlen": len(keys)}, 2)
    tail = extras + positions.astype(">i8").tobytes()
    return b"".join((_HEADER, *records, tables, directory, tail, struct.pack("!i", len(tail))))


def _hash_tables(keys: Sequence[bytes], positions: np.ndarray, start: int) -> tuple[bytes, bytes]:
    """Return 256 hash tables with open addressing, filled in rounds: in each, one key takes each free slot that keys
    need and the others move on, so that every key is reachable from its own slot without a gap."""
    crc32 = zlib.crc32
    hashes = np.fromiter((crc32(key) for key in keys), np.uint32, len(keys)).astype(np.int64)
    buckets = hashes & 255
    slots_by_bucket = 2 * np.bincount(buckets, minlength=256)
    bases = np.cumsum(slots_by_bucket) - slots_by_bucket
    table = np.zeros(int(slots_by_bucket.sum()), _SLOT)
    sizes = slots_by_bucket[buckets]
    slots = (hashes >> 8) % np.maximum(sizes, 1)
    waiting = np.arange(len(keys))
    while len(waiting):
        wanted = bases[buckets[waiting]] + slots[waiting]
        free = np.flatnonzero(table["position"][wanted] == 0)
        places, first = np.unique(wanted[free], return_index=True)
        winners = waiting[free[first]]
        table["hash"][places] = hashes[winners]
        table["position"][places] = positions[winners]
        waiting = np.delete(waiting, free[first])
        slots[waiting] = (slots[waiting] + 1) % sizes[waiting]
    directory = np.zeros(256, _DIRECTORY)
    directory["position"], directory["slots"] = start + bases * _SLOT.itemsize, slots_by_bucket
    return table.tobytes(), directory.tobytes()


class TermFile:
    """A reader of a term index: look-up by key, and the vocabulary of a field in its order."""

    def __init__(self, file: Bytes) -> None:
        self._file = file
        (tail,) = struct.unpack("!i", file[len(file) - 4 :])
        extras_start = len(file) - 4 - tail
        self._directory = directory = extras_start - 256 * _DIRECTORY_ENTRY.size
        extras = pickle.loads(file[extras_start : extras_start + _LONGEST_EXTRAS])
        self.field_numbers: dict[str, int] = extras["fieldmap"]
        self._keys: int = extras["indexlen"]
        self._positions_start = len(file) - 4 - _POSITION.size * self._keys
        self._first_keys: dict[int, bytes] = {}
        self._tables = list(_DIRECTORY_ENTRY.iter_unpack(file[directory:extras_start]))

    def info(self, field: str, term: bytes) -> bytes | None:
        """Return the packed term info, None where the segment does not have the term."""
        begun = self._field_hashes.get(field)
        if begun is None:
            return None
        hashed = zlib.crc32(term, begun)
        bit = hashed >> self._shift
        if not self._filter[bit >> 3] & 128 >> (bit & 7):
            return None
        key = term_key(self.field_numbers[field], term)
        for found, position in self._slots(hashed):
            if not position:
                return None
            if found == hashed:
                stored, info = self._record(position)
                if stored == key:
                    return info
        return None

    @cached_property
    def _field_hashes(self) -> dict[str, int]:
        """The CRC32 of the beginning that all keys of a field have, from which that of a whole key is continued."""
        return {field: zlib.crc32(term_key(number, b"")) for field, number in self.field_numbers.items()}

    @cached_property
    def _shift(self) -> int:
        """The number of lower bits of a hash that the filter leaves out."""
        return 32 - max(3, min(32, (_BITS_PER_KEY * self._keys - 1).bit_length()))

    @cached_property
    def _filter(self) -> bytes:
        """A Bloom filter of the keys: most of the words that a search looks up are in few of the fields and segments,
        and need no read in the others."""
        slots = np.frombuffer(self._file[self._tables[0][0] : self._directory], _SLOT)
        bits = np.zeros(1 << 32 - self._shift, np.bool_)
        bits[slots["hash"][slots["position"] != 0] >> self._shift] = True
        return np.packbits(bits).tobytes()

    def _slots(self, hashed: int) -> Iterator[tuple[int, int]]:
        """Yield (hash, position of the record) of the slots in which a key may be, some of them read in one go."""
        start, size = self._tables[hashed & 255]
        probe = 0
        while probe < size:
            slot = ((hashed >> 8) + probe) % size
            count = min(_LIKELY_SLOTS, size - slot, size - probe)
            begin = start + slot * _POINTER.size
            yield from _POINTER.iter_unpack(self._file[begin : begin + count * _POINTER.size])
            probe += count

    def vocabulary(self, field: str, start: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        """Yield (term, packed term info) of a field, sorted, from the first term that is not below `start`."""
        number = self.field_numbers.get(field)
        if number is None:
            return
        from_key = term_key(number, start)
        for place in range(self._find_place(from_key), self._keys, _RECORDS_AT_ONCE):
            for key, info in self._records(place, min(place + _RECORDS_AT_ONCE, self._keys)):
                if key[:2] > from_key[:2]:
                    return
                yield key[2:], info

    def _find_place(self, from_key: bytes) -> int:
        """Return the place of the first key that is not below `from_key`. Its block is found first, by the cached first
        key of each block."""
        blocks = range(0, self._keys, _RECORDS_A_BLOCK)
        start = max(0, bisect_left(blocks, from_key, key=self._first_key) - 1) * _RECORDS_A_BLOCK
        block = range(start, min(start + _RECORDS_A_BLOCK, self._keys))
        return start + bisect_left(block, from_key, key=self._key)

    def _position(self, place: int) -> int:
        start = self._positions_start + _POSITION.size * place
        position: int = _POSITION.unpack(self._file[start : start + _POSITION.size])[0]
        return position

    def _first_key(self, place: int) -> bytes:
        if place not in self._first_keys:
            self._first_keys[place] = self._key(place)
        return self._first_keys[place]

    def _key(self, place: int) -> bytes:
        return self._record(self._position(place))[0]

    def _record(self, position: int) -> tuple[bytes, bytes]:
        return _split_record(self._file[position : position + _LIKELY_RECORD], 0) or self._long_record(position)

    def _long_record(self, position: int) -> tuple[bytes, bytes]:
        key_length, info_length = _LENGTHS.unpack(self._file[position : position + _LENGTHS.size])
        record = _split_record(self._file[position : position + _LENGTHS.size + key_length + info_length], 0)
        if record is None:
            raise ValueError("a term reaches beyond its file")
        return record

    def _records(self, first: int, end: int) -> Iterator[tuple[bytes, bytes]]:
        """Yield (key, info) of the records from place `first` to before `end`, which lie side by side and are read in
        one go."""
        start, last = self._position(first), self._position(end - 1)
        run = self._file[start : last + _LIKELY_RECORD]
        position = 0
        for place in range(first, end):
            record = _split_record(run, position) or self._long_record(self._position(place))
            yield record
            position += _LENGTHS.size + len(record[0]) + len(record[1])


def _split_record(run: bytes, position: int) -> tuple[bytes, bytes] | None:
    """Return (key, info) of the record that starts there; None where it does not lie wholly in the run."""
    if position + _LENGTHS.size > len(run):
        return None
    key_length, info_length = _LENGTHS.unpack_from(run, position)
    start = position + _LENGTHS.size
    middle = start + key_length
    end = middle + info_length
    return (run[start:middle], run[middle:end]) if end <= len(run) else None
