"""Spool of countable events: an append-only file of this machine, quicker than a queue and there after a restart."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Generic, TypeVar

import structlog

from app.domain.search_statistics.counting.events import EventBatch

CURRENT = "current"
BATCH = ".batch"
BAD = ".bad"
TRIED = ".tried"
LATER = ".later"
LOCK = "lock"
LARGEST = 64 * 1024**2  # Pending bytes, some 400,000 events. A spool that nothing drains must not fill the disk.
# Bytes of a batch, some 12,000 events: counting it holds SQLite's only write lock.
PART = 2 * 1024**2
LARGEST_OF_LATER = 4 * 1024**2  # Bytes of lines that wait for a release that understands them.
LONGEST_FOR_LATER = 30 * 24 * 3600  # Seconds for which they wait.
MOST_TRIES = 5  # Of a batch that cannot be counted.
LONGEST_BAD = 7 * 24 * 3600  # Seconds for which events that cannot be counted are kept for inspection.
SECONDS_BETWEEN_ERRORS = 60.0
TRIES = 5

log = structlog.get_logger()
E = TypeVar("E")


def _notes_nothing(_error: OSError) -> bool:
    return False


def _understands_all(_value: Any) -> bool:
    return False


class LineSpool(Generic[E]):
    """Every process appends whole lines to the file `current`. Draining renames it, under a lock that writers share, so
    that nothing is appended to it any more, and only once all files renamed before are done. A batch is a part of such
    a file, named after it and the offset where the part ends. The files are not synced to the disk: a power cut may
    cost the counts of the last seconds.

    While a release replaces another, what the newer one writes may be drained by the older one. Lines that it does not
    understand are kept in a file for each batch, from which a process that does makes a batch again."""

    def __init__(
        self,
        folder: Path,
        write: Callable[[E], Any],
        read: Callable[[Any], E | None],
        largest: int = LARGEST,
        part: int = PART,
        notes: Callable[[OSError], bool] = _notes_nothing,
        is_of_later: Callable[[Any], bool] = _understands_all,
    ) -> None:
        """Set up a spool of events. `write` makes JSON of an event, `read` an event of that, or None, and `is_of_later`
        returns whether only a later release understands such JSON. `notes` gets every error and returns whether it
        reported the error itself; any other is logged here."""
        self._is_of_later = is_of_later
        self._later: dict[str, bytes] = {}  # By batch, until it is done.
        self._left: set[Path] = set()
        self._write, self._read = write, read
        self._folder = folder
        self._notes = notes
        self._largest, self._part = largest, part
        self._blocked: set[Path] = set()
        self._current = folder / CURRENT
        self._logged_at = -SECONDS_BETWEEN_ERRORS
        self._lock = threading.Lock()

    def note(self, events: Sequence[E]) -> None:
        if not events:
            return
        try:
            self._append(_lines(self._write(event) for event in events))
        except OSError as error:
            if not self._notes(error):
                self._log_error(str(error))

    def has_pending(self) -> bool:
        try:
            with os.scandir(self._folder) as entries:
                return any(map(_is_full, entries))
        except OSError:
            return False

    @contextmanager
    def batches(self) -> Iterator[Iterator[EventBatch[E]]]:
        self._folder.mkdir(parents=True, exist_ok=True)
        with open(self._folder / LOCK, "wb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield iter(())
                return
            self._blocked.clear()
            self._later.clear()
            self._claim_later()
            self._drop_old_bad_ones()
            files = self._renamed_files()
            yield self._waiting(files, files or self._rename_current())

    def done(self, batch_id: str) -> None:
        path, end = self._place(batch_id)
        with suppress(FileNotFoundError):
            self._keep_later(batch_id)
            if end >= path.stat().st_size:
                path.unlink()
        self._named(batch_id, TRIED).unlink(missing_ok=True)

    def failed(self, batch_id: str) -> None:
        """Block what follows in the batch's file until MOST_TRIES, then move the batch to a file of bad batches, for
        inspection. The newest of those are kept."""
        tried, (path, end) = self._named(batch_id, TRIED), self._place(batch_id)
        with open(tried, "ab") as file:
            file.write(b".")
        if tried.stat().st_size < MOST_TRIES:
            self._blocked.add(path)
            return
        lines = next((lines for place, lines in _parts(path, self._part) if place == end), [])
        self._named(batch_id, BAD).write_bytes(b"".join(lines))
        log.error("events_cannot_be_counted", file=str(self._named(batch_id, BAD)))
        self.done(batch_id)
        self._drop_old_bad_ones()

    def _waiting(self, left: Sequence[Path], files: Sequence[Path]) -> Iterator[EventBatch[E]]:
        for path in files:
            with suppress(FileNotFoundError):
                yield from self._batches_of(path)
        if left and not self._renamed_files():
            yield from self._waiting((), self._rename_current())

    def _batches_of(self, path: Path) -> Iterator[EventBatch[E]]:
        """Yield the file's batches, the same each time."""
        for end, lines in _parts(path, self._part):
            batch = self._batch(f"{path.stem}-{end:09d}", lines)
            if self._named(batch.id, BAD).exists():
                self.done(batch.id)
                continue
            yield batch
            if path in self._blocked:
                return

    def _batch(self, batch_id: str, lines: Iterable[bytes]) -> EventBatch[E]:
        values = [(line, _value(line)) for line in lines if line != b"\n"]
        found = (self._read(value) for _, value in values)
        self._later[batch_id] = b"".join(line for line, value in values if self._is_of_later(value))
        return EventBatch(batch_id, tuple(event for event in found if event is not None))

    def _keep_later(self, batch_id: str) -> None:
        """Write the lines of a batch that only a later release understands to a file, the same however often the batch
        is done. Where there is no room they are dropped, and that is logged."""
        kept = self._later.pop(batch_id, b"")
        if not kept:
            return
        if sum(file.stat().st_size for file in self._folder.glob(f"*{LATER}")) + len(kept) > LARGEST_OF_LATER:
            log.error("events_of_a_later_release_dropped", folder=str(self._folder))
            return
        self._named(batch_id, LATER).write_bytes(kept)

    def _claim_later(self) -> None:
        """Make batches of the lines that were left to a later release where this one understands some of them."""
        for path in sorted(set(self._folder.glob(f"*{LATER}")) - self._left):
            if path.stat().st_mtime < time.time() - LONGEST_FOR_LATER:
                path.unlink()
                continue
            values = map(_value, path.read_bytes().splitlines(keepends=True))
            if all(map(self._is_of_later, values)):
                self._left.add(path)
            else:
                path.rename(self._named(self._new_name(), BATCH))

    def _new_name(self) -> str:
        """Return a name that comes after those of all files that wait. It says nothing of the time."""
        waiting = [int(path.name.partition("-")[0]) for path in self._renamed_files()]
        return f"{max(waiting, default=0) + 1:020d}-{uuid.uuid4().hex}"

    def _renamed_files(self) -> list[Path]:
        return sorted(self._folder.glob(f"*{BATCH}"))

    def _place(self, batch_id: str) -> tuple[Path, int]:
        """Return the file of a batch, and the offset where it ends."""
        name, _, end = batch_id.rpartition("-")
        return self._named(name, BATCH), int(end)

    def _named(self, name: str, kind: str) -> Path:
        return self._folder / f"{name}{kind}"

    def _drop_old_bad_ones(self) -> None:
        size = 0
        for path in sorted(self._folder.glob(f"*{BAD}"), reverse=True):
            size += path.stat().st_size
            if size > self._largest or path.stat().st_mtime < time.time() - LONGEST_BAD:
                path.unlink()

    def _renamed_size(self) -> int:
        with os.scandir(self._folder) as entries:
            return sum(_size(entry) for entry in entries if entry.name.endswith(BATCH))

    def _append(self, lines: bytes) -> None:
        """Append to the current file, opened again if it was renamed before it was locked. Raises OSError."""
        for _ in range(TRIES):
            file = self._open()
            try:
                fcntl.flock(file, fcntl.LOCK_SH)
                if not self._is_current(file):
                    continue
                if os.fstat(file).st_size + self._renamed_size() > self._largest:
                    raise OSError("the file is full: what waits is not being counted")
                if os.write(file, lines) < len(lines):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                return
            finally:
                os.close(file)
        raise OSError("the file keeps changing its name")

    def _open(self) -> int:
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
            path = self._named(self._new_name(), BATCH)
            os.rename(self._current, path)
            return [path]
        finally:
            os.close(file)

    def _log_error(self, reason: str) -> None:
        """Log an error, once a minute: a full disk must not be filled with logs."""
        with self._lock:
            if time.monotonic() - self._logged_at < SECONDS_BETWEEN_ERRORS:
                return
            self._logged_at = time.monotonic()
        log.error("events_not_counted", folder=str(self._folder), error=reason)


def _value(line: bytes) -> Any:
    """Return the JSON of a line, None for anything else."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _is_full(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith(BATCH) or (entry.name == CURRENT and entry.stat().st_size > 0)


def _lines(events: Iterable[Any]) -> bytes:
    """Return one line for each event, starting on a new line also behind one that a full disk cut off."""
    texts = (json.dumps(event, separators=(",", ":")) for event in events)
    return ("\n" + "\n".join(texts) + "\n").encode()


def _size(entry: os.DirEntry[str]) -> int:
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
