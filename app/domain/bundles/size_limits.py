"""The limits on the size of a bundle's data. A packed file of a few kilobytes may hold millions of rows, so they are
counted while it is unpacked, before any of them is read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

from app.domain.bundles.archive import Bundle
from app.domain.bundles.reading import RowBundle, open_data
from app.domain.bundles.report import BrokenBundle

LARGEST_DATA = 256 * 1024**2  # Bytes of all .json and .jsonl files, unpacked; pictures have a limit of their own.
MOST_ROWS = 200_000  # Of all .jsonl files: ten times the catalogue that the shop is measured with.
MOST_VALUES = 20_000_000  # Of all files, by their commas and opening brackets; a product has some twenty.
CHUNK = 1024**2


def check_size(bundle: Bundle, files: Iterable[str]) -> int:
    """Return how many rows there are. Raises BrokenBundle, which names the limit and the file that passes it."""
    if isinstance(bundle, RowBundle):
        return bundle.count()
    size = rows = values = 0
    for file in files:
        has_rows = file.removesuffix(".gz").endswith(".jsonl")
        with open_data(bundle, file) as stream:
            for chunk in _chunks(stream):
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


def _chunks(stream: IO[bytes]) -> Iterable[bytes]:
    return iter(lambda: stream.read(CHUNK), b"")


def _too_much(file: str, most: str) -> BrokenBundle:
    return BrokenBundle.at(file, f"A bundle has at most {most}, in all its files together. Import it in parts.")
