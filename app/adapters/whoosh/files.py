"""The parts of an index's files in Whoosh's format: the names of fields and columns, the bytes of a file, and columns
written from whole arrays and read back into them.

The layouts of columns are those of `whoosh.columns` 2.7.4, which reads these files too: `RefBytesColumn` for values,
`NumericColumn` for numbers and lengths, `VarBytesColumn` for bytes.

Bytes are read where they are needed. A file mapped into memory would count, page after page, as memory of every process
that reads it, and one that is cut short would end them (SIGBUS). Reading costs about as little, the operating system
caches it all the same, and an open file can be read on after its removal.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from whoosh import analysis, columns, fields, formats

from app.domain.search.ranking.scoring import EXACT_FIELDS, FIELDS, TEXT_FIELDS

Ints = npt.NDArray[np.int64]

ID_FIELD = "id"
INDEXED_FIELDS = (*FIELDS, ID_FIELD)

# Columns of bytes: what comes back with a hit, what reconciliation compares, what the order by name uses.
ID_COLUMN = "doc"
CARD_COLUMN = "card"
DIGEST_COLUMN = "digest"
SORT_NAME_COLUMN = "sortname"
VECTORS_COLUMN = "vectors"  # Ours alone, as the next: Whoosh reads columns by the names in its schema.
FORMS_COLUMN = "forms"
BYTES_COLUMNS = (ID_COLUMN, CARD_COLUMN, DIGEST_COLUMN, SORT_NAME_COLUMN)
VALUES_PREFIX = "v_"
NUMBER_PREFIX = "n_"

# Numbers that few documents have, such as the width of a screen, kept as references to the distinct ones.
RARE_NUMBER_PREFIX = "r_"

# The names of the levels of documents are kept as values are, under a name that no attribute can have.
KIND_NAMES = "kind names"

# Separates the values of one document within its column entry.
VALUE_SEPARATOR = "\x1f"


def index_schema() -> fields.Schema:
    """Return the schema of both indexes. Value and number columns come with the documents, so they match by prefix."""
    schema = fields.Schema()
    for name in TEXT_FIELDS:
        schema.add(name, _word_field(scorable=True))
    for name in EXACT_FIELDS:
        schema.add(name, _word_field(scorable=False))
    schema.add(ID_FIELD, fields.FieldType(formats.Existence(), analysis.IDTokenizer(), unique=True))
    for name in BYTES_COLUMNS:
        schema.add(name, fields.COLUMN(columns.VarBytesColumn()))
    schema.add(VALUES_PREFIX + "*", fields.COLUMN(columns.RefBytesColumn()), glob=True)
    schema.add(RARE_NUMBER_PREFIX + "*", fields.COLUMN(columns.RefBytesColumn()), glob=True)
    schema.add(NUMBER_PREFIX + "*", fields.COLUMN(columns.NumericColumn("d", default=float("nan"))), glob=True)
    return schema


def _word_field(*, scorable: bool) -> fields.FieldType:
    """Return a field of words whose postings carry their frequency as weight, which is all that BM25 reads."""
    return fields.FieldType(formats.Existence(), analysis.RegexTokenizer(r"[^\W_]+"), scorable=scorable)


class Stamp(NamedTuple):
    """The facts of a file that differ once it was written to or replaced."""

    size: int
    changed_at: int
    number: int


def stamp_of(file: Path | str | int) -> Stamp:
    """Return the stamp of a path, or of an open file by its descriptor."""
    found = os.stat(file)
    return Stamp(found.st_size, found.st_mtime_ns, found.st_ino)


class Bytes(Protocol):
    """The common interface of `bytes` and parts of a file."""

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice) -> bytes: ...


class _Descriptor:
    """An open file, closed with the last part that refers to it."""

    def __init__(self, path: Path) -> None:
        self.number = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def __del__(self) -> None:
        if hasattr(self, "number"):
            os.close(self.number)


class FilePart:
    """A stretch of a file; slices must not have a step."""

    def __init__(self, descriptor: _Descriptor, offset: int, length: int) -> None:
        self._descriptor = descriptor
        self._number = descriptor.number
        self._offset = offset
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, part: slice) -> bytes:
        start, stop = part.start or 0, part.stop
        if start < 0 or stop is None or not start <= stop <= self._length:
            start, stop, _ = part.indices(self._length)  # Most parts lie within, which is cheaper to see.
        return os.pread(self._number, stop - start, self._offset + start)

    def stamp(self) -> Stamp:
        """Return the stamp of the whole file."""
        return stamp_of(self._number)

    def part(self, offset: int, length: int) -> FilePart:
        return FilePart(self._descriptor, self._offset + offset, length)


def open_file(path: Path) -> FilePart:
    descriptor = _Descriptor(path)
    return FilePart(descriptor, 0, os.fstat(descriptor.number).st_size)


@dataclass(slots=True)
class ValueColumn:
    """One code by document into `uniques`; code 0 is the empty entry of documents without a value."""

    codes: Ints
    uniques: list[bytes]


def utf8(text: str) -> bytes:
    """Return a text as it is stored; half of a surrogate pair, which is no character, becomes a question mark."""
    return text.encode("utf-8", "replace")


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
