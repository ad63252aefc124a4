"""Replays of changes that are not saved, and golden searches checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

import structlog

from app.domain.search.engine import SearchUnavailable
from app.domain.search.trying import golden_check, replays
from app.domain.search.trying.golden_check import CheckState
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
    """A search engine that is away leaves what was known, and the scheduler asks again soon."""
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


@dataclass(frozen=True, slots=True)
class Asked:
    """`since` is when golden searches were first seen to depend on `depends_on`, `at` when a check was asked for last;
    `at` is None where none was."""

    depends_on: str
    since: datetime
    at: datetime | None = None


@dataclass
class GoldenWatch:
    """Has golden searches checked soon after whatever they depend on changes: the index, by a rebuild or a save, what
    is live of synonyms and rules, and themselves. Once an hour all are checked, since rules begin and end by the
    clock. Whether they were is read from themselves: a check that was asked for and never done is asked for again."""

    _asked: dict[int, Asked] = field(default_factory=dict)

    def look(self, in_background: Background) -> None:
        now = clock().now()
        states = golden_check.states_of_sites(means())
        known, self._asked = self._asked, {}
        for site_id, state in states.items():
            asked = _renewed(known.get(site_id), state, now)
            if _is_due(asked, state, now) and self._ask(site_id, in_background):
                asked = replace(asked, at=now)
            self._asked[site_id] = asked

    def _ask(self, site_id: int, in_background: Background) -> bool:
        if queue().enqueue("trying:check_golden", site_id):
            return True
        return in_background(f"golden searches of site {site_id}", partial(check_golden, site_id))


def _renewed(known: Asked | None, state: CheckState, now: datetime) -> Asked:
    """What is known of a site, begun anew when what its golden searches depend on changed."""
    if known is not None and known.depends_on == state.depends_on:
        return known
    return Asked(state.depends_on, now, known.at if known else None)


def _is_due(asked: Asked, state: CheckState, now: datetime) -> bool:
    if state.checked_at is not None and state.checked_at >= asked.since:
        return now - state.checked_at >= CHECKED_ANYWAY and _rested(asked, now, ASK_AGAIN_AFTER)
    is_first = asked.at is None or asked.at < asked.since
    return _rested(asked, now, BETWEEN_CHECKS if is_first else ASK_AGAIN_AFTER)


def _rested(asked: Asked, now: datetime, pause: timedelta) -> bool:
    return asked.at is None or now - asked.at >= pause
