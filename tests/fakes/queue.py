"""A queue for tests."""

from __future__ import annotations

from app.adapters.queue import JOBS
from app.domain.work.progress import QueueKind, QueueOverview


class RecordingQueue:
    """Remembers what was asked for in `jobs`, and of which machine each in `machines`; `down` makes it refuse, and no
    worker takes the kinds in `idle`."""

    def __init__(self) -> None:
        self.jobs: list[tuple[str, tuple[object, ...]]] = []
        self.machines: list[str] = []
        self.down = False
        self.idle: list[str] | None = []
        self.held: QueueOverview | None = QueueOverview((QueueKind("default", 0, 0, 0),), ())

    def enqueue(self, job: str, *args: object, machine: str = "") -> bool:
        assert job in JOBS, "The real queue has no place for it."
        if not self.down:
            self.jobs.append((job, args))
            self.machines.append(machine)
        return not self.down

    def ping(self) -> None:
        if self.down:
            raise OSError("the queue is down")

    def overview(self) -> QueueOverview | None:
        self.ping()
        return self.held

    def idle_kinds(self) -> list[str] | None:
        self.ping()
        return self.idle
