"""The embedding of documents. Vectors that were made before of the same text are taken over; those of rebuilds that did
not finish are kept beside the index, so that the next one goes on where they ended."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import structlog

from app.adapters.whoosh.vectors import (
    Hashes,
    Rows,
    RowVectors,
    hash_texts,
    join_rows,
    pack_vectors,
    parse_vectors,
    write_vectors,
)
from app.domain.search.engine import IndexDocument
from app.domain.search.ranking.scoring import meaning_text
from app.domain.search.sentence_model import SentenceModel, SentenceModelUnavailable, Vectors

Keep = Callable[[RowVectors], None]
BATCH = 256  # Texts that are embedded in one go; few, so that the progress of a rebuild shows.
_BLOCK = struct.Struct("<QII")  # Bytes that follow, their checksum, and how many vectors they hold.
MOST_BYTES = 60_000_000  # 150,000 vectors of 384 dimensions; those of more are made again.

log = structlog.get_logger(__name__)


class Embedder:
    """Makes vectors by a model, which is loaded at the first text that was never embedded; where it cannot be used,
    documents get no vectors. `known` are vectors that were made before, by any model. New vectors are passed to `keep`
    as well. Raises SentenceModelUnavailable where the model cannot even be named."""

    def __init__(
        self, model: SentenceModel, known: Iterable[RowVectors | None] = (), keep: Keep = lambda made: None
    ) -> None:
        self._model, self._keep = model, keep
        self._is_usable = True
        self._known = [
            vectors
            for vectors in known
            if vectors is not None and (vectors.model, vectors.dimensions) == (model.name, model.dimensions)
        ]
        hashes: Hashes = np.concatenate([np.zeros(0, np.uint64), *(v.hashes for v in self._known)])
        scales = np.concatenate([np.zeros(0, np.float32), *(v.scales for v in self._known)])
        # A row without a vector, whose text another may have one of, is none to take over.
        rows = np.flatnonzero(scales)
        self._order = rows[np.argsort(hashes[rows])]
        self._hashes = hashes[self._order]
        self._starts = np.cumsum([0, *map(len, self._known)])

    def vectors(self, documents: Sequence[IndexDocument], most: int | None = None) -> RowVectors:
        """Return a row for each document. Of texts that were never embedded only the first `most` are; the documents
        of the others go without."""
        texts = [meaning_text(document) for document in documents]
        hashes = hash_texts(texts)
        rows: Rows = np.zeros((len(texts), self._model.dimensions), np.int8)
        found = RowVectors(self._model.name, rows, np.zeros(len(texts), np.float32), hashes)
        missing = np.flatnonzero(~self._copy_known(found, rows))[:most]
        for start in range(0, len(missing), BATCH):
            places = missing[start : start + BATCH]
            embedded = self._embed_texts([texts[place] for place in places]) if self._is_usable else None
            if embedded is None:
                break
            made = pack_vectors(self._model.name, embedded, hashes[places])
            rows[places], found.scales[places] = made.rows[:], made.scales
            self._keep(made)
        return found

    def _embed_texts(self, texts: Sequence[str]) -> Vectors | None:
        """Return the vectors of texts; None where the model cannot be used, since documents are indexed all the
        same."""
        try:
            return self._model.embed(texts)
        except (SentenceModelUnavailable, OSError, MemoryError) as error:
            self._is_usable = False
            log.warning("indexed_by_words_alone", reason=getattr(error, "message", str(error)))
            return None

    def _copy_known(self, found: RowVectors, rows: Rows) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Copy the known vectors of equal hashes into `found` and its `rows`, and return the mask of those that got
        one."""
        copied = np.zeros(len(found), np.bool_)
        if not len(self._hashes):
            return copied
        at = np.minimum(self._hashes.searchsorted(found.hashes), len(self._hashes) - 1)
        sources = self._order[at]
        for place in np.flatnonzero(self._hashes[at] == found.hashes).tolist():
            part = int(self._starts.searchsorted(sources[place], side="right")) - 1
            row = int(sources[place] - self._starts[part])
            rows[place], found.scales[place] = self._known[part].rows[row : row + 1][0], self._known[part].scales[row]
            copied[place] = True
        return copied


def make_embedder(
    model: SentenceModel | None, known: Iterable[RowVectors | None], keep: Keep = lambda made: None
) -> Embedder | None:
    """Return an embedder; None where there is no model, or one that cannot be named."""
    if model is None:
        return None
    try:
        return Embedder(model, known, keep)
    except SentenceModelUnavailable as error:
        log.warning("indexed_by_words_alone", reason=error.message)
        return None


class BatchEmbedder:
    """Embeds documents as they come, a batch at a time, and hands out the rows in order."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._waiting: list[IndexDocument] = []
        self._made: list[RowVectors] = []

    def add(self, document: IndexDocument) -> None:
        self._waiting.append(document)
        if len(self._waiting) == BATCH:
            self._embed()

    def _embed(self) -> None:
        if self._waiting:
            self._made.append(self._embedder.vectors(self._waiting))
            self._waiting = []

    def take(self) -> RowVectors | None:
        """Return the rows of the documents that were added since the last call, in order; None for no documents."""
        self._embed()
        made, self._made = self._made, []
        return join_rows(made) if made else None


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
        found, whole = _read_blocks(content)
        if whole < len(content):
            with suppress(OSError):
                os.truncate(self._file, whole)
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


def _read_blocks(content: bytes) -> tuple[list[RowVectors], int]:
    """Return the whole blocks from the start on, and their size in bytes."""
    found, end = [], 0
    while (start := end + _BLOCK.size) <= len(content):
        length, checksum, count = _BLOCK.unpack_from(content, end)
        payload = content[start : start + length]
        if len(payload) != length or zlib.crc32(payload) != checksum:
            break
        found.append(parse_vectors(payload, count))
        end = start + length
    return found, end
