"""A generation in the making."""

from __future__ import annotations

import ctypes
import os
import pickle
import shutil
import signal
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from whoosh.codec.whoosh3 import W3Segment

from app.adapters.whoosh.changes import apply_changes, prepared_vectors
from app.adapters.whoosh.commits import Commit, damaged_files, read_commit, write_commit
from app.adapters.whoosh.embedding import BatchEmbedder, Embedder, embedder
from app.adapters.whoosh.generations import IndexFolder
from app.adapters.whoosh.inversion import invert
from app.adapters.whoosh.inverted import Inverted
from app.adapters.whoosh.meaning import Meanings
from app.adapters.whoosh.segment import Segment
from app.adapters.whoosh.segment_file import write_segment
from app.adapters.whoosh.unfinished_vectors import UnfinishedVectors
from app.adapters.whoosh.vectors import RowVectors
from app.adapters.whoosh.view import View
from app.adapters.whoosh.view_search import ViewSearch
from app.domain.search.engine import Change, IndexDocument, Searching, SearchUnavailable
from app.domain.search.sentence_model import SentenceModelUnavailable
from app.domain.shared.durable_files import fsync_path

SEGMENT_DOCUMENTS = 25_000
WORTH_A_CHILD = 4_000
_DIE_WITH_PARENT = 1


