"""What is to be counted, appended to a file of this machine: quicker than any queue, and there after a restart."""

from __future__ import annotations

import fcntl
import json
import os
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import structlog

from app.domain.search.counting.events import Event, as_json, from_json
from app.domain.search.counting.spool import Batch

CURRENT = "current"
BATCH = ".batch"
LOCK = "lock"
LARGEST = 64 * 1024**2  # Bytes that may wait, some 400,000 events. A shop that nobody drains must not fill the disk.
SECONDS_BETWEEN_COMPLAINTS = 60.0
TRIES = 5

log = structlog.get_logger()


class FileSpool:
    """Every process appends whole lines to the file `current`. Who drains gives it another name, under a lock that
    writers share, so that nobody writes into a batch any more. The files are not forced to the disk: a power cut may
    cost the last seconds, which counting is not worth more than."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
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
            self._set_aside()
            yield map(_read, sorted(self._folder.glob(f"*{BATCH}")))

    def done(self, batch_id: str) -> None:
        (self._folder / f"{batch_id}{BATCH}").unlink(missing_ok=True)

    def _append(self, lines: bytes) -> None:
        """Raises OSError. A file that was set aside between opening and locking it is let go for the new one."""
        for _ in range(TRIES):
            file = self._open()
            try:
                fcntl.flock(file, fcntl.LOCK_SH)
                if not self._is_current(file):
                    continue
                if os.fstat(file).st_size > LARGEST:
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

    def _set_aside(self) -> None:
        """Names begin with the time, so that batches come in their order."""
        try:
            file = os.open(self._current, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            if os.fstat(file).st_size:
                name = f"{time.time_ns():020d}-{uuid.uuid4().hex}"
                os.rename(self._current, self._folder / f"{name}{BATCH}")
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


def _read(path: Path) -> Batch:
    found = (_event(line) for line in path.read_bytes().splitlines() if line)
    return Batch(path.name.removesuffix(BATCH), tuple(event for event in found if event is not None))


def _event(line: bytes) -> Event | None:
    try:
        return from_json(json.loads(line))
    except (ValueError, RecursionError):
        return None
