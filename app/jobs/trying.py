"""Replays of changes that are not saved, and golden searches checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

import structlog

from app.domain.search.engine import SearchUnavailable
from app.domain.search.trying import golden_check, replays
from app.jobs.indexing import means
from app.ports import clock, queue
from app.transaction import transaction

ASK_AGAIN_AFTER = timedelta(seconds=10)
BETWEEN_CHECKS = timedelta(seconds=5)  # An import changes the index all the time.
CHECKED_ANYWAY = timedelta(hours=1)

log = structlog.get_logger()
Background = Callable[[str, Callable[[], object]], bool]


def replay(replay_id: str) -> bool:
    return replays.replay(means(), replay_id)


def check_golden(site_id: int) -> None:
    """A search engine that is away leaves what was known; the next change or hour asks again."""
    try:
        golden_check.check(means(), site_id)
    except SearchUnavailable as unavailable:
        log.warning("golden_searches_not_checked", site=site_id, error=unavailable.message)


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


@dataclass
class GoldenWatch:
    """Has golden searches checked soon after whatever they depend on changes: the index, by a rebuild or a save, what
    is live of synonyms and rules, and themselves. Once an hour all are checked, since rules begin and end by the
    clock."""

    _checked: dict[int, tuple[str, datetime]] = field(default_factory=dict)

    def look(self, in_background: Background) -> None:
        now = clock().now()
        states = golden_check.states_of_sites(means())
        self._checked = {site_id: known for site_id, known in self._checked.items() if site_id in states}
        for site_id, state in states.items():
            if self._is_due(site_id, state, now) and self._ask(site_id, in_background):
                self._checked[site_id] = state, now

    def _is_due(self, site_id: int, state: str, now: datetime) -> bool:
        known, asked_at = self._checked.get(site_id, ("", datetime.min.replace(tzinfo=now.tzinfo)))
        return now - asked_at >= (BETWEEN_CHECKS if known != state else CHECKED_ANYWAY)

    def _ask(self, site_id: int, in_background: Background) -> bool:
        if queue().enqueue("trying:check_golden", site_id):
            return True
        return in_background(f"golden searches of site {site_id}", partial(check_golden, site_id))
