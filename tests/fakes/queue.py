"""A queue for tests."""

from __future__ import annotations


class RecordingQueue:
    """Remembers what was asked for in `jobs`; `down` makes it refuse."""

    def __init__(self) -> None:
        self.jobs: list[tuple[str, tuple[object, ...]]] = []
        self.down = False

    def enqueue(self, job: str, *args: object) -> bool:
        if not self.down:
            self.jobs.append((job, args))
        return not self.down

    def ping(self) -> None:
        if self.down:
            raise OSError("the queue is down")
