"""The strict reading of a bundle's files: whole JSON documents, and records line by line, within limits. A packed file
of a few kilobytes may hold millions of rows, so they are counted while it is unpacked, before any of them is read."""

from __future__ import annotations

import gzip
import re
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any, NamedTuple, cast

from app.domain.bundles.archive import EXEMPT_SIZE, LARGEST_RATIO, Bundle
from app.domain.bundles.report import BrokenBundle
from app.domain.shared import strict_json
from app.domain.shared.problems import Problem
from app.domain.shared.schema import token

LARGEST_DOCUMENT = 64 * 1024**2
MOST_MARKS = 2_000_000  # Brackets and commas of a document, which is read as a whole.
LONGEST_LINE = 1024**2
LARGEST_DATA = 256 * 1024**2  # Bytes of all .json and .jsonl files, unpacked; pictures have a limit of their own.
MOST_ROWS = 200_000  # Of all .jsonl files: ten times the catalogue that the shop is measured with.
MOST_VALUES = 20_000_000  # Of all files, by their commas and opening brackets; a product has some twenty.
CHUNK = 1024**2  # Bytes that are read at once.
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]|[^\s{}\[\],:"]+')
UNREADABLE = (
    OSError,
    EOFError,
    UnicodeDecodeError,  # Of a name, which an archive holds a second time before the member itself.
    zlib.error,
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
)


class FileRow(NamedTuple):
    """A record of a `.jsonl` file; `line` counts from 1, `size` is its length in bytes. `problems` are those that the
    reader of a table had; `is_partial`: what the record does not name stays, also attribute values and variants.
    `filled` are fields that it took from the shop. `as_variant` replaces `fields` where the SKU turns out to be that of
    a stored variant. `priced_by_variant`: its price is that of the first variant it names."""

    line: int
    fields: dict[str, Any]
    size: int = 0
    problems: tuple[Problem, ...] = ()
    is_partial: bool = False
    filled: frozenset[str] = frozenset()
    as_variant: dict[str, Any] | None = None
    priced_by_variant: bool = False

    def filled_from(self, known: Mapping[str, Any]) -> FileRow:
        """Return the record with the fields of `known` that it does not name."""
        fields = {**known, **self.fields}
        return self._replace(fields=fields, filled=frozenset(fields) - frozenset(self.fields))

    def with_options(self, options: Mapping[str, Mapping[str, str]]) -> FileRow:
        """Return the record with the options, by SKU, of those variants of which it names none."""
        variants = [{"options": dict(options.get(v["sku"], {})), **v} for v in self.fields["variants"]]
        return self._replace(fields={**self.fields, "variants": variants})

    @property
    def variants_without_options(self) -> list[str]:
        """The SKUs of the variants of a partial record that have no options there."""
        variants = self.fields.get("variants", ()) if self.is_partial else ()
        return [variant["sku"] for variant in variants if "options" not in variant]


class RowBundle(Bundle, ABC):
    """A bundle whose records do not come from files of lines."""

    @abstractmethod
    def rows(self) -> Iterator[FileRow]:
        """Yield the records, from the beginning. Raises BrokenBundle."""

    @abstractmethod
    def count(self) -> int:
        """Read all records, and return their number. Raises BrokenBundle."""


def read_rows(bundle: Bundle, name: str) -> Iterator[FileRow]:
    """Yield the records of a file. Raises BrokenBundle at a line that is no JSON object."""
    if isinstance(bundle, RowBundle):
        yield from bundle.rows()
        return
    with open_data(bundle, name) as stream:
        for line, raw in enumerate(_read_lines(stream, name, _largest_size(bundle, name)), start=1):
            if raw.strip():
                yield FileRow(line, _read_object(raw, name, line), len(raw))


def _read_lines(stream: IO[bytes], name: str, limit: int) -> Iterator[bytes]:
    read = line = 0
    while raw := stream.readline(LONGEST_LINE + 1):
        line += 1
        read += len(raw)
        if len(raw) > LONGEST_LINE:
            raise BrokenBundle.at(name, f"The line is longer than {LONGEST_LINE:,} bytes.", line)
        if read > limit:
            raise _ratio_exceeded(name)
        yield raw.removeprefix(BYTE_ORDER_MARK) if line == 1 else raw


def _read_object(raw: bytes, name: str, line: int) -> dict[str, Any]:
    try:
        value = strict_json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BrokenBundle.at(name, f"This is not valid JSON: {error}", line) from error
    if not isinstance(value, dict):
        raise BrokenBundle.at(name, "Each line must be a JSON object.", line)
    return value


class Document:
    """A whole JSON file with the lines of its parts."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self._text = text
        self._read_lines: dict[str, int] | None = None
        try:
            self.content = strict_json.loads(text, MOST_MARKS)
        except (ValueError, RecursionError) as error:
            raise BrokenBundle.at(name, f"This is not valid JSON: {error}") from error

    def line_of(self, pointer: str) -> int:
        """Return the line, from 1, of the part that a JSON pointer names; of what holds it, where it is missing."""
        if self._read_lines is None:
            self._read_lines = lines_by_pointer(self._text)
        while pointer not in self._read_lines and "/" in pointer:
            pointer = pointer.rpartition("/")[0]
        return self._read_lines.get(pointer, 1)


def read_document(bundle: Bundle, name: str) -> Document:
    """Read a whole JSON document. Raises BrokenBundle."""
    with open_data(bundle, name) as stream:
        raw = stream.read(min(LARGEST_DOCUMENT, _largest_size(bundle, name)) + 1)
    if len(raw) > LARGEST_DOCUMENT:
        raise BrokenBundle.at(name, f"The file is larger than {LARGEST_DOCUMENT // 1024**2} MB.")
    if len(raw) > _largest_size(bundle, name):
        raise _ratio_exceeded(name)
    try:
        return Document(name, raw.removeprefix(BYTE_ORDER_MARK).decode("utf-8"))
    except UnicodeDecodeError as error:
        raise BrokenBundle.at(name, f"The file is not UTF-8: {error.reason} at byte {error.start}.") from error


def read_bytes(bundle: Bundle, name: str, most: int) -> bytes:
    """Return at most `most` + 1 bytes of a file. Raises BrokenBundle."""
    with open_data(bundle, name, inflate=False) as stream:
        return stream.read(most + 1)


@contextmanager
def open_data(bundle: Bundle, name: str, inflate: bool = True) -> Iterator[IO[bytes]]:
    """Open a file of the bundle as a stream, unpacked. Raises BrokenBundle, also while it is read."""
    try:
        with bundle.open(name) as packed:
            if inflate and name.endswith(".gz"):
                with gzip.open(packed, "rb") as stream:
                    yield cast(IO[bytes], stream)
            else:
                yield packed
    except UNREADABLE as error:
        raise BrokenBundle.at(name, f"The file cannot be read: {error}") from error


def _largest_size(bundle: Bundle, name: str) -> int:
    return max(EXEMPT_SIZE, bundle.packed_size(name) * LARGEST_RATIO)


def _ratio_exceeded(name: str) -> BrokenBundle:
    return BrokenBundle.at(name, f"The file unpacks to over {LARGEST_RATIO} times its packed size.")


def lines_by_pointer(text: str) -> dict[str, int]:
    """Return the line of every value of a JSON text, by its pointer; of an object's member that of its name."""
    lines: dict[str, int] = {"#": 1}
    holders: list[tuple[str, list[int] | None]] = []  # Pointer, and for a list the index of its next item.
    name: str | None = None
    line, at = 1, 0
    for found in JSON_TOKEN.finditer(text):
        line += text.count("\n", at, found.start())
        at = found.start()
        word = found[0]
        if word in ("}", "]"):
            holders.pop()
        elif word != ",":
            pointer, indexes = holders[-1] if holders else ("#", None)
            if holders and indexes is None and name is None:
                name = strict_json.loads(word)
                lines[f"{pointer}/{token(name)}"] = line
                continue
            if indexes is not None:
                pointer = f"{pointer}/{indexes[0]}"
                indexes[0] += 1
                lines[pointer] = line
            elif name is not None:
                pointer, name = f"{pointer}/{token(name)}", None
            if word in ("{", "["):
                holders.append((pointer, [0] if word == "[" else None))
    return lines


def check_size(bundle: Bundle, files: Iterable[str]) -> int:
    """Return how many rows there are. Raises BrokenBundle, which names the limit and the file that passes it."""
    if isinstance(bundle, RowBundle):
        return bundle.count()
    size = rows = values = 0
    for file in files:
        has_rows = file.removesuffix(".gz").endswith(".jsonl")
        with open_data(bundle, file) as stream:
            while chunk := stream.read(CHUNK):
                size += len(chunk)
                rows += chunk.count(b"\n") if has_rows else 0
                values += sum(map(chunk.count, (b",", b"[", b"{")))
                if size > LARGEST_DATA:
                    raise _too_much(file, f"{LARGEST_DATA // 1024**2} MB of data, unpacked")
                if rows > MOST_ROWS:
                    raise _too_much(file, f"{MOST_ROWS:,} rows")
                if values > MOST_VALUES:
                    raise _too_much(file, f"{MOST_VALUES:,} values")
    return rows


def _too_much(file: str, most: str) -> BrokenBundle:
    return BrokenBundle.at(file, f"A bundle has at most {most}, in all its files together. Import it in parts.")
