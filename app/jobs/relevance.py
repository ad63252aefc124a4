"""Relevance: golden searches are checked soon after whatever they depend on changes; learning from clicks; replays of
changes that are not saved; the search for synonyms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

import structlog

from app.domain.relevance import golden, learning, ranking_comparisons, replays, synonym_suggestions
from app.domain.relevance.golden import CheckState
from app.domain.relevance.judgements import runs as judgement_runs
from app.domain.relevance.learning import learn_site, learning_mode, store_study, study_counts
from app.domain.search.engine import SearchUnavailable
from app.domain.search.serving.plan import LearningMode
from app.domain.search_statistics.counting import weekly_counts
from app.domain.shared.author import Author
from app.domain.work.context import read_afresh
from app.jobs.events import follow_up
from app.jobs.purging import is_clock_trusted
from app.operations.work_context import work_context
from app.ports import clock, queue, suggestion_sources
from app.transaction import transaction

REQUESTED_BY = "the shop itself"
REQUEST_AGAIN_AFTER = timedelta(seconds=10)
BETWEEN_CHECKS = timedelta(seconds=5)  # An import changes the index all the time.
CHECKED_ANYWAY = timedelta(hours=1)
TRIES_TO_LEARN = 3

log = structlog.get_logger()
Background = Callable[[str, Callable[[], object]], bool]


def check_golden_searches(site_id: int) -> None:
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
            request = _renew_request(known.get(site_id), state, now)
            if _is_due(request, state, now) and self._request(site_id, in_background):
                request = replace(request, at=now)
            self._requests[site_id] = request

    def _request(self, site_id: int, in_background: Background) -> bool:
        if queue().enqueue("relevance:check_golden_searches", site_id):
            return True
        return in_background(f"golden searches of site {site_id}", partial(check_golden_searches, site_id))


def _renew_request(known: CheckRequest | None, state: CheckState, now: datetime) -> CheckRequest:
    """Return the request for a site's check: the known one, or a new one when what its golden searches depend on
    changed."""
    if known is not None and known.depends_on == state.depends_on:
        return known
    return CheckRequest(state.depends_on, now, known.at if known else None)


def _is_due(request: CheckRequest, state: CheckState, now: datetime) -> bool:
    if state.checked_at is not None and request.since <= state.checked_at <= now:
        return now - state.checked_at >= CHECKED_ANYWAY and _has_rested(request, now, REQUEST_AGAIN_AFTER)
    is_first = request.at is None or request.at < request.since
    return _has_rested(request, now, BETWEEN_CHECKS if is_first else REQUEST_AGAIN_AFTER)


def _has_rested(request: CheckRequest, now: datetime, pause: timedelta) -> bool:
    return request.at is None or abs(now - request.at) >= pause


def end_comparisons() -> None:
    """End the comparisons of rankings whose time has come; none while the clock is in doubt, since their periods are
    counted in days."""
    read_afresh()
    for site_id in ranking_comparisons.compared_sites() if is_clock_trusted() else ():
        with transaction():
            ending = ranking_comparisons.end_comparison_if_due(clock(), site_id)
        if ending is not None:
            log.info("comparison_ended", site=site_id, ending=ending.value)


def learn(site_id: int) -> None:
    """Learn anew what shoppers open and buy for each search of a site. The counts are read before the transaction, so
    that orders need not wait. Where a merchandiser switched, forgot or restored something meanwhile, this is repeated;
    after TRIES_TO_LEARN, counts are read and stored within one transaction. While the clock is in doubt, what was
    learned stays, unless learning is switched off."""
    read_afresh()
    if learning_mode(site_id) is not LearningMode.OFF:
        if not is_clock_trusted():
            log.warning("not_learned_while_clock_in_doubt", site=site_id)
            return
        with transaction():
            learning.end_this_week(clock(), site_id)
    for _ in range(TRIES_TO_LEARN):
        read_afresh()
        studied = study_counts(clock(), site_id)
        with transaction():
            if store_study(clock(), site_id, studied):
                return
    with transaction():
        learn_site(clock(), site_id)


def forget_product(site_id: int, product_id: int) -> None:
    """Remove the counts of a product that was deleted. Never raises: the deletion is committed already."""
    with follow_up("product_counts_kept", site=site_id, product=product_id), transaction():
        weekly_counts.forget_product(site_id, product_id)


def learn_at_once(site_id: int) -> None:
    """Learn after the setting was saved. Never raises: the setting is saved, and the nightly job makes up for it."""
    with follow_up("not_learned_at_once", site=site_id):
        learn(site_id)


def replay(replay_id: str) -> bool:
    return replays.replay(work_context(), replay_id)


def judge(run_id: str) -> bool:
    """Compute the figures of a judgement list."""
    return judgement_runs.run_judgement(work_context(), run_id)


def suggest_synonyms(site_id: int) -> None:
    """Look for synonyms in the background: sources may take half a minute."""
    synonym_suggestions.run_suggestions(work_context(), suggestion_sources(), site_id)


def suggest_synonyms_nightly(site_id: int) -> None:
    with transaction():
        synonym_suggestions.request_run(Author(site_id, REQUESTED_BY, clock()))
    suggest_synonyms(site_id)
