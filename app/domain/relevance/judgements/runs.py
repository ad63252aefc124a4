"""Runs: the figures of a list computed in the background, as things are or before and after a change.

A run changes nothing but its own row, so a worker that dies loses only time: the next one that claims it begins anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, select

from app.domain.relevance import proposals
from app.domain.relevance.judgements.changes import Sides, judge_wholly
from app.domain.relevance.judgements.figures import Figures, measure, state_of
from app.domain.relevance.judgements.lists import list_of
from app.domain.relevance.judgements.measures import ChangeOfNdcg, Interval
from app.domain.relevance.judgements.ratings import queries_of, rated_searches
from app.domain.relevance.models import JudgedSearch, JudgementList, JudgementRun, ProductRating
from app.domain.relevance.proposals import Proposal
from app.domain.relevance.trials import start_trial
from app.domain.search.engine import SearchContext
from app.domain.search.serving.configuration import served as served_now
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Invalid
from app.domain.shared.records import existing
from app.domain.shared.text import numbered
from app.domain.work import leases
from app.domain.work.context import read_afresh
from app.domain.work.leases import Claim, perform
from app.domain.work.models import UNFINISHED, State, WorkKind, WorkRequested, requested_now
from app.domain.work.progress import WorkSummary
from app.events import publish
from app.extensions import db

MOST_LISTED = 50  # Searches that became better, and as many that became worse.
MOST_PAST = 12
NO_RATINGS = "Nothing in this list is rated yet, so there is nothing to compute."
JUDGEMENT = WorkKind(
    "judgement",
    JudgementRun,
    lease=timedelta(seconds=30),
    kept=timedelta(days=365),
    lasts_at_most=timedelta(minutes=30),
    overdue="It was not finished within half an hour. Request it again.",
)


@dataclass(frozen=True, slots=True)
class MovedSearch:
    """A search whose NDCG a change moves."""

    query: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class JudgementSummary(WorkSummary):
    """A run as its card shows it: once it is done, the NDCG of the list without a `proposal`, else the `comparison`
    with the searches that moved, the furthest first."""

    proposal: Proposal | None
    ndcg: Interval | None
    searches: int
    comparison: ChangeOfNdcg | None
    moved: tuple[MovedSearch, ...]

    @property
    def progress(self) -> str | None:
        if self.total is None:
            return None
        return f"{self.done:,} of {numbered(self.total, 'search', 'searches')} done."

    @property
    def change(self) -> str:
        return proposals.describe(self.proposal) if self.proposal is not None else ""


@dataclass(frozen=True, slots=True)
class PastFigures:
    """The NDCG of a list at an earlier moment, over so many searches."""

    at: datetime
    ndcg: Interval
    searches: int


def request(author: Author, list_id: int, proposal: Proposal | None = None) -> JudgementRun:
    """Return the run of a list and a change: the unfinished one of the same, or a new one. Call it in a transaction.
    Raises NotFound, and Invalid where nothing is rated."""
    row = list_of(author.site_id, list_id)
    rated = select(ProductRating.id).join(JudgedSearch, JudgedSearch.id == ProductRating.search_id)
    answering = rated.where(JudgedSearch.list_id == row.id, ProductRating.rating > 0)
    if db.session.scalar(answering.limit(1)) is None:
        raise Invalid.one("no_ratings", NO_RATINGS, "#/listId")
    stored = proposals.as_json(proposal) if proposal is not None else None
    unfinished = JudgementRun.list_id == row.id, JudgementRun.state.in_(UNFINISHED)
    for known in db.session.scalars(select(JudgementRun).where(*unfinished)):
        if known.proposal == stored:
            return known
    run = JudgementRun(**requested_now(author), list_id=row.id, proposal=stored, report={})
    db.session.add(run)
    db.session.flush()
    publish(WorkRequested(JUDGEMENT.name, run.id))
    return run


def run_of(clock: Clock, site_id: int, list_id: int, run_id: str) -> JudgementSummary:
    """Return a run of a list of this site. Raises NotFound."""
    query = select(JudgementRun).where(JudgementRun.site_id == site_id, JudgementRun.list_id == list_id)
    found = db.session.scalar(query.where(JudgementRun.id == run_id))
    return _summary(clock, existing(found, "There is no such computation on this site, or not any more."))


def latest_run(clock: Clock, row: JudgementList) -> JudgementSummary | None:
    """Return the latest run of a list as things are, whatever its state; None before the first."""
    of_list = JudgementRun.list_id == row.id, JudgementRun.proposal.is_(None)
    run = db.session.scalar(select(JudgementRun).where(*of_list).order_by(JudgementRun.created_at.desc()).limit(1))
    return _summary(clock, run) if run is not None else None


def latest_figures(site_id: int) -> dict[int, PastFigures]:
    """Return the latest figures of each list of a site by its id, without lists that have none."""
    order = JudgementRun.finished_at.desc(), JudgementRun.id
    place = func.row_number().over(partition_by=JudgementRun.list_id, order_by=order)
    done = JudgementRun.site_id == site_id, JudgementRun.state == State.DONE, JudgementRun.proposal.is_(None)
    placed = select(JudgementRun.id, place.label("place")).where(*done).subquery()
    latest = select(JudgementRun).join(placed, placed.c.id == JudgementRun.id).where(placed.c.place == 1)
    found = ((run.list_id, _figures_of(run)) for run in db.session.scalars(latest))
    return {list_id: figures for list_id, figures in found if figures is not None}


def past_figures(row: JudgementList) -> list[PastFigures]:
    """Return the figures of a list over time, the latest first."""
    done = JudgementRun.list_id == row.id, JudgementRun.state == State.DONE, JudgementRun.proposal.is_(None)
    query = select(JudgementRun).where(*done).order_by(JudgementRun.finished_at.desc(), JudgementRun.id)
    found = map(_figures_of, db.session.scalars(query.limit(MOST_PAST)))
    return [figures for figures in found if figures is not None]


def _figures_of(run: JudgementRun) -> PastFigures | None:
    ndcg = _interval_of(run.report)
    return PastFigures(run.finished_at or run.created_at, ndcg, len(run.report["each"])) if ndcg is not None else None


def run_judgement(context: SearchContext, run_id: str) -> bool:
    """Do the run; return False when it cannot be claimed, as when another worker does it. Its outcome is stored in the
    row; unexpected errors are raised as well."""
    claim = context.commit(lambda: leases.claim(JUDGEMENT, context.clock, JudgementRun.id == run_id))
    return claim is not None and perform(context, claim, lambda: _compute(context, claim))


def _compute(context: SearchContext, claim: Claim[JudgementRun]) -> None:
    """Compute the figures and store the report. Raises LeaseLost."""

    def note(done: int, total: int) -> None:
        context.commit(lambda: leases.renew(context.clock, claim, done=done, total=total))

    read_afresh()
    run = db.session.get_one(JudgementRun, claim.key)
    row, now = list_of(claim.site_id, run.list_id), context.clock.now()
    served = served_now(claim.site_id)
    depends_on = state_of(context.engine, row, served, now)  # Before anything is read: what changes later is not in it.
    if run.proposal is None:
        searches = rated_searches(row)
        note(0, len(searches))
        figures = measure(context.engine, row.site_id, searches, served, now, lambda done: note(done, len(searches)))
        report, done = _report_of(figures), len(searches)
    else:
        with start_trial(context.engine, claim.site_id, proposals.stored_proposal(run.proposal), now) as trial:
            sides = judge_wholly(trial, row, note)
        report, done = _report_of_change(sides, dict(queries_of(row))), len(sides.before.ndcgs)
    context.commit(
        lambda: leases.finish(context.clock, claim, report=report, depends_on=depends_on, done=done, total=done)
    )


def _report_of(figures: Figures) -> dict[str, Any]:
    interval = figures.interval
    shown = {"mean": interval.mean, "low": interval.low, "high": interval.high} if interval is not None else {}
    return figures.as_json() | shown


def _report_of_change(sides: Sides, queries: Mapping[int, str]) -> dict[str, Any]:
    before, after = sides.before.ndcgs, sides.after.ndcgs
    if not before:
        return {}  # Ratings were taken back meanwhile, or a median leaves no product that answers.
    moved = [(id, before[id], now) for id, now in after.items() if id in queries and abs(now - before[id]) > 1e-9]
    moved.sort(key=lambda one: one[2] - one[1])
    shown = moved if len(moved) <= 2 * MOST_LISTED else moved[:MOST_LISTED] + moved[-MOST_LISTED:]
    listed = [[queries[id], was, now] for id, was, now in shown]
    return {"change": sides.change.as_json(), "moved": listed}


def _summary(clock: Clock, row: JudgementRun) -> JudgementSummary:
    report = row.report
    return JudgementSummary(
        **WorkSummary.fields_of(row, leases.is_unanswered(JUDGEMENT, clock, row)),
        proposal=proposals.stored_proposal(row.proposal) if row.proposal else None,
        ndcg=_interval_of(report),
        searches=len(report.get("each", ())),
        comparison=_change_of(report.get("change")),
        moved=_moved_of(report.get("moved", ())),
    )


def _interval_of(report: Mapping[str, Any]) -> Interval | None:
    return Interval(report["mean"], report["low"], report["high"]) if "mean" in report else None


def _change_of(stored: Mapping[str, Any] | None) -> ChangeOfNdcg | None:
    if not stored:
        return None
    difference = Interval(stored["difference"], stored["low"], stored["high"])
    counts = stored["better"], stored["worse"], stored["unchanged"]
    return ChangeOfNdcg(stored["before"], stored["after"], difference, *counts)


def _moved_of(stored: Sequence[Sequence[Any]]) -> tuple[MovedSearch, ...]:
    moved = (MovedSearch(*one) for one in stored)
    return tuple(sorted(moved, key=lambda one: (-abs(one.after - one.before), one.query)))
