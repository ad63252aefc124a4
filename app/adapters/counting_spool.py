"""What is to be counted, appended to a file of this machine: quicker than any queue, and there after a restart."""

from __future__ import annotations

import fcntl
import json
import os
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import structlog

from app.domain.search.counting.events import Event, as_json, from_json
from app.domain.search.counting.spool import Batch

CURRENT = "current"
BATCH = ".batch"
BAD = ".bad"
TRIED = ".tried"
LOCK = "lock"
LARGEST = 64 * 1024**2  # Bytes that may wait, some 400,000 events. A shop that nobody drains must not fill the disk.
# Bytes of a batch, some 12,000 events: whoever counts it holds SQLite's only lock for writing all the while.
PART = 2 * 1024**2
MOST_TRIES = 5  # Of a batch that cannot be counted.
SECONDS_BETWEEN_COMPLAINTS = 60.0
TRIES = 5

log = structlog.get_logger()


class FileSpool:
    """Every process appends whole lines to the file `current`. Who drains gives it another name, under a lock that
    writers share, so that nobody writes into it any more; this is done only once all that was set aside before is
    done. A batch is a part of such a file, named after it and the place where the part ends. The files are not forced
    to the disk: a power cut may cost the last seconds, which counting is not worth more than."""

    def __init__(self, folder: Path, largest: int = LARGEST, part: int = PART) -> None:
        self._folder = folder
        self._largest, self._part = largest, part
        self._put_off: set[Path] = set()
        self._current = folder / CURRENT
        self._complained = -SECONDS_BETWEEN_COMPLAINTS
        self._lock = threading.Lock()

    def note(self, events: Sequence[Event]) -> None:
        if not events:
            return
        try:
            self._append(_lines(events))
        except OSError as error:
            self._complain(str(error))

    def waits(self) -> bool:
        try:
            with os.scandir(self._folder) as entries:
                return any(map(_is_full, entries))
        except OSError:
            return False

    @contextmanager
    def batches(self) -> Iterator[Iterator[Batch]]:
        self._folder.mkdir(parents=True, exist_ok=True)
        with open(self._folder / LOCK, "wb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield iter(())
                return
            self._put_off.clear()
            files = self._set_aside_files()
            yield self._waiting(files, files or self._set_aside())

    def done(self, batch_id: str) -> None:
        path, end = self._place(batch_id)
        with suppress(FileNotFoundError):
            if end >= path.stat().st_size:
                path.unlink()
        self._named(batch_id, TRIED).unlink(missing_ok=True)

    def failed(self, batch_id: str) -> None:
        """It holds up what comes behind it in its file until MOST_TRIES, then it is put out of the way, for somebody to
        look at. Of such files the newest are kept."""
        tried, (path, end) = self._named(batch_id, TRIED), self._place(batch_id)
        with open(tried, "ab") as file:
            file.write(b".")
        if tried.stat().st_size < MOST_TRIES:
            self._put_off.add(path)
            return
        lines = next((lines for place, lines in _portions(path, self._part) if place == end), [])
        self._named(batch_id, BAD).write_bytes(b"".join(lines))
        log.error("searches_cannot_be_counted", file=str(self._named(batch_id, BAD)))
        self.done(batch_id)
        self._drop_old_bad_ones()

    def _waiting(self, left: Sequence[Path], files: Sequence[Path]) -> Iterator[Batch]:
        for path in files:
            with suppress(FileNotFoundError):
                yield from self._batches_of(path)
        if left and not self._set_aside_files():
            yield from self._waiting((), self._set_aside())

    def _batches_of(self, path: Path) -> Iterator[Batch]:
        """The same however often they are asked for."""
        for end, lines in _portions(path, self._part):
            batch = _read(f"{path.stem}-{end:09d}", lines)
            if self._named(batch.id, BAD).exists():
                self.done(batch.id)
                continue
            yield batch
            if path in self._put_off:
                return

    def _set_aside_files(self) -> list[Path]:
        return sorted(self._folder.glob(f"*{BATCH}"))

    def _place(self, batch_id: str) -> tuple[Path, int]:
        """The file of a batch, and where in it the batch ends."""
        name, _, end = batch_id.rpartition("-")
        return self._named(name, BATCH), int(end)

    def _named(self, name: str, kind: str) -> Path:
        return self._folder / f"{name}{kind}"

    def _drop_old_bad_ones(self) -> None:
        size = 0
        for path in sorted(self._folder.glob(f"*{BAD}"), reverse=True):
            size += path.stat().st_size
            if size > self._largest:
                path.unlink()

    def _size_set_aside(self) -> int:
        with os.scandir(self._folder) as entries:
            return sum(_size(entry) for entry in entries if entry.name.endswith(BATCH))

    def _append(self, lines: bytes) -> None:
        """Raises OSError. A file that was set aside between opening and locking it is let go for the new one."""
        for _ in range(TRIES):
            file = self._open()
            try:
                fcntl.flock(file, fcntl.LOCK_SH)
                if not self._is_current(file):
                    continue
                if os.fstat(file).st_size + self._size_set_aside() > self._largest:
                    raise OSError("the file is full: what waits is not being counted")
                if os.write(file, lines) < len(lines):
                    raise OSError("the disk is full")
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

    def _set_aside(self) -> list[Path]:
        """Names begin with the time, so that batches come in their order."""
        try:
            file = os.open(self._current, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return []
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            if not os.fstat(file).st_size:
                return []
            path = self._folder / f"{time.time_ns():020d}-{uuid.uuid4().hex}{BATCH}"
            os.rename(self._current, path)
            return [path]
        finally:
            os.close(file)

    def _complain(self, reason: str) -> None:
        """Once a minute; a full disk must not be filled with words about it."""
        with self._lock:
            if time.monotonic() - self._complained < SECONDS_BETWEEN_COMPLAINTS:
                return
            self._complained = time.monotonic()
        log.error("searches_not_counted", folder=str(self._folder), error=reason)


def _is_full(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith(BATCH) or (entry.name == CURRENT and entry.stat().st_size > 0)


def _lines(events: Iterable[Event]) -> bytes:
    """Each begins on a line of its own, also behind one that a full disk cut off."""
    texts = (json.dumps(as_json(event), separators=(",", ":")) for event in events)
    return ("\n" + "\n".join(texts) + "\n").encode()


def _size(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat().st_size
    except FileNotFoundError:  # It was just done.
        return 0


def _portions(path: Path, most: int) -> Iterator[tuple[int, list[bytes]]]:
    """Whole lines of about so many bytes, and the place in the file where they end."""
    end = 0
    with open(path, "rb") as file:
        while lines := file.readlines(most):
            end += sum(map(len, lines))
            yield end, lines


def _read(batch_id: str, lines: Iterable[bytes]) -> Batch:
    found = (_event(line) for line in lines if line != b"\n")
    return Batch(batch_id, tuple(event for event in found if event is not None))


def _event(line: bytes) -> Event | None:
    try:
        return from_json(json.loads(line))
    except (ValueError, RecursionError):
        return None
