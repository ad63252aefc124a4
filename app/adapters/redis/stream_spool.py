"""The spool that machines share: what is noted goes to the file of the machine, as on one box, and from there at once
into a stream of Redis, whose batches any machine counts.

A request waits for no more than the file, whatever becomes of Redis; while that is away, events wait in the file, and a
worker of the same machine counts them from there. A batch has the same id in the file and in the stream, by which the
database knows it: wherever a process ends, it is counted once (docs/adr/0066).
"""

from __future__ import annotations

import atexit
import json
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any, Generic, TypeVar

from app.adapters.redis.connection import RestingRedis
from app.adapters.redis.event_stream import Entry, EventStream
from app.domain.search_statistics.counting.events import EventBatch
from app.domain.search_statistics.counting.file_spool import FileSpool, json_of
from app.domain.search_statistics.counting.spool import EventFormat, ReportError, report_nothing

TIMEOUT = 1.0  # Seconds, for which no request waits.
BETWEEN_TURNS = 0.1  # Seconds: a busy shop sends ten batches a second, not one for each event.
AT_THE_END = 2.0  # Seconds: a process that ends waits this long for what it noted to reach Redis.

E = TypeVar("E")


def _as_it_is(value: Any) -> Any:
    return value


class StreamSpool(Generic[E]):
    def __init__(
        self,
        redis: RestingRedis,
        prefix: str,
        format: EventFormat[E],
        folder: Path,
        report_error: ReportError = report_nothing,
    ) -> None:
        """Set up a spool with the file in a folder of this machine and the stream of a shop's prefix. `report_error`
        gets every error of the file and returns whether it reported it; any other is logged."""
        self._format = format
        self._file = FileSpool(format, folder, report_error=report_error)
        self._stream = EventStream(redis, f"{prefix}-counting:{format.name}", format.largest)
        lines: EventFormat[Any] = EventFormat(format.name, _as_it_is, _as_it_is, format.largest)
        self._sender = _Sender(FileSpool(lines, folder, report_error=report_error), self._stream, redis.pause)
        self._delivered: dict[str, tuple[Entry, bytes]] = {}  # With the lines that a later release understands.

    def note(self, events: Sequence[E]) -> None:
        if events:
            self._file.note(events)
            self._sender.wake()

    def has_pending(self) -> bool:
        try:
            return self._file.has_pending() or self._stream.has_entries()
        except OSError:
            return False

    @contextmanager
    def batches(self) -> Iterator[Iterator[EventBatch[E]]]:
        """Return a context that yields first what all machines have sent, then what this one has not sent yet: a click
        here may follow from a search there, and does not count before it."""
        self._delivered.clear()
        with self._file.batches() as own, self._stream.entries(self._understands) as entries:
            yield chain(map(self._read_entry, entries), own)

    def _understands(self, line: bytes) -> bool:
        return not self._format.is_of_unknown_version(json_of(line))

    def _read_entry(self, entry: Entry) -> EventBatch[E]:
        lines = entry.lines.splitlines(keepends=True)
        unread = b"".join(line for line in lines if not self._understands(line))
        self._delivered[entry.batch_id] = entry, unread
        events = (self._format.read(json_of(line)) for line in lines)
        return EventBatch(entry.batch_id, tuple(event for event in events if event is not None))

    def done(self, batch_id: str) -> None:
        if batch_id not in self._delivered:
            self._file.done(batch_id)
            return
        entry, unread = self._delivered.pop(batch_id)
        with suppress(OSError):  # It comes again, and the database knows that it is counted.
            self._stream.remove(entry, unread)

    def failed(self, batch_id: str) -> None:
        if batch_id not in self._delivered:
            self._file.failed(batch_id)
            return
        entry, _ = self._delivered.pop(batch_id)
        with suppress(OSError):
            self._stream.fail(entry)

    def close(self) -> None:
        """Send what is noted, for AT_THE_END at most, and end the thread that does."""
        self._sender.close()


class _Sender:
    """The thread of a process that moves what its machine noted into the stream. It begins with the first note, since
    many processes never note anything, and once more in a process that was forked."""

    def __init__(self, file: FileSpool[Any], stream: EventStream, pause: float) -> None:
        self._file, self._stream, self._pause = file, stream, pause
        self._process: int | None = None
        self._lock = threading.Lock()
        self._is_woken, self._is_closing = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def wake(self) -> None:
        """Have sent what is noted. Never raises: where there is no room for a thread, the next note tries again."""
        if not self._is_running():
            with self._lock, suppress(RuntimeError):
                self._start()
        self._is_woken.set()

    def _is_running(self) -> bool:
        return self._process == os.getpid() and self._thread is not None and self._thread.is_alive()

    def _start(self) -> None:
        if self._is_running():
            return
        self._is_woken, self._is_closing = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._send_on, name="events to Redis", daemon=True)
        self._thread.start()
        self._process = os.getpid()
        atexit.register(self.close)

    def _send_on(self) -> None:
        is_closing = False
        while not is_closing:
            self._is_woken.wait()
            self._is_woken.clear()
            is_closing = self._is_closing.is_set()
            pause = BETWEEN_TURNS if self._send() else self._pause
            if self._file.has_pending():  # Another process had its turn, or Redis takes nothing now.
                self._is_woken.set()
            self._is_closing.wait(pause)

    def _send(self) -> bool:
        """Send what is noted; return False where Redis takes nothing now. A batch is removed here once it is there; one
        that comes twice counts once."""
        try:
            with self._file.batches() as batches:
                for batch in batches:
                    lines = "".join(f"{json.dumps(value, separators=(',', ':'))}\n" for value in batch.events)
                    if lines and not self._stream.append(batch.id, lines.encode()):
                        return False
                    self._file.done(batch.id)
        except OSError:  # Those of Redis are logged there; those of the file are reported as events are noted.
            return False
        return True

    def close(self) -> None:
        if self._thread is not None and self._is_running():
            atexit.unregister(self.close)
            self._is_closing.set()
            self._is_woken.set()
            self._thread.join(AT_THE_END)
