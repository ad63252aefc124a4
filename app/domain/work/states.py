"""The states of leased work. Pure."""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


UNFINISHED = (State.WAITING, State.RUNNING)
