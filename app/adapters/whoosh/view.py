"""The view of a commit: its segments laid end to end, with what queries need as arrays, made on first use; and the
current view of an index in this process, opened once, checked at every request, replaced after a commit.

A view is opened after every checksum was compared. From then on the stamps of its files (size, time, number) show
whether something else wrote to them; checksums are compared again by `verify`, since a disk that loses bits leaves
the stamps as they were.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from whoosh.util.numeric import byte_to_length

from app.adapters.whoosh.files import CARD_COLUMN, DIGEST_COLUMN, ID_COLUMN, SORT_NAME_COLUMN, Stamp, stamp_of
from app.adapters.whoosh.generation import (
    CANNOT_BE_READ,
    MANIFEST,
    UNREADABLE,
    Commit,
    HeldLock,
    IndexFolder,
    damage_error,
    damaged_files,
    is_latest,
    is_marked,
    mark_damaged,
    read_commit,
    read_manifest,
    readable,
    refuse_marked,
)
from app.adapters.whoosh.segment import Segment
from app.adapters.whoosh.terms import Postings
from app.domain.search.engine import SearchUnavailable
from app.domain.search.ranking.analysis import ANALYSIS
from app.domain.search.word_forms import root
from app.domain.shared.byte_cache import ByteCache

Docs = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
T = TypeVar("T")
N = TypeVar("N", bound=np.generic)

_ATTEMPTS = 5  # To open a commit whose files a writer replaces meanwhile.
RECENT_BYTES = 64 << 20
BESIDE_VALUE = 500  # Bytes of a cached value's key and place.
BYTE_LENGTHS = np.array([byte_to_length(byte) for byte in range(256)], np.float64)


class View:
    """One commit of an index for reading. Documents are numbered across segments; `size` counts deleted ones too.

    `generation` and `commit` say which state this is. The pin keeps the generation's files while the view lives. From
    the view of another commit, `before`, is taken over what was made of the segments that both begin with.
    """

    def __init__(
        self,
        generation: str,
        commit: int,
        segments: Sequence[Segment],
        deleted: Sequence[Iterable[int]],
        pin: HeldLock | None = None,
        before: View | None = None,
    ) -> None:
        self.generation, self.commit, self.pin = generation, commit, pin
        self.segments = tuple(segments)
        self.counts = [segment.count for segment in segments]
        self.bases = np.concatenate(([0], np.cumsum(self.counts, dtype=np.int64)))
        self.size = int(self.bases[-1])
        self._based = [(np.int32(base), one) for base, one in zip(self.bases.tolist(), self.segments, strict=False)]
        self.deleted = [frozenset(docs) for docs in deleted]
        self.live = self._live_mask()
        self.documents = self.size - sum(map(len, self.deleted))
        self._cache: dict[Hashable, object] = {}
        self._recent = ByteCache[tuple[Any, int]](RECENT_BYTES, lambda entry: entry[1])
        self.columns: dict[Hashable, Any] = {}
        pairs = [] if before is None else zip(before.segments, self.segments, strict=False)
        self._same = sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], pairs))
        # Only of the view before: what no search needed since the last commit is not worth its memory.
        self._known_columns = dict(before.columns) if before is not None and self._same else {}
        self.kept: dict[str, tuple[object, object]] = {} if before is None else before.kept

    @property
    def is_outdated(self) -> bool:
        """Whether any segment was made by another version of the analysis."""
        return any(segment.analysis != ANALYSIS for segment in self.segments)

    def _live_mask(self) -> Mask | None:
        """Return the mask of documents that are not deleted; None where nothing is, which spares the common case a
        pass."""
        if not any(self.deleted):
            return None
        live = np.ones(self.size, np.bool_)
        for base, docs in zip(self.bases.tolist(), self.deleted, strict=False):
            live[np.fromiter(docs, np.intp, len(docs)) + base] = False
        return live

    def cached(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the cached value of a key, made by `make` where there is none. Two threads may make the same thing;
        both get a right one."""
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]  # type: ignore[return-value]

    def recent(self, key: Hashable, make: Callable[[], T], size: Callable[[T], int]) -> T:
        """Return a value like `cached`, from an LRU cache bounded in bytes, for keys of endless variety. `size` counts
        the bytes of a value."""

        def entry() -> tuple[T, int]:
            made = make()
            return made, size(made) + BESIDE_VALUE

        found: T = self._recent.get(key, entry)[0]
        return found

    def lasting(self, name: str, state: object, make: Callable[[], T]) -> T:
        """Return a value like `cached`, but handed on to the views of later commits for as long as `state` stays the
        same."""
        found = self.kept.get(name)
        if found is None or found[0] != state:
            found = self.kept[name] = (state, make())
        return found[1]  # type: ignore[return-value]

    def _column(self, key: Hashable, read: Callable[[Segment], npt.NDArray[N]]) -> npt.NDArray[N]:
        """Return a column of all segments, end to end, cached; the part that the view before had is not read again."""
        if key not in self.columns:
            known, first = self.take_over(key)
            parts = [] if known is None else [known[: self.bases[first]]]
            self.columns[key] = np.concatenate([*parts, *map(read, self.segments[first:])])
        return self.columns[key]  # type: ignore[no-any-return]

    def take_over(self, key: Hashable) -> tuple[Any, int]:
        """Return (the column that the view before had under a key, the number of segments of this view that it has
        too); (None, 0) where there is none."""
        known = self._known_columns.pop(key, None)
        return known, 0 if known is None else self._same

    def postings(self, field: str, term: bytes) -> Postings | None:
        found = []
        for base, segment in self._based:
            postings = segment.postings(field, term)
            if postings is not None:
                found.append((postings[0] + base, postings[1]))
        if len(found) < 2:
            return found[0] if found else None
        return np.concatenate([docs for docs, _ in found]), np.concatenate([weights for _, weights in found])

    def forms(self, shared: str) -> list[str]:
        """Return the words of the text fields that have a root. Where it is its own root it is among them, whether a
        text has it or not."""
        own = {shared: None} if root(shared) == shared else {}
        return list(own | {form: None for one in self.segments for form in one.forms(shared)})

    def average_length(self, field: str) -> float:
        total = sum(segment.field_lengths.get(field, 0) for segment in self.segments)
        return total / self.size if total else 1.0

    def length_bytes(self, field: str) -> npt.NDArray[np.uint8]:
        return self._column(("lengths", field), lambda segment: segment.lengths(field))

    def numbers(self, name: str) -> npt.NDArray[np.float64]:
        """Return the number of each document under a name, NaN where it has none; cached like a facet."""
        key = "numbers", name
        if key not in self.columns and not any(segment.has_numbers(name) for segment in self.segments):
            return np.full(self.size, np.nan)
        return self._column(key, lambda segment: segment.numbers(name))

    def document_of(self, document_id: str) -> int | None:
        """Return the number of a live document by its id, None where there is none."""
        for place, segment in enumerate(self.segments):
            doc = segment.document_of(document_id)
            if doc is not None and doc not in self.deleted[place]:
                return int(self.bases[place]) + doc
        return None

    def ids_and_cards(self, docs: npt.NDArray[np.intp]) -> list[tuple[str, Mapping[str, object]]]:
        """Return the ids and cards of documents, as hits show them; all cards are read in one go."""
        pairs = b",".join(self._texts(CARD_COLUMN, docs))
        found: list[tuple[str, Mapping[str, object]]] = json.loads(f"[{pairs.decode()}]")
        return found

    def names(self, docs: npt.NDArray[np.intp]) -> list[str]:
        """Return the folded names of documents."""
        return [name.decode() for name in self._texts(SORT_NAME_COLUMN, docs)]

    def _texts(self, name: str, docs: npt.NDArray[np.intp]) -> list[bytes]:
        places = self.bases.searchsorted(docs, side="right") - 1
        columns = [segment.text(name) for segment in self.segments]
        in_segment = zip(places.tolist(), (docs - self.bases[places]).tolist(), strict=True)
        return [columns[place][doc] for place, doc in in_segment]

    def digests(self) -> Iterator[tuple[str, str]]:
        for segment, deleted in zip(self.segments, self.deleted, strict=True):
            ids, digests = segment.text(ID_COLUMN), segment.text(DIGEST_COLUMN)
            for doc in range(segment.count):
                if doc not in deleted:
                    yield ids[doc].decode(), digests[doc].decode()


