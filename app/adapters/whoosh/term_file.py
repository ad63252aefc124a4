"""Whoosh's term index (`.trm`): an ordered hash file of keys (field number, term) and term infos.

Written whole from lists; the layout is that of `whoosh.filedb.filetables.OrderedHashWriter` 2.7.4.
"""

from __future__ import annotations

import pickle
import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from app.adapters.whoosh.column_files import Buffer

_HEADER = b"HSH3" + struct.pack("!Bii", 1, 0, 0)  # 1: keys are hashed by CRC32
_LENGTHS = struct.Struct("!ii")
_POINTER = struct.Struct("!Iq")
_DIRECTORY_ENTRY = struct.Struct("!qi")
_SLOT = np.dtype([("hash", ">u4"), ("position", ">i8")])
_FIELD = struct.Struct("!H")


def term_key(field_number: int, term: bytes) -> bytes:
    return _FIELD.pack(field_number) + term


def write_terms(field_numbers: Mapping[str, int], keys: Sequence[bytes], infos: Sequence[bytes]) -> bytes:
    """`keys` rise; `infos` are their packed term infos."""
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
    """256 tables with open addressing, filled in rounds: in each, one key takes each free slot that is asked
    for and the others move on, so that every key is reachable from its own slot without a gap."""
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
        waiting = np.setdiff1d(waiting, winners, assume_unique=True)
        slots[waiting] = (slots[waiting] + 1) % sizes[waiting]
    directory = (
        _DIRECTORY_ENTRY.pack(start + int(base) * _SLOT.itemsize, int(size))
        for base, size in zip(bases, slots_by_bucket, strict=True)
    )
    return table.tobytes(), b"".join(directory)


class TermFile:
    """Reads a term index: look-up by key, and the vocabulary of a field in its order."""

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = buffer
        (tail,) = struct.unpack_from("!i", buffer, len(buffer) - 4)
        extras_start = len(buffer) - 4 - tail
        extras = pickle.loads(buffer[extras_start:])
        self.field_numbers: dict[str, int] = extras["fieldmap"]
        self._positions = np.frombuffer(buffer, ">i8", extras["indexlen"], len(buffer) - 4 - 8 * extras["indexlen"])
        directory = extras_start - 256 * _DIRECTORY_ENTRY.size
        self._tables = list(_DIRECTORY_ENTRY.iter_unpack(buffer[directory:extras_start]))

    def info(self, field: str, term: bytes) -> bytes | None:
        """The packed term info, or None where the segment does not have the term."""
        number = self.field_numbers.get(field)
        if number is None:
            return None
        key = term_key(number, term)
        hashed = zlib.crc32(key)
        start, size = self._tables[hashed & 255]
        for probe in range(size):
            slot = start + ((hashed >> 8) + probe) % size * _POINTER.size
            found, position = _POINTER.unpack_from(self._buffer, slot)
            if not position:
                return None
            if found == hashed:
                stored, info = self._record(position)
                if stored == key:
                    return info
        return None

    def vocabulary(self, field: str, start: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        """(term, packed term info) of a field, sorted, from the first term that is not below `start`."""
        number = self.field_numbers.get(field)
        if number is None:
            return
        first = bisect_left(self._positions, term_key(number, start), key=self._key_at)
        for place in range(first, len(self._positions)):
            key, info = self._record(int(self._positions[place]))
            if key[:2] != _FIELD.pack(number):
                return
            yield key[2:], info

    def _key_at(self, position: int) -> bytes:
        return self._record(int(position))[0]

    def _record(self, position: int) -> tuple[bytes, bytes]:
        key_length, info_length = _LENGTHS.unpack_from(self._buffer, position)
        start = position + _LENGTHS.size
        middle = start + key_length
        return bytes(self._buffer[start:middle]), bytes(self._buffer[middle : middle + info_length])
