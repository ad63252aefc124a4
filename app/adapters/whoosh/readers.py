"""The current view of an index in this process: opened once, checked at every request, replaced after a commit.

A view is opened after every checksum was compared. From then on the stamps of its files (size, time, number) show
whether something else wrote to them; checksums are compared again by `verify`, since a disk that loses bits leaves
the stamps as they were.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.adapters.whoosh.commits import (
    MANIFEST,
    Commit,
    damaged_files,
    is_latest,
    read_commit,
    read_manifest,
)
from app.adapters.whoosh.damage import (
    CANNOT_BE_READ,
    UNREADABLE,
    damaged,
    is_marked,
    mark_damaged,
    readable,
    refuse_marked,
)
from app.adapters.whoosh.file_bytes import Stamp, stamp_of
from app.adapters.whoosh.generations import IndexFolder
from app.adapters.whoosh.segment import Segment
from app.adapters.whoosh.view import View
from app.domain.search.engine import SearchUnavailable

_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Opened:
    """A view with the stamps and the checksums that its files had when it was opened, by their names."""

    view: View
    directory: Path
    stamps: Mapping[str, Stamp]
    digests: Mapping[str, str]

    def is_readable(self) -> bool:
        """Whether the open files are as they were. They may be gone from the disk all the same."""
        return all(segment.is_unchanged() for segment in self.view.segments) and not is_marked(self.directory)

    def is_on_disk(self) -> bool:
        """Whether another process would open the same. Raises what missing or broken files raise. A manifest that
        changed may be that of a commit in the making, with the same checksums for the files of this one."""
        changed = {name for name, stamp in self.stamps.items() if stamp_of(f"{self.directory}/{name}") != stamp}
        if not changed:
            return True
        return changed == {MANIFEST} and self.digests.items() <= read_manifest(self.directory).items()


class Reader:
    """Opens the views of one index. Thread-safe: while one thread opens a new commit the others go on with the view
    before it."""

    def __init__(self, place: IndexFolder) -> None:
        self._place = place
        self._lock = threading.Lock()
        self._opened: Opened | None = None

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

    def _readable(self) -> Opened | None:
        opened = self._opened
        if opened is not None and not opened.is_readable():
            self._drop(opened.view)
            return None
        return opened

    def _drop(self, view: View) -> None:
        if self._opened is not None and self._opened.view is view:
            self._opened = None

    def _is_current(self, view: View) -> bool:
        return self._place.current() == view.generation and is_latest(
            f"{self._place.directory}/{view.generation}", view.commit
        )

    def _refresh(self, anew: bool = False) -> View:
        """Open the latest commit. With `anew` what is open is read again as well, and stays open where that fails."""
        with self._lock:
            return self._refreshed(anew)

    def _refreshed(self, anew: bool) -> View:
        for attempt in range(_ATTEMPTS):
            try:
                generation = self._place.current()
            except OSError as error:
                raise _missing() from error
            try:
                opened = self._opened = self._open(generation, None if anew else self._opened)
                return opened.view
            except UNREADABLE as error:
                # A writer may have removed what the table of contents named a moment ago.
                if attempt == _ATTEMPTS - 1:
                    raise SearchUnavailable(CANNOT_BE_READ) from error
        raise AssertionError("the last attempt returns or raises")

    def _open(self, generation: str, opened: Opened | None) -> Opened:
        if opened is not None and opened.view.generation != generation:
            opened = None
        previous = opened.view if opened is not None else None
        pin = previous.pin if previous is not None else self._place.pin(generation)
        directory = self._place.directory / generation
        refuse_marked(directory)
        commit = read_commit(directory)
        if opened is not None and opened.view.commit == commit.number:
            return opened
        known = {segment.id: segment for segment in previous.segments} if previous is not None else {}
        stamps = {name: stamp_of(f"{directory}/{name}") for name in (MANIFEST, *commit.file_names)}
        digests = _verified_digests(directory, commit, frozenset(known))
        segments = [known.get(entry.segment_id()) or Segment(directory, entry) for entry in commit.segments]
        if any(stamps[segment.file_name] != segment.stamp for segment in segments):
            raise ValueError("files changed while they were opened")
        deleted = [entry.deleted_docs() for entry in commit.segments]
        view = View(generation, commit.number, segments, deleted, pin, previous)
        return Opened(view, directory, stamps, digests)


def _verified_digests(directory: Path, commit: Commit, known: frozenset[str]) -> dict[str, str]:
    """Return the checksums of the commit's files. Those of segments that are `known` were compared before."""
    if files := damaged_files(directory, commit, known):
        mark_damaged(directory, files)
        raise damaged(", ".join(files))
    manifest = read_manifest(directory)
    return {name: manifest[name] for name in commit.file_names}


def _missing() -> SearchUnavailable:
    return SearchUnavailable("Search does not answer: there is no index. Rebuild to make it.")
