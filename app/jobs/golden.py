"""Golden searches, checked soon after whatever they depend on changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

import structlog

from app.domain.relevance import golden
from app.domain.relevance.golden import CheckState
from app.domain.search.engine import SearchUnavailable
from app.operations.work_context import work_context
from app.ports import clock, queue

REQUEST_AGAIN_AFTER = timedelta(seconds=10)
BETWEEN_CHECKS = timedelta(seconds=5)  # An import changes the index all the time.
CHECKED_ANYWAY = timedelta(hours=1)

log = structlog.get_logger()
Background = Callable[[str, Callable[[], object]], bool]


def check(site_id: int) -> None:
    """Check the golden searches of a site. While the search engine is away the earlier results stay, and the scheduler
    tries again soon."""
    try:
        golden.check_goldens(work_context(), site_id)
    except SearchUnavailable as unavailable:
        log.warning("golden_searches_not_checked", site=site_id, error=unavailable.message)


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """The check of a site's golden searches. `since` is when golden searches were first seen to depend on `depends_on`,
    `at` when a check was last requested; `at` is None where none was."""

    depends_on: str
    since: datetime
    at: datetime | None = None


@dataclass
class GoldenWatch:
    """The watch that has golden searches checked soon after whatever they depend on changes: the index, by a rebuild or
    a save, the serving configuration, and themselves. Once an hour all are checked, since rules begin and end by the
    clock. The last check is read from their stored state, so that one that was requested and never done is requested
    again."""

    _requests: dict[int, CheckRequest] = field(default_factory=dict)

    def look(self, in_background: Background) -> None:
        now = clock().now()
        states = golden.states_of_sites(work_context())
        known, self._requests = self._requests, {}
        for site_id, state in states.items():
            request = _renewed(known.get(site_id), state, now)
            if _is_due(request, state, now) and self._request(site_id, in_background):
                request = replace(request, at=now)
            self._requests[site_id] = request

    def _request(self, site_id: int, in_background: Background) -> bool:
        if queue().enqueue("golden:check", site_id):
            return True
        return in_background(f"golden searches of site {site_id}", partial(check, site_id))


def _renewed(known: CheckRequest | None, state: CheckState, now: datetime) -> CheckRequest:
    """Return the request for a site's check: the known one, or a new one when what its golden searches depend on
    changed."""
    if known is not None and known.depends_on == state.depends_on:
        return known
    return CheckRequest(state.depends_on, now, known.at if known else None)


def _is_due(request: CheckRequest, state: CheckState, now: datetime) -> bool:
    if state.checked_at is not None and request.since <= state.checked_at <= now:
        return now - state.checked_at >= CHECKED_ANYWAY and _rested(request, now, REQUEST_AGAIN_AFTER)
    is_first = request.at is None or request.at < request.since
    return _rested(request, now, BETWEEN_CHECKS if is_first else REQUEST_AGAIN_AFTER)


def _rested(request: CheckRequest, now: datetime, pause: timedelta) -> bool:
    return request.at is None or abs(now - request.at) >= pause
