"""Writing an index: a generation in the making, and changes to one that is live, or to a preview of it."""

from __future__ import annotations

import ctypes
import os
import pickle
import shutil
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from whoosh.codec.whoosh3 import W3Segment

from app.adapters.whoosh.embedding import BatchEmbedder, Embedder, UnfinishedVectors, make_embedder
from app.adapters.whoosh.generation import Commit, IndexFolder, damaged_files, read_commit, write_commit
from app.adapters.whoosh.inversion import Inverted, invert
from app.adapters.whoosh.results import ViewSearch
from app.adapters.whoosh.segment import Segment, merge_segments, segments_to_merge, write_segment
from app.adapters.whoosh.vectors import RowVectors
from app.adapters.whoosh.view import View
from app.domain.search.engine import Change, IndexDocument, Searching, SearchUnavailable, Upsert
from app.domain.search.sentence_model import Meanings, SentenceModel, SentenceModelUnavailable
from app.domain.shared.durable_files import fsync_path

OpenSegment = Callable[[W3Segment], Segment]

SEGMENT_DOCUMENTS = 25_000
WORTH_A_CHILD = 4_000  # Documents at the end of a build, of which a child writes half.
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
MOST_EMBEDDED = 64  # New texts of a preview, so that it takes no longer than a second or so.


