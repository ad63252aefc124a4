"""Whoosh's term index (`.trm`): an ordered hash file of keys (field number, term) and term infos.

Written whole from lists; the layout is that of `whoosh.filedb.filetables.OrderedHashWriter` 2.7.4.
"""

from __future__ import annotations

import pickle
import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from app.adapters.whoosh.file_bytes import Bytes

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
        begun = self._begun.get(field)
        if begun is None:
            return None
        hashed = zlib.crc32(term, begun)
        bit = hashed >> self._shift
        if not self._hashes[bit >> 3] & 128 >> (bit & 7):
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
    def _begun(self) -> dict[str, int]:
        """The CRC32 of the beginning that all keys of a field have, from which that of a whole key is continued."""
        return {field: zlib.crc32(term_key(number, b"")) for field, number in self.field_numbers.items()}

    @cached_property
    def _shift(self) -> int:
        return 32 - max(3, min(32, (_BITS_PER_KEY * self._keys - 1).bit_length()))

    @cached_property
    def _hashes(self) -> bytes:
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
        for place in range(self._place(from_key), self._keys, _RECORDS_AT_ONCE):
            for key, info in self._records(place, min(place + _RECORDS_AT_ONCE, self._keys)):
                if key[:2] > from_key[:2]:
                    return
                yield key[2:], info

    def _place(self, from_key: bytes) -> int:
        """Return the place of the first key that is not below `from_key`. Its block is found first, by the first key of
        each block, which is remembered."""
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
        return _parted(self._file[position : position + _LIKELY_RECORD], 0) or self._long_record(position)

    def _long_record(self, position: int) -> tuple[bytes, bytes]:
        key_length, info_length = _LENGTHS.unpack(self._file[position : position + _LENGTHS.size])
        record = _parted(self._file[position : position + _LENGTHS.size + key_length + info_length], 0)
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
            record = _parted(run, position) or self._long_record(self._position(place))
            yield record
            position += _LENGTHS.size + len(record[0]) + len(record[1])


def _parted(run: bytes, position: int) -> tuple[bytes, bytes] | None:
    """Return (key, info) of the record that starts there; None where it does not lie wholly in the run."""
    if position + _LENGTHS.size > len(run):
        return None
    key_length, info_length = _LENGTHS.unpack_from(run, position)
    start = position + _LENGTHS.size
    middle = start + key_length
    end = middle + info_length
    return (run[start:middle], run[middle:end]) if end <= len(run) else None
