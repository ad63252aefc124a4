"""Replays: the top searches of the last 30 days, answered as things are and as they would be after a change.

A replay takes seconds and changes nothing but its own row, so a worker that dies loses only time: the worker that
claims the row next begins anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import select

from app.domain.relevance import proposals
from app.domain.relevance.comparison import ReplayReport, Touched, compare, read_report
from app.domain.relevance.models import SearchReplay
from app.domain.relevance.proposals import Proposal, TermsProposal
from app.domain.relevance.trials import Trial, start_trial
from app.domain.search.engine import SearchContext
from app.domain.search_statistics.counting.queries import site_today, top_words
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.paging import batched
from app.domain.shared.records import existing, find_record
from app.domain.shared.text import numbered
from app.domain.work import leases
from app.domain.work.context import read_afresh
from app.domain.work.leases import Claim, perform
from app.domain.work.models import UNFINISHED, WorkKind, WorkRequested, requested_now
from app.domain.work.progress import WorkSummary
from app.events import publish
from app.extensions import db

DAYS = 30
MOST = 200
BETWEEN_NOTES = 25  # Searches.
REPLAY = WorkKind(
    "replay",
    SearchReplay,
    lease=timedelta(seconds=30),
    kept=timedelta(days=30),
    lasts_at_most=timedelta(minutes=15),
    overdue="It was not finished within a quarter of an hour. Ask for it again.",
)


@dataclass(frozen=True, slots=True)
class ReplaySummary(WorkSummary):
    """A replay as its card shows it."""

    proposal: Proposal
    report: ReplayReport

    @property
    def progress(self) -> str | None:
        if self.total is None:
            return None
        return f"{self.done:,} of {numbered(self.total, 'search', 'searches')} replayed."

    @property
    def change(self) -> str:
        return proposals.describe(self.proposal)


def request(author: Author, proposal: Proposal) -> SearchReplay:
    """Return the replay of the change: the unfinished one of the same change, or a new one. Call it in a
    transaction."""
    stored = proposals.as_json(proposal)
    unfinished = select(SearchReplay).where(SearchReplay.site_id == author.site_id, SearchReplay.state.in_(UNFINISHED))
    for known in db.session.scalars(unfinished):
        if known.proposal == stored:
            return known
    replay = SearchReplay(**requested_now(author), proposal=stored, report={})
    db.session.add(replay)
    db.session.flush()
    publish(WorkRequested(REPLAY.name, replay.id))
    return replay


def replay_of(clock: Clock, site_id: int, replay_id: str) -> ReplaySummary:
    """Return a replay of this site. Raises NotFound."""
    row = existing(
        find_record(SearchReplay, site_id, replay_id), "There is no such replay on this site, or not any more."
    )
    shown = WorkSummary.fields_of(row, leases.is_unanswered(REPLAY, clock, row))
    return ReplaySummary(**shown, proposal=proposals.stored_proposal(row.proposal), report=read_report(row.report))


def replay(context: SearchContext, replay_id: str) -> bool:
    """Do the replay; return False when it cannot be claimed, as when another worker does it. Its outcome is stored in
    the row; unexpected errors are raised as well."""
    claim = context.commit(lambda: leases.claim(REPLAY, context.clock, SearchReplay.id == replay_id))
    return claim is not None and perform(context, claim, lambda: _run_replay(context, claim))


def _run_replay(context: SearchContext, claim: Claim[SearchReplay]) -> None:
    """Replay the top searches and store the report. Raises LeaseLost."""

    def note(done: int) -> None:
        context.commit(lambda: leases.renew(context.clock, claim, done=done, total=len(words)))

    read_afresh()
    words = top_words(claim.site_id, site_today(context.clock, claim.site_id), DAYS, MOST)
    stored = db.session.scalars(select(SearchReplay.proposal).where(SearchReplay.id == claim.key)).one()
    proposal, touched = proposals.stored_proposal(stored), list[Touched]()
    note(0)
    with start_trial(context.engine, claim.site_id, proposal, context.clock.now()) as trial:
        done = 0
        for batch in batched(words, BETWEEN_NOTES):
            touched += _changed_searches(trial, proposal, batch)
            done += len(batch)
            note(done)
    report = ReplayReport.of(len(words), touched).as_json()
    context.commit(lambda: leases.finish(context.clock, claim, report=report, done=len(words)))


def _changed_searches(trial: Trial, proposal: Proposal, searches: Sequence[tuple[str, int]]) -> list[Touched]:
    """Return the searches, given as (words, number of times made), that the change alters. Unless search terms change,
    one whose plan stays the same and whose spelling was not corrected is not run again, which halves the work."""
    before = dict(zip(searches, trial.before([query for query, _ in searches]), strict=True))
    differ = [
        (query, count)
        for (query, count), found in before.items()
        if isinstance(proposal, TermsProposal) or found.result.corrected or not trial.plans_alike(query)
    ]
    after = trial.after([query for query, _ in differ])
    comparisons = [compare(search[0], before[search], found) for search, found in zip(differ, after, strict=True)]
    counts = [count for _, count in differ]
    return [Touched.of(one, count) for one, count in zip(comparisons, counts, strict=True) if one.is_changed]
