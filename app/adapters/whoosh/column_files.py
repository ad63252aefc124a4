"""Whoosh's column files, written from whole arrays and read back into them.

The layouts are those of `whoosh.columns` 2.7.4, which reads these files too: `RefBytesColumn` for values,
`NumericColumn` for numbers and lengths, `VarBytesColumn` for bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from app.adapters.whoosh.file_bytes import Bytes
from app.adapters.whoosh.inverted import ValueColumn


def write_values(column: ValueColumn) -> bytes:
    """Pack one reference by document, then the values they point at. The typecode `I` goes beyond Whoosh's own limit
    of 65,535 values; its reader understands it."""
    typecode = "B" if len(column.uniques) <= 256 else "H" if len(column.uniques) <= 65_536 else "I"
    chunks = [column.codes.astype(">" + _numpy_code(typecode)).tobytes(), _varint(len(column.uniques))]
    for value in column.uniques:
        chunks.append(_varint(len(value)))
        chunks.append(value)
    chunks.append(typecode.encode())
    return b"".join(chunks)


def read_values(file: Bytes, count: int) -> tuple[npt.NDArray[np.int64], list[bytes]]:
    """Return (one reference by document, the values they point at)."""
    buffer = file[:]
    dtype = np.dtype(">" + _numpy_code(chr(buffer[-1])))
    codes = np.frombuffer(buffer, dtype, count)
    position = count * dtype.itemsize
    total, position = _read_varint(buffer, position)
    uniques = []
    for _ in range(total):
        length, position = _read_varint(buffer, position)
        uniques.append(buffer[position : position + length])
        position += length
    return codes, uniques


def write_numbers(numbers: npt.NDArray[np.float64]) -> bytes:
    return numbers.astype(">f8").tobytes()


def read_numbers(file: Bytes, count: int) -> npt.NDArray[np.float64]:
    return np.frombuffer(file[:], ">f8", count).astype(np.float64)


def write_rare_numbers(numbers: npt.NDArray[np.float64]) -> bytes:
    """Pack numbers as values: every distinct number once, packed as in a column of numbers, and nothing for no
    number."""
    present = ~np.isnan(numbers)
    distinct, places = np.unique(numbers[present], return_inverse=True)
    codes = np.zeros(len(numbers), np.int64)
    codes[present] = places + 1
    packed = write_numbers(distinct)
    return write_values(ValueColumn(codes, [b"", *(packed[start : start + 8] for start in range(0, len(packed), 8))]))


def read_rare_numbers(file: Bytes, count: int) -> npt.NDArray[np.float64]:
    codes, packed = read_values(file, count)
    distinct = np.concatenate(([np.nan], np.frombuffer(b"".join(packed), ">f8")))
    numbers: npt.NDArray[np.float64] = distinct[codes]
    return numbers


def write_texts(texts: Sequence[bytes]) -> bytes:
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    offsets = np.cumsum(lengths) - lengths
    tail = (lengths.astype(">u4").tobytes(), offsets.astype(">u4").tobytes(), b"IIX")
    return b"".join((*texts, *tail))


class TextColumn:
    """The byte strings of a column, read one at a time."""

    def __init__(self, file: Bytes, count: int) -> None:
        offsets = len(file) - 3 - 4 * count
        self._file = file
        self._starts = np.frombuffer(file[offsets : offsets + 4 * count], ">u4").astype(np.uint32)
        self._lengths = np.frombuffer(file[offsets - 4 * count : offsets], ">u4").astype(np.uint32)

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, doc: int) -> bytes:
        start = self._starts.item(doc)
        return self._file[start : start + self._lengths.item(doc)]


def _numpy_code(typecode: str) -> str:
    return {"B": "u1", "H": "u2", "I": "u4"}[typecode]


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _read_varint(buffer: bytes, position: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = buffer[position]
        position += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, position
        shift += 7
