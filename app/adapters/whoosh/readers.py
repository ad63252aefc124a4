"""The current view of an index in this process: opened once, checked at every request, replaced after a commit."""

from __future__ import annotations

import os
import pickle
import struct
import threading
from collections.abc import Sequence

from app.adapters.whoosh.commits import Commit, damaged_files, is_latest, read_commit
from app.adapters.whoosh.generations import Place
from app.adapters.whoosh.segment import Segment
from app.adapters.whoosh.view import View
from app.domain.search.engine import SearchUnavailable

# What broken, vanishing or unreadable index files raise while they are opened.
UNREADABLE = (
    OSError, ValueError, KeyError, IndexError, EOFError, AttributeError, ImportError, TypeError,
    struct.error, pickle.UnpicklingError,
)  # fmt: skip
_ATTEMPTS = 5


class Reader:
    """Thread-safe. While one thread opens a new commit the others go on with the view before it."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._lock = threading.Lock()
        self._view: View | None = None
        self._failure: tuple[object, SearchUnavailable] | None = None

    def view(self) -> View:
        """The latest commit. A view that is open goes on when its files are gone.
        Raises SearchUnavailable when there is no index or it cannot be read."""
        view = self._view
        try:
            if view is not None and self._is_current(view):
                return view
        except OSError:
            if view is not None:
                return view
        if view is not None and self._lock.locked():
            return view
        try:
            return self._refresh()
        except SearchUnavailable:
            if view is None:
                raise
            return view

    def _refresh(self) -> View:
        with self._lock:
            return self._refreshed()

    def fresh_view(self) -> View:
        """Like `view`, but an index that is lost or damaged is an error although an open view could go on."""
        view = self._view
        try:
            if view is not None and self._is_current(view):
                return view
        except OSError as error:
            raise _missing() from error
        return self._refresh()

    def _is_current(self, view: View) -> bool:
        return self._place.current() == view.generation and is_latest(
            f"{self._place.directory}/{view.generation}", view.commit
        )

    def _refreshed(self) -> View:
        for attempt in range(_ATTEMPTS):
            try:
                generation = self._place.current()
            except OSError as error:
                raise _missing() from error
            try:
                self._view = self._open(generation)
                return self._view
            except UNREADABLE as error:
                # A writer may have removed what the table of contents named a moment ago.
                if attempt == _ATTEMPTS - 1:
                    raise SearchUnavailable(
                        "Search does not answer: its index cannot be read. Rebuild to mend it."
                    ) from error
        raise AssertionError("the last attempt returns or raises")

    def _open(self, generation: str) -> View:
        previous = self._view if self._view is not None and self._view.generation == generation else None
        pin = previous.pin if previous is not None else self._place.pin(generation)
        directory = self._place.directory / generation
        commit = read_commit(directory)
        if previous is not None and previous.commit == commit.number:
            return previous
        known = {segment.id: segment for segment in previous.segments} if previous is not None else {}
        self._verify(generation, commit, frozenset(known))
        segments = [known.get(entry.segment_id()) or Segment(directory, entry) for entry in commit.segments]
        deleted = [set(entry.deleted_docs()) for entry in commit.segments]
        return View(generation, commit.number, segments, deleted, pin, previous.kept if previous is not None else None)

    def _verify(self, generation: str, commit: Commit, known: frozenset[str]) -> None:
        """Compares checksums once for each state of the files, so that a damaged index is refused cheaply."""
        directory = self._place.directory / generation
        state = _state_of([os.path.join(directory, name) for name in sorted(os.listdir(directory))])
        if self._failure is not None and self._failure[0] == state:
            raise self._failure[1]
        damaged = damaged_files(directory, commit, known)
        if damaged:
            failure = SearchUnavailable(
                f"Search does not answer: its index is damaged ({', '.join(damaged)}). Rebuild to mend it."
            )
            self._failure = (state, failure)
            raise failure
        self._failure = None


def _state_of(paths: Sequence[str]) -> tuple[tuple[str, int, int], ...]:
    found = ((path, os.stat(path)) for path in paths)
    return tuple((path, stat.st_size, stat.st_mtime_ns) for path, stat in found)


def _missing() -> SearchUnavailable:
    return SearchUnavailable("Search does not answer: there is no index yet. Rebuild to make it.")