class WhooshGeneration:
    """A generation in the making: it collects documents and writes a segment for every 25,000, half of them in a forked
    child: a child shares the documents without a copy, and its death by the kernel is a failed build, not a wrong
    one. Vectors are made here as documents come: a model computes on all cores by itself."""

    def __init__(
        self, place: IndexFolder, meanings: Meanings | None = None, known: Sequence[RowVectors | None] = ()
    ) -> None:
        self._place = place
        self._meanings = meanings
        self._model = None if meanings is None else meanings.model
        self._unfinished = UnfinishedVectors(place.directory / "unfinished.vectors")
        self._prepared: RowVectors | None = None
        makes_vectors = self._embedder(known)
        self._vectors = None if makes_vectors is None else BatchEmbedder(makes_vectors)
        self._name = place.next_generation()
        self._path = place.directory / f"{self._name}.tmp"
        self._path.mkdir(mode=0o700)
        self._waiting: list[IndexDocument] = []
        self._segments: list[W3Segment] = []
        self._child: _Child | None = None
        self._added = 0
        self._is_published = False

    def _embedder(self, known: Sequence[RowVectors | None]) -> Embedder | None:
        """Return the embedder, which takes over `known` vectors and those that an unfinished rebuild left; None without
        a usable model."""
        if self._model is None:
            return None
        try:
            kept = self._unfinished.read(self._model.name)
        except SentenceModelUnavailable:
            kept = []
        return embedder(self._model, [*known, *kept], self._unfinished.append)

    def add(self, documents: Iterable[IndexDocument]) -> None:
        for document in documents:
            self._waiting.append(document)
            if self._vectors is not None:
                self._vectors.add(document)
            self._added += 1
            if len(self._waiting) == SEGMENT_DOCUMENTS:
                with _saying_why():
                    self._write_waiting()

    def _write_waiting(self) -> None:
        batch = self._take_waiting()
        if self._child is None or self._child.has_ended():
            self._collect_child()
            self._child = _Child(self._path, batch)
        else:
            self._segments.append(write_segment(self._path, batch.inverted()))

    def _take_waiting(self) -> _Batch:
        documents, self._waiting = self._waiting, []
        return _Batch(documents, None if self._vectors is None else self._vectors.take())

    def _write_rest(self) -> None:
        batch = self._take_waiting()
        half = len(batch.documents) // 2 if len(batch.documents) >= WORTH_A_CHILD else 0
        self._collect_child()
        if half:
            self._child = _Child(self._path, batch.part(slice(half)))
        if batch.documents[half:]:
            self._segments.append(write_segment(self._path, batch.part(slice(half, None)).inverted()))
        self._collect_child()

    def _collect_child(self) -> None:
        if self._child is not None:
            self._segments.append(self._child.segment())
            self._child = None

    def seal(self) -> int:
        with _saying_why():
            return self._sealed()

    def _sealed(self) -> int:
        self._write_rest()
        write_commit(self._path, Commit(0, ()), self._segments)
        final = self._place.directory / self._name
        self._place.make_pin(self._name)
        os.rename(self._path, final)
        self._path = final
        fsync_path(self._place.directory)
        return self._verified_count()

    def _verified_count(self) -> int:
        commit = read_commit(self._path)
        damaged = damaged_files(self._path, commit)
        if damaged or commit.documents != self._added:
            raise SearchUnavailable(
                f"The new index does not hold what was written to it ({', '.join(damaged) or commit.documents}). "
                "Look at the disk, then rebuild."
            )
        return commit.documents

    def preview(self) -> Searching:
        with _saying_why():
            commit = read_commit(self._path)
            segments = [self._segment(entry) for entry in commit.segments]
            deleted = [entry.deleted_docs() for entry in commit.segments]
            return ViewSearch(View(self._name, commit.number, segments, deleted), self._meanings)

    def prepare(self, changes: Iterable[Change]) -> None:
        with _saying_why():
            segments = [] if self._model is None else [self._segment(e) for e in read_commit(self._path).segments]
            self._prepared = prepared_vectors(self._model, changes, [segment.vectors for segment in segments])

    def replay(self, changes: Sequence[Change]) -> None:
        with _saying_why():
            if changes:
                apply_changes(self._path, changes, self._segment, self._model, self._prepared)

    def _segment(self, entry: W3Segment) -> Segment:
        return Segment(self._path, entry)

    def publish(self) -> None:
        with _saying_why():
            self._place.publish(self._name)
        self._is_published = True
        self._unfinished.remove()
        self._place.prune()

    def discard(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None
        self._waiting = []
        if not self._is_published and not self._place.is_live(self._name):
            shutil.rmtree(self._path, ignore_errors=True)
            (self._place.directory / "pins" / self._name).unlink(missing_ok=True)


@contextmanager
def _saying_why() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise SearchUnavailable(f"The index could not be written: {reason}. Rebuild once that is fixed.") from error


@dataclass(frozen=True, slots=True)
class _Batch:
    """Documents of one segment, with a row of vectors for each where there is a model."""

    documents: Sequence[IndexDocument]
    vectors: RowVectors | None

    def part(self, which: slice) -> _Batch:
        return _Batch(self.documents[which], None if self.vectors is None else self.vectors.at(which))

    def inverted(self) -> Inverted:
        return replace(invert(self.documents), vectors=self.vectors)


class _Child:
    """A forked process that writes one segment and sends its entry, or the error, through a pipe."""

    def __init__(self, directory: Path, batch: _Batch) -> None:
        reading, writing = os.pipe()
        parent = os.getpid()
        with warnings.catch_warnings():
            # Python 3.12 warns of other threads; the child touches nothing but its documents and its file.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._pid = os.fork()
        if self._pid == 0:
            os.close(reading)
            _write_in_child(directory, batch, writing, parent)
        os.close(writing)
        self._pipe = os.fdopen(reading, "rb")
        self._status: int | None = None

    def has_ended(self) -> bool:
        if self._status is None:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            self._status = status if pid else None
        return self._status is not None

    def segment(self) -> W3Segment:
        """Wait for the child and return its segment. Raises SearchUnavailable with the child's error message when
        it failed."""
        with self._pipe:
            answer = self._pipe.read()
        self._wait()
        if self._status or not answer:
            raise SearchUnavailable(f"A process that built the index ended early (status {self._status}). Rebuild.")
        outcome = pickle.loads(answer)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def kill(self) -> None:
        if not self.has_ended():
            os.kill(self._pid, signal.SIGKILL)
            self._wait()
        self._pipe.close()

    def _wait(self) -> None:
        if self._status is None:
            self._status = os.waitpid(self._pid, 0)[1]


def _write_in_child(directory: Path, batch: _Batch, pipe: int, parent: int) -> None:
    """Write a segment in a child process. Never returns: the child must not run on into its parent's code, nor outlive
    it."""
    try:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        try:
            outcome: object = write_segment(directory, batch.inverted())
        except (OSError, ValueError, TypeError, MemoryError) as error:
            outcome = error
        os.write(pipe, pickle.dumps(outcome))
        os._exit(0)
    finally:
        os._exit(1)
