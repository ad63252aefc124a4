"""The vectors of rebuilds that did not finish, kept beside the index, so that the next one goes on where they ended."""

from __future__ import annotations

import os
import struct
import zlib
from contextlib import suppress
from pathlib import Path

import structlog

from app.adapters.whoosh.vectors import RowVectors, vectors_in, write_vectors

_BLOCK = struct.Struct("<QII")  # Bytes that follow, their checksum, and how many vectors they hold.
MOST_BYTES = 60_000_000  # 150,000 vectors of 384 dimensions; those of more are made again.

log = structlog.get_logger(__name__)


class UnfinishedVectors:
    """A file to which blocks of vectors are appended. What a dying process left half written is cut off when it is
    read, before more follows."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def read(self, model: str) -> list[RowVectors]:
        """Return the vectors by a model. A file that has others, of a model that was replaced, is removed."""
        try:
            content = self._file.read_bytes()
        except OSError:
            return []
        found, whole = _blocks(content)
        if whole < len(content):
            self._cut(whole)
        if any(vectors.model != model for vectors in found):
            self.remove()
            return []
        return found

    def append(self, vectors: RowVectors) -> None:
        """Append vectors to the file where there is room. An error is logged, not raised: a rebuild can do without."""
        payload = write_vectors(vectors)
        block = _BLOCK.pack(len(payload), zlib.crc32(payload), len(vectors)) + payload
        try:
            file = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                size = os.fstat(file).st_size
                if size + len(block) <= MOST_BYTES and os.write(file, block) < len(block):
                    os.ftruncate(file, size)  # The disk is full.
            finally:
                os.close(file)
        except OSError as error:
            log.warning("vectors_not_kept", reason=error.strerror)

    def remove(self) -> None:
        """Remove the file where possible. One that stays does no harm, since its vectors are looked up by text."""
        with suppress(OSError):
            self._file.unlink()

    def _cut(self, size: int) -> None:
        with suppress(OSError):
            os.truncate(self._file, size)


def _blocks(content: bytes) -> tuple[list[RowVectors], int]:
    """Return the whole blocks from the start on, and their size in bytes."""
    found, end = [], 0
    while (start := end + _BLOCK.size) <= len(content):
        length, checksum, count = _BLOCK.unpack_from(content, end)
        payload = content[start : start + length]
        if len(payload) != length or zlib.crc32(payload) != checksum:
            break
        found.append(vectors_in(payload, count))
        end = start + length
    return found, end
