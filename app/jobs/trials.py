"""Replays of changes that are not saved."""

from __future__ import annotations

from app.domain.relevance import replays
from app.operations.work_context import work_context


def replay(replay_id: str) -> bool:
    return replays.replay(work_context(), replay_id)
