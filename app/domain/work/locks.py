"""Locks by which processes of one machine see whether a worker lives. A lease shows it to any machine, but only when it
has run out; a lock of the operating system ends with its process, at once."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol


class WorkerLocks(Protocol):
    def hold(self, name: str) -> AbstractContextManager[None]:
        """Hold a lock that is the caller's alone, as long as the block runs and the process lives. Where the machine
        does not let it, the block runs without."""
        ...

    def is_dead(self, name: str) -> bool:
        """Whether a process of this machine held the lock and died. False while it lives, and for a lock that this
        machine knows nothing of."""
        ...


class NoLocks:
    """No locks: only the leases show whether a worker lives."""

    def hold(self, name: str) -> AbstractContextManager[None]:
        return nullcontext()

    def is_dead(self, name: str) -> bool:
        return False
