"""The spool of one machine: an append-only file, quicker than a queue and there after a restart."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import structlog

from app.domain.search_statistics.counting.events import Event, EventBatch
from app.domain.search_statistics.counting.spool import (
    LARGEST,
    LARGEST_OF_LATER,
    LONGEST_BAD,
    LONGEST_FOR_LATER,
    MOST_TRIES,
    SEARCHES,
    EventFormat,
    ReportError,
    report_nothing,
)

CURRENT = "current"
BATCH = ".batch"
BAD = ".bad"
TRIED = ".tried"
LATER = ".later"
LOCK = "lock"
# Bytes of a batch, some 12,000 events: counting it holds SQLite's only write lock.
PART = 2 * 1024**2
SECONDS_BETWEEN_ERRORS = 60.0
TRIES = 5

log = structlog.get_logger()
E = TypeVar("E")


class FileSpool(Generic[E]):
    """Events of one kind, kept across restarts, in batches that do not change until they are done.

    Every process appends whole lines to the file `current`. Draining renames it, under a lock that writers share, so
    that nothing is appended to it any more, and only once all files renamed before are done. A batch is a part of such
    a file, named after it and the offset where the part ends. The files are not synced to the disk: a power cut may
    cost the counts of the last seconds.

    While a release replaces another, what the newer one writes may be drained by the older one. Lines of a version that
    it does not know are kept in a file for each batch, from which a process that does makes a batch again."""

    def __init__(
        self,
        format: EventFormat[E],
        folder: Path,
        part: int = PART,
        report_error: ReportError = report_nothing,
    ) -> None:
        """Set up a spool of events. `report_error` gets every error and returns whether it reported it; any other is
        logged here."""
        self._format, self._folder, self._current = format, folder, folder / CURRENT
        self._part, self._report_error = part, report_error
        self._unread_lines: dict[str, bytes] = {}  # Of an unknown version, by batch, until it is done.
        self._waiting_for_later: set[Path] = set()
        self._blocked: set[Path] = set()
        self._logged_at = -SECONDS_BETWEEN_ERRORS
        self._lock = threading.Lock()

    def note(self, events: Sequence[E]) -> None:
        """Record events. Never raises and never blocks: what cannot be recorded is lost and logged."""
        if not events:
            return
        texts = (json.dumps(self._format.write(event), separators=(",", ":")) for event in events)
        try:
            # On a new line also behind one that a full disk cut off.
            self._append(("\n" + "\n".join(texts) + "\n").encode())
        except OSError as error:
            if not self._report_error(error):
                self._log_error(str(error))

    def _append(self, lines: bytes) -> None:
        """Append to the current file, opened again if it was renamed before it was locked. Raises OSError."""
        for _ in range(TRIES):
            file = self._open_current()
            try:
                fcntl.flock(file, fcntl.LOCK_SH)
                if not self._is_current(file):
                    continue
                if os.fstat(file).st_size + self._renamed_size() > self._format.largest:
                    raise OSError("the file is full: what waits is not being counted")
                if os.write(file, lines) < len(lines):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                return
            finally:
                os.close(file)
        raise OSError("the file keeps changing its name")

    def _open_current(self) -> int:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        try:
            return os.open(self._current, flags, 0o600)
        except FileNotFoundError:
            self._folder.mkdir(parents=True, exist_ok=True)
            return os.open(self._current, flags, 0o600)

    def _is_current(self, file: int) -> bool:
        try:
            return os.stat(self._current).st_ino == os.fstat(file).st_ino
        except FileNotFoundError:
            return False

    def _renamed_size(self) -> int:
        with os.scandir(self._folder) as entries:
            return sum(_size_of(entry) for entry in entries if entry.name.endswith(BATCH))

    def _log_error(self, reason: str) -> None:
        """Log an error, once a minute: a full disk must not be filled with logs."""
        with self._lock:
            if time.monotonic() - self._logged_at < SECONDS_BETWEEN_ERRORS:
                return
            self._logged_at = time.monotonic()
        log.error("events_not_counted", folder=str(self._folder), error=reason)

    def has_pending(self) -> bool:
        """Whether any event is pending."""
        try:
            with os.scandir(self._folder) as entries:
                return any(
                    entry.name.endswith(BATCH) or (entry.name == CURRENT and entry.stat().st_size > 0)
                    for entry in entries
                )
        except OSError:
            return False

    @contextmanager
    def batches(self) -> Iterator[Iterator[EventBatch[E]]]:
        """Return a context that yields the pending batches, oldest first; none while another process has them."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with open(self._folder / LOCK, "wb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield iter(())
                return
            self._blocked.clear()
            self._unread_lines.clear()
            self._claim_lines_of_later()
            self._drop_old_bad_ones()
            files = self._renamed_files()
            yield self._batches_of_files(files, files or self._rename_current())

    def _batches_of_files(self, left: Sequence[Path], files: Sequence[Path]) -> Iterator[EventBatch[E]]:
        """Yield the batches of the files and, once those that were `left` by an earlier drain are done, of the current
        one."""
        for path in files:
            with suppress(FileNotFoundError):
                yield from self._batches_of_file(path)
        if left and not self._renamed_files():
            yield from self._batches_of_files((), self._rename_current())

    def _batches_of_file(self, path: Path) -> Iterator[EventBatch[E]]:
        """Yield the file's batches, the same each time."""
        for end, lines in _parts(path, self._part):
            batch = self._read_batch(f"{path.stem}-{end:09d}", lines)
            if self._path(batch.id, BAD).exists():
                self.done(batch.id)
                continue
            yield batch
            if path in self._blocked:
                return

    def _read_batch(self, batch_id: str, lines: Iterable[bytes]) -> EventBatch[E]:
        values = [(line, json_of(line)) for line in lines if line != b"\n"]
        events = (self._format.read(value) for _, value in values)
        unread = (line for line, value in values if self._format.is_of_unknown_version(value))
        self._unread_lines[batch_id] = b"".join(unread)
        return EventBatch(batch_id, tuple(event for event in events if event is not None))

    def done(self, batch_id: str) -> None:
        """Acknowledge a batch that is committed. Those before it of the same file are committed too."""
        path, end = self._place(batch_id)
        with suppress(FileNotFoundError):
            self._keep_unread_lines(batch_id)
            if end >= path.stat().st_size:
                path.unlink()
        self._path(batch_id, TRIED).unlink(missing_ok=True)

    def failed(self, batch_id: str) -> None:
        """Return a batch that could not be counted. It blocks what follows in its file and is delivered again, until
        after MOST_TRIES it is moved to a file of bad batches, for inspection. The newest of those are kept."""
        tried, (path, end) = self._path(batch_id, TRIED), self._place(batch_id)
        with open(tried, "ab") as file:
            file.write(b".")
        if tried.stat().st_size < MOST_TRIES:
            self._blocked.add(path)
            return
        lines = next((lines for place, lines in _parts(path, self._part) if place == end), [])
        self._path(batch_id, BAD).write_bytes(b"".join(lines))
        log.error("events_cannot_be_counted", file=str(self._path(batch_id, BAD)))
        self.done(batch_id)
        self._drop_old_bad_ones()

    def _drop_old_bad_ones(self) -> None:
        size = 0
        for path in sorted(self._folder.glob(f"*{BAD}"), reverse=True):
            size += path.stat().st_size
            if size > self._format.largest or path.stat().st_mtime < time.time() - LONGEST_BAD:
                path.unlink()

    def _keep_unread_lines(self, batch_id: str) -> None:
        """Write the lines of a batch that only a later release understands to a file, the same however often the batch
        is done. Where there is no room they are dropped, and that is logged."""
        lines = self._unread_lines.pop(batch_id, b"")
        if not lines:
            return
        if sum(file.stat().st_size for file in self._folder.glob(f"*{LATER}")) + len(lines) > LARGEST_OF_LATER:
            log.error("events_of_a_later_release_dropped", folder=str(self._folder))
            return
        self._path(batch_id, LATER).write_bytes(lines)

    def _claim_lines_of_later(self) -> None:
        """Make batches of the lines that were left to a later release where this one understands some of them."""
        for path in sorted(set(self._folder.glob(f"*{LATER}")) - self._waiting_for_later):
            if path.stat().st_mtime < time.time() - LONGEST_FOR_LATER:
                path.unlink()
                continue
            values = map(json_of, path.read_bytes().splitlines(keepends=True))
            if all(map(self._format.is_of_unknown_version, values)):
                self._waiting_for_later.add(path)
            else:
                path.rename(self._path(self._new_name(), BATCH))

    def _rename_current(self) -> list[Path]:
        """Rename the current file; names begin with a number, so that batches come in order."""
        try:
            file = os.open(self._current, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return []
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            if not os.fstat(file).st_size:
                return []
            path = self._path(self._new_name(), BATCH)
            os.rename(self._current, path)
            return [path]
        finally:
            os.close(file)

    def _new_name(self) -> str:
        """Return a name that comes after those of all files that wait. It says nothing of the time."""
        waiting = [int(path.name.partition("-")[0]) for path in self._renamed_files()]
        return f"{max(waiting, default=0) + 1:020d}-{uuid.uuid4().hex}"

    def _renamed_files(self) -> list[Path]:
        return sorted(self._folder.glob(f"*{BATCH}"))

    def _place(self, batch_id: str) -> tuple[Path, int]:
        """Return the file of a batch, and the offset where it ends."""
        name, _, end = batch_id.rpartition("-")
        return self._path(name, BATCH), int(end)

    def _path(self, name: str, suffix: str) -> Path:
        return self._folder / f"{name}{suffix}"


def json_of(line: bytes) -> Any:
    """Return the JSON of a line, None for anything else."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _size_of(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat().st_size
    except FileNotFoundError:  # It was just done.
        return 0


def _parts(path: Path, most: int) -> Iterator[tuple[int, list[bytes]]]:
    """Yield whole lines of about so many bytes, and the offset in the file where they end."""
    end = 0
    with open(path, "rb") as file:
        while lines := file.readlines(most):
            end += sum(map(len, lines))
            yield end, lines


def search_spool(
    folder: Path, largest: int = LARGEST, part: int = PART, report_error: ReportError = report_nothing
) -> FileSpool[Event]:
    """Return the spool of searches and what follows from them."""
    return FileSpool(replace(SEARCHES, largest=largest), folder, part, report_error)
