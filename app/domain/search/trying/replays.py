"""Replays: the top searches of the last 30 days, asked as things are and as they would be after a change.

A replay takes seconds and changes nothing but its own row, so a worker that dies loses only time: whoever takes the
row up next begins anew. The lease keeps a second worker from trying while the first lives.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.exc import OperationalError

from app.domain.search.counting.queries import site_today, top_words
from app.domain.search.index.indexing import Indexing, read_afresh
from app.domain.search.trying import proposal as proposals
from app.domain.search.trying.comparison import compared
from app.domain.search.trying.models import SearchReplay
from app.domain.search.trying.proposal import Proposal, TermsProposal
from app.domain.search.trying.replay_report import Report, Touched, read_report
from app.domain.search.trying.trial import Trial, on_trial
from app.domain.shared.answering import does_not_answer
from app.domain.shared.clock import Clock
from app.domain.shared.problems import DomainError, NotFound
from app.events import publish
from app.extensions import db

DAYS = 30
MOST = 200
LEASE = timedelta(seconds=30)
GIVEN_UP_AFTER = timedelta(minutes=15)
KEPT = timedelta(days=30)
BETWEEN_NOTES = 25  # Searches.
WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"
UNFINISHED = (WAITING, RUNNING)


@dataclass(frozen=True, slots=True)
class ReplayRequested:
    replay_id: str


@dataclass(frozen=True, slots=True)
class ReplayStory:
    """A replay as its card tells it. `unanswered`: it waits though nobody is at any."""

    id: str
    state: str
    done: int
    total: int | None
    proposal: Proposal
    report: Report
    error: str | None
    unanswered: bool

    @property
    def is_unfinished(self) -> bool:
        return self.state in UNFINISHED

    @property
    def told(self) -> str:
        return proposals.told(self.proposal)


class _Lost(Exception):
    """The row is gone or somebody else's."""


def request(clock: Clock, site_id: int, proposal: Proposal, actor: str) -> SearchReplay:
    """The replay that will do it: the one under way where the same change is being replayed already. Call it in a
    transaction."""
    stored = proposals.as_json(proposal)
    waiting = select(SearchReplay).where(SearchReplay.site_id == site_id, SearchReplay.state.in_(UNFINISHED))
    for known in db.session.scalars(waiting):
        if known.proposal == stored:
            return known
    replay = SearchReplay(
        id=str(uuid.uuid4()),
        site_id=site_id,
        proposal=stored,
        state=WAITING,
        done=0,
        report={},
        requested_by=actor[:100],
        created_at=clock.now(),
    )
    db.session.add(replay)
    db.session.flush()
    publish(ReplayRequested(replay.id))
    return replay


def replay_of(clock: Clock, site_id: int, replay_id: str) -> ReplayStory:
    """Raises NotFound."""
    row = db.session.scalar(select(SearchReplay).where(SearchReplay.site_id == site_id, SearchReplay.id == replay_id))
    if row is None:
        raise NotFound("There is no such replay on this site, or not any more.")
    silent = row.state == WAITING and does_not_answer(clock.now(), row.created_at)
    told = proposals.read(row.proposal)
    return ReplayStory(row.id, row.state, row.done, row.total, told, read_report(row.report), row.error, silent)


def replay(means: Indexing, replay_id: str) -> bool:
    """Do it. False when it is not this caller's to do. How it ended stands in the row; what nobody expected is raised
    as well."""
    taken = means.commit(lambda: _take_up(means.clock, replay_id))
    if taken is None:
        return False
    site_id, stored = taken
    try:
        report = _report(means, replay_id, site_id, proposals.read(stored))
        means.commit(lambda: _end(means.clock, replay_id, DONE, report=report.as_json()))
    except _Lost:
        return False
    except (OperationalError, SystemExit, KeyboardInterrupt):
        means.commit(lambda: _let_go(means.clock, replay_id))
        raise
    except Exception as error:
        db.session.rollback()
        words = error.message if isinstance(error, DomainError) else f"Something unexpected went wrong: {error!r}"
        means.commit(lambda: _end(means.clock, replay_id, FAILED, error=words[:1000]))
        if not isinstance(error, DomainError):
            raise
    return True