class WhooshGeneration:
    """A generation in the making: it collects documents and writes a segment for every 25,000, half of them in a forked
    child: a child shares the documents without a copy, and its death by the kernel is a failed build, not a wrong
    one. Vectors are made here as documents come: a model computes on all cores by itself."""

    def __init__(
        self, folder: IndexFolder, meanings: Meanings | None = None, known: Sequence[RowVectors | None] = ()
    ) -> None:
        self._folder = folder
        self._meanings = meanings
        self._model = None if meanings is None else meanings.model
        self._unfinished = UnfinishedVectors(folder.directory / "unfinished.vectors")
        self._prepared: RowVectors | None = None
        embedder = self._make_embedder(known)
        self._vectors = None if embedder is None else BatchEmbedder(embedder)
        self._name = folder.next_generation()
        self._path = folder.directory / f"{self._name}.tmp"
        self._path.mkdir(mode=0o700)
        self._waiting: list[IndexDocument] = []
        self._segments: list[W3Segment] = []
        self._child: _Child | None = None
        self._added = 0
        self._is_published = False

    def _make_embedder(self, known: Sequence[RowVectors | None]) -> Embedder | None:
        """Return the embedder, which takes over `known` vectors and those that an unfinished rebuild left; None without
        a usable model."""
        if self._model is None:
            return None
        try:
            kept = self._unfinished.read(self._model.name)
        except SentenceModelUnavailable:
            kept = []
        return make_embedder(self._model, [*known, *kept], self._unfinished.append)

    def add(self, documents: Iterable[IndexDocument]) -> None:
        for document in documents:
            self._waiting.append(document)
            if self._vectors is not None:
                self._vectors.add(document)
            self._added += 1
            if len(self._waiting) == SEGMENT_DOCUMENTS:
                with _explaining_write_errors():
                    self._write_waiting()

    def _write_waiting(self) -> None:
        """Write the waiting documents as a segment, in a child where none is at work."""
        batch = self._take_waiting()
        if self._child is None or self._child.has_ended():
            self._collect_child()
            self._child = _Child(self._path, batch)
        else:
            self._segments.append(write_segment(self._path, batch.invert()))

    def _take_waiting(self) -> _Batch:
        documents, self._waiting = self._waiting, []
        return _Batch(documents, None if self._vectors is None else self._vectors.take())

    def _write_rest(self) -> None:
        """Write the waiting documents, half of them in a child where that is worth it, and wait for it."""
        batch = self._take_waiting()
        half = len(batch.documents) // 2 if len(batch.documents) >= WORTH_A_CHILD else 0
        self._collect_child()
        if half:
            self._child = _Child(self._path, batch.part(slice(half)))
        if batch.documents[half:]:
            self._segments.append(write_segment(self._path, batch.part(slice(half, None)).invert()))
        self._collect_child()

    def _collect_child(self) -> None:
        if self._child is not None:
            self._segments.append(self._child.wait_for_segment())
            self._child = None

    def seal(self) -> int:
        with _explaining_write_errors():
            self._write_rest()
            write_commit(self._path, Commit(0, ()), self._segments)
            final = self._folder.directory / self._name
            self._folder.make_pin(self._name)
            os.rename(self._path, final)
            self._path = final
            fsync_path(self._folder.directory)
            return self._verify()

    def _verify(self) -> int:
        """Return the number of documents that can be read back. Raises SearchUnavailable where it is not that of those
        that were added, or a file is damaged."""
        commit = read_commit(self._path)
        damaged = damaged_files(self._path, commit)
        if damaged or commit.documents != self._added:
            raise SearchUnavailable(
                f"The new index does not hold what was written to it ({', '.join(damaged) or commit.documents}). "
                "Look at the disk, then rebuild."
            )
        return commit.documents

    def preview(self) -> Searching:
        with _explaining_write_errors():
            commit = read_commit(self._path)
            segments = [self._open_segment(entry) for entry in commit.segments]
            deleted = [entry.deleted_docs() for entry in commit.segments]
            return ViewSearch(View(self._name, commit.number, segments, deleted), self._meanings)

    def prepare(self, changes: Iterable[Change]) -> None:
        with _explaining_write_errors():
            segments = [] if self._model is None else [self._open_segment(e) for e in read_commit(self._path).segments]
            self._prepared = prepare_vectors(self._model, changes, [segment.vectors for segment in segments])

    def replay(self, changes: Sequence[Change]) -> None:
        with _explaining_write_errors():
            if changes:
                apply_changes(self._path, changes, self._open_segment, self._model, self._prepared)

    def _open_segment(self, entry: W3Segment) -> Segment:
        return Segment(self._path, entry)

    def publish(self) -> None:
        with _explaining_write_errors():
            self._folder.publish(self._name)
        self._is_published = True
        self._unfinished.remove()
        self._folder.prune()

    def discard(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None
        self._waiting = []
        if not self._is_published and not self._folder.is_live(self._name):
            shutil.rmtree(self._path, ignore_errors=True)
            (self._folder.directory / "pins" / self._name).unlink(missing_ok=True)


@contextmanager
def _explaining_write_errors() -> Iterator[None]:
    """Turn an error of the disk into SearchUnavailable, with what to do about it."""
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

    def invert(self) -> Inverted:
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

    def wait_for_segment(self) -> W3Segment:
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
            outcome: object = write_segment(directory, batch.invert())
        except (OSError, ValueError, TypeError, MemoryError) as error:
            outcome = error
        os.write(pipe, pickle.dumps(outcome))
        os._exit(0)
    finally:
        os._exit(1)


def apply_changes(
    directory: Path,
    changes: Sequence[Change],
    open_segment: OpenSegment,
    model: SentenceModel | None = None,
    prepared: RowVectors | None = None,
) -> bool:
    """Apply changes to a generation in one durable commit, and return whether anything changed. The last change of an
    id wins. A changed document keeps its vector while its text stays the same; that of another text is among
    `prepared`, or missing."""
    last = last_changes(changes)
    commit = read_commit(directory)
    entries = list(commit.segments)
    deleted = _delete_documents(entries, last, open_segment)
    documents = [change.document for change in last.values() if isinstance(change, Upsert)]
    if not documents and not deleted:
        return False
    if documents:
        inverted = invert(documents)
        embedder = make_embedder(model, [prepared, *(open_segment(entry).vectors for entry in commit.segments)])
        if embedder is not None:
            inverted.vectors = embedder.vectors(documents, most=0)
        entries.append(write_segment(directory, inverted))
    entries = _merge_small_segments(directory, entries, open_segment)
    write_commit(directory, commit, entries)
    return True


def last_changes(changes: Iterable[Change]) -> dict[str, Change]:
    """Return the last change of each document by its id."""
    return {change.document.id if isinstance(change, Upsert) else change.id: change for change in changes}


def _delete_documents(entries: Iterable[W3Segment], ids: Iterable[str], open_segment: OpenSegment) -> bool:
    """Mark the documents of the ids as deleted, and return whether any was there."""
    deleted = False
    for entry in entries:
        segment = open_segment(entry)
        for document_id in ids:
            doc = segment.document_of(document_id)
            if doc is not None and not entry.is_deleted(doc):
                entry.delete_document(doc)
                deleted = True
    return deleted


def _merge_small_segments(directory: Path, entries: list[W3Segment], open_segment: OpenSegment) -> list[W3Segment]:
    """Return the segments without empty ones, and small ones merged where there are many."""
    empty = [entry for entry in entries if entry.deleted_count() == entry.doc_count_all()]
    kept = [entry for entry in entries if entry not in empty]
    crowd = segments_to_merge(kept)
    if not crowd:
        return kept
    inverted = merge_segments([open_segment(entry) for entry in crowd], [list(entry.deleted_docs()) for entry in crowd])
    return [*(entry for entry in kept if entry not in crowd), write_segment(directory, inverted)]


def prepare_vectors(
    model: SentenceModel | None, changes: Iterable[Change], known: Iterable[RowVectors | None]
) -> RowVectors | None:
    """Return the vectors of the changed documents, of which `known` ones are taken over; None without a model."""
    embedder = None if model is None else make_embedder(model, known)
    if embedder is None:
        return None
    return embedder.vectors([change.document for change in changes if isinstance(change, Upsert)])


@contextmanager
def changed_view(view: View, changes: Sequence[Change], model: SentenceModel | None = None) -> Iterator[View]:
    """Yield the view as it would be once the changes are committed: the old documents deleted, the new ones in a
    segment of their own, so every search, statistics included, answers as it would then. No other search sees it. Of
    documents with new texts the first MOST_EMBEDDED get vectors; words alone rank the others."""
    last = last_changes(changes)
    deleted = [
        {*docs, *(doc for id in last if (doc := segment.document_of(id)) is not None)}
        for segment, docs in zip(view.segments, view.deleted, strict=True)
    ]
    documents = [change.document for change in last.values() if isinstance(change, Upsert)]
    embedder = make_embedder(model, (segment.vectors for segment in view.segments))
    with tempfile.TemporaryDirectory(prefix="trial-") as folder:
        segments = list(view.segments)
        if documents:
            inverted = invert(documents)
            if embedder is not None:
                inverted.vectors = embedder.vectors(documents, MOST_EMBEDDED)
            segments.append(Segment(Path(folder), write_segment(Path(folder), inverted)))
            deleted.append(set())
        changed = View(view.generation, view.commit, segments, deleted, view.pin, view)
        # What was made of the large segments still holds; what is made here must not get into the live view.
        changed.kept = dict(view.kept)
        yield changed
