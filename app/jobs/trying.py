"""Replays of changes that are not saved, and golden searches checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

import structlog

from app.domain.search.trying import replays
from app.jobs.indexing import means
from app.ports import clock, queue
from app.transaction import transaction

ASK_AGAIN_AFTER = timedelta(seconds=10)

log = structlog.get_logger()
Background = Callable[[str, Callable[[], object]], bool]


def replay(replay_id: str) -> bool:
    return replays.replay(means(), replay_id)


@dataclass
class ForgottenReplays:
    """Replays that no worker took up, or whose worker died: the queue is asked again, without a queue they are done
    beside the scheduler, and what takes too long is ended."""

    _asked: dict[str, datetime] = field(default_factory=dict)

    def look(self, in_background: Background) -> None:
        forgotten = replays.forgotten(clock())
        now = clock().now()
        self._asked = {replay_id: self._asked.get(replay_id, now) for replay_id in forgotten}
        if not forgotten:
            return
        with transaction():
            ended = replays.end_dead(clock())
        if ended:
            log.warning("replays_ended", number=ended)
        for replay_id in forgotten:
            if now - self._asked[replay_id] >= ASK_AGAIN_AFTER:
                self._asked[replay_id] = now
                if not queue().enqueue("trying:replay", replay_id):
                    in_background(f"replay {replay_id}", partial(replay, replay_id))