@dataclass(frozen=True, slots=True)
class OpenView:
    """A view with the stamps and the checksums that its files had when it was opened, by their names."""

    view: View
    directory: Path
    stamps: Mapping[str, Stamp]
    digests: Mapping[str, str]

    def is_readable(self) -> bool:
        """Return whether the open files are as they were. They may be gone from the disk all the same."""
        return all(segment.is_unchanged() for segment in self.view.segments) and not is_marked(self.directory)

    def is_on_disk(self) -> bool:
        """Return whether another process would open the same. Raises what missing or broken files raise. A manifest
        that changed may be that of a commit in the making, with the same checksums for the files of this one."""
        changed = {name for name, stamp in self.stamps.items() if stamp_of(f"{self.directory}/{name}") != stamp}
        if not changed:
            return True
        return changed == {MANIFEST} and self.digests.items() <= read_manifest(self.directory).items()


class Reader:
    """Opens the views of one index. Thread-safe: while one thread opens a new commit the others go on with the view
    before it."""

    def __init__(self, folder: IndexFolder) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._opened: OpenView | None = None

    @contextmanager
    def reading(self, view: View) -> Iterator[View]:
        """Turn errors of the view's files within the block into SearchUnavailable; the next search opens them anew."""
        try:
            with readable():
                yield view
        except SearchUnavailable:
            self._drop(view)
            raise

    def view(self, wait: bool = False) -> View:
        """Return a view of the latest commit. A view that is open goes on when its files are gone, and, without `wait`,
        while another thread opens its successor or where that cannot be opened. Raises SearchUnavailable when there is
        no index or it cannot be read."""
        opened = self._readable()
        try:
            if opened is not None and self._is_current(opened.view):
                return opened.view
        except OSError:
            if opened is not None:
                return opened.view
        if opened is not None and not wait and self._lock.locked():
            return opened.view
        try:
            return self._refresh()
        except SearchUnavailable:
            if opened is None or wait:
                raise
            return opened.view

    def fresh_view(self) -> View:
        """Return a view like `view`, but an index that is lost or damaged is an error although an open view could go
        on."""
        opened = self._readable()
        try:
            if opened is None or not self._is_current(opened.view):
                return self._refresh()
            if opened.is_on_disk():
                return opened.view
        except UNREADABLE:
            pass  # Opening it says what is wrong.
        return self._refresh(anew=True)

    def verify(self) -> None:
        """Compare every checksum. Where one differs raises SearchUnavailable, from then on in every process."""
        self._refresh(anew=True)

    def _readable(self) -> OpenView | None:
        opened = self._opened
        if opened is not None and not opened.is_readable():
            self._drop(opened.view)
            return None
        return opened

    def _drop(self, view: View) -> None:
        if self._opened is not None and self._opened.view is view:
            self._opened = None

    def _is_current(self, view: View) -> bool:
        return self._folder.current() == view.generation and is_latest(
            f"{self._folder.directory}/{view.generation}", view.commit
        )

    def _refresh(self, anew: bool = False) -> View:
        """Open the latest commit. With `anew` what is open is read again as well, and stays open where that fails."""
        with self._lock:
            for attempt in range(_ATTEMPTS):
                try:
                    generation = self._folder.current()
                except OSError as error:
                    raise SearchUnavailable("Search does not answer: there is no index. Rebuild to make it.") from error
                try:
                    opened = self._opened = self._open(generation, None if anew else self._opened)
                    return opened.view
                except UNREADABLE as error:
                    # A writer may have removed what the table of contents named a moment ago.
                    if attempt == _ATTEMPTS - 1:
                        raise SearchUnavailable(CANNOT_BE_READ) from error
            raise AssertionError("the last attempt returns or raises")

    def _open(self, generation: str, opened: OpenView | None) -> OpenView:
        if opened is not None and opened.view.generation != generation:
            opened = None
        previous = opened.view if opened is not None else None
        pin = previous.pin if previous is not None else self._folder.pin(generation)
        directory = self._folder.directory / generation
        refuse_marked(directory)
        commit = read_commit(directory)
        if opened is not None and opened.view.commit == commit.number:
            return opened
        known = {segment.id: segment for segment in previous.segments} if previous is not None else {}
        stamps = {name: stamp_of(f"{directory}/{name}") for name in (MANIFEST, *commit.file_names)}
        digests = _verify_digests(directory, commit, frozenset(known))
        segments = [known.get(entry.segment_id()) or Segment(directory, entry) for entry in commit.segments]
        if any(stamps[segment.file_name] != segment.stamp for segment in segments):
            raise ValueError("files changed while they were opened")
        deleted = [entry.deleted_docs() for entry in commit.segments]
        view = View(generation, commit.number, segments, deleted, pin, previous)
        return OpenView(view, directory, stamps, digests)


def _verify_digests(directory: Path, commit: Commit, known: frozenset[str]) -> dict[str, str]:
    """Compare the checksums of a commit's files, those of `known` segments aside, and return them. Raises
    SearchUnavailable where one differs."""
    if files := damaged_files(directory, commit, known):
        mark_damaged(directory, files)
        raise damage_error(", ".join(files))
    manifest = read_manifest(directory)
    return {name: manifest[name] for name in commit.file_names}