def _report(means: Indexing, replay_id: str, site_id: int, proposal: Proposal) -> Report:
    read_afresh()
    words = top_words(site_id, site_today(means.clock, site_id), DAYS, MOST)
    _note(means, replay_id, done=0, total=len(words))
    touched: list[Touched] = []
    with on_trial(means.engine, site_id, proposal, means.clock.now()) as trial:
        for number, (query, searches) in enumerate(words, 1):
            found = _touched(trial, proposal, query, searches)
            touched += [found] if found is not None else []
            if number % BETWEEN_NOTES == 0:
                _note(means, replay_id, done=number, total=len(words))
    return Report.of(len(words), touched)


def _touched(trial: Trial, proposal: Proposal, query: str, searches: int) -> Touched | None:
    """None for a search that stays as it is. Where the change leaves the plan of a search as it was, and no corrected
    spelling brings other words into play, both answers are one, which spares half the work."""
    before = trial.ask_before(query)
    if not isinstance(proposal, TermsProposal) and not before.result.corrected and trial.plans_alike(query):
        return None
    comparison = compared(query, before, trial.ask_after(query))
    return Touched.of(comparison, searches) if comparison.is_changed else None


def _note(means: Indexing, replay_id: str, **columns: Any) -> None:
    """Progress, which says as well that the worker lives."""
    means.commit(lambda: _write(means.clock, replay_id, columns))


def _write(clock: Clock, replay_id: str, columns: dict[str, Any]) -> None:
    row = _running(replay_id)
    for name, value in columns.items():
        setattr(row, name, value)
    row.lease_until = clock.now() + LEASE


def _take_up(clock: Clock, replay_id: str) -> tuple[int, dict[str, Any]] | None:
    row = _locked(replay_id, skip=True)
    now = clock.now()
    if row is None or row.state not in UNFINISHED or (row.lease_until is not None and row.lease_until > now):
        return None
    row.state, row.started_at, row.lease_until, row.done = RUNNING, row.started_at or now, now + LEASE, 0
    return row.site_id, row.proposal


def _let_go(clock: Clock, replay_id: str) -> None:
    row = _locked(replay_id)
    if row is not None and row.state == RUNNING:
        row.lease_until = clock.now()


def _end(clock: Clock, replay_id: str, state: str, report: dict[str, Any] | None = None, error: str = "") -> None:
    row = _running(replay_id)
    row.state, row.finished_at, row.lease_until, row.error = state, clock.now(), None, error or None
    if report is not None:
        row.report, row.done, row.total = report, report["replayed"], report["replayed"]


def _running(replay_id: str) -> SearchReplay:
    """Raises _Lost."""
    row = _locked(replay_id)
    if row is None or row.state != RUNNING:
        raise _Lost
    return row


def _locked(replay_id: str, skip: bool = False) -> SearchReplay | None:
    query = select(SearchReplay).where(SearchReplay.id == replay_id).with_for_update(skip_locked=skip)
    return db.session.scalar(query.execution_options(populate_existing=True))


def forgotten(clock: Clock) -> list[str]:
    """Replays that nobody is at."""
    rows = db.session.execute(
        select(SearchReplay.id, SearchReplay.lease_until)
        .where(SearchReplay.state.in_(UNFINISHED))
        .order_by(SearchReplay.created_at)
    )
    return [row.id for row in rows if row.lease_until is None or row.lease_until <= clock.now()]


def end_dead(clock: Clock) -> int:
    """Fails what was not finished in a quarter of an hour, whoever is at it; how many. Call it in a transaction."""
    late = SearchReplay.created_at < clock.now() - GIVEN_UP_AFTER
    dead = db.session.scalars(select(SearchReplay).where(SearchReplay.state.in_(UNFINISHED), late)).all()
    for row in dead:
        row.state, row.finished_at, row.lease_until = FAILED, clock.now(), None
        row.error = "It was not finished within a quarter of an hour. Ask for it again."
    return len(dead)


def purge(clock: Clock) -> int:
    """Removes replays after 30 days; how many. Call it in a transaction."""
    old = delete(SearchReplay).where(SearchReplay.created_at < clock.now() - KEPT)
    return db.session.execute(old, execution_options={"synchronize_session": False}).rowcount  # type: ignore[attr-defined, no-any-return]
