"""Comparisons of the served ranking with a candidate on real shoppers: started and stopped by people, ended by the
shop, and what came of them.

A search in a visit that takes part shows both orders interleaved; shoppers choose by what they open first. One
comparison at a time runs on a site. It ends by itself: with enough clicks or overwhelming evidence, after its period,
or once what it compares has changed. Call what changes something in a transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import Select, select

from app.domain.relevance import rules
from app.domain.relevance.candidates import baseline_of, candidate_problems, run_problems
from app.domain.relevance.models import SearchRule
from app.domain.relevance.proposals import (
    MeaningProposal,
    Proposal,
    RuleProposal,
    as_json,
    complete_removal,
    describe,
    stored_proposal,
    without_note,
)
from app.domain.search.engine import IndexName, SearchEngine
from app.domain.search.serving.configuration import served as served_now
from app.domain.search.serving.rules import Rule
from app.domain.search.settings import stored_settings
from app.domain.search_statistics.counting.comparison_counts import clicks_a_day, wins_of
from app.domain.search_statistics.counting.days import day_at
from app.domain.search_statistics.counting.queries import site_today
from app.domain.search_statistics.models import RankingComparison
from app.domain.search_statistics.verdicts import (
    Ending,
    Interval,
    Verdict,
    Wins,
    days_until_enough,
    ending_of,
    interval,
)
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock, rfc3339
from app.domain.shared.problems import Conflict, Invalid, Problem
from app.domain.shared.records import existing, find_record, flush_or_conflict
from app.domain.sites import activity
from app.domain.sites.sites import time_zone_of
from app.extensions import db

SUBJECT = "ranking_comparison"
BY_ITSELF = "Comparison"
ONE_AT_A_TIME = "A comparison is running. Stop it first: one at a time can be compared."
MOST_LISTED = 20
ENDINGS = {
    Ending.ENOUGH: "enough clicks",
    Ending.EARLY: "overwhelming evidence",
    Ending.PERIOD: "the end of its period",
    Ending.STOPPED: "hand",
    Ending.CHANGED: "a change of what it compared",
}


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """A comparison and what came of it so far: `summary` describes the candidate; `interval` holds the candidate's
    share of decisive clicks. `days_left`, of a running one, until there are enough clicks at its present rate; None
    while there is no rate."""

    id: int
    summary: str
    proposal: Proposal
    share: int
    started_at: datetime
    last_day: date
    ended_at: datetime | None
    ending: Ending | None
    wins: Wins
    interval: Interval
    days_left: int | None = None

    @property
    def verdict(self) -> Verdict | None:
        """The verdict of a comparison that has ended; None while it runs."""
        return self.interval.verdict if self.ending is not None else None

    @property
    def is_conclusive(self) -> bool:
        """Whether no verdict means that no difference was found, and not that the comparison was cut short."""
        return self.ending is not None and self.ending.is_final_look

    def as_json(self) -> dict[str, Any]:
        return {"candidate": as_json(self.proposal)} | self.result_json()

    def result_json(self) -> dict[str, Any]:
        """Return the JSON without the candidate's own fields."""
        return {
            "id": str(self.id),
            "summary": self.summary,
            "share": self.share,
            "startedAt": rfc3339(self.started_at),
            "lastDay": self.last_day.isoformat(),
            "endedAt": rfc3339(self.ended_at) if self.ended_at else None,
            "ending": self.ending,
            "wins": self.wins.as_json(),
            "interval": self.interval.as_json(),
            "verdict": self.verdict,
            "daysLeft": self.days_left,
        }


def start_comparison(
    author: Author, engine: SearchEngine, proposal: Proposal, share: int, days: int
) -> RankingComparison:
    """Start a comparison in `share` percent of visits, for so many days at most. Raises Invalid with every problem, and
    Conflict while another one runs."""
    served = served_now(author.site_id)
    proposal = without_note(complete_removal(proposal, served))
    problems = [
        *candidate_problems(served, proposal, author.now()),
        *run_problems(share, days),
        *_site_problems(author.site_id, engine, proposal),
    ]
    if problems:
        raise Invalid(problems)
    if db.session.scalar(_running_query(author.site_id)) is not None:
        raise Conflict(ONE_AT_A_TIME)
    row = RankingComparison(
        site_id=author.site_id,
        proposal=as_json(proposal),
        baseline=baseline_of(served, proposal),
        share=share,
        started_at=author.now(),
        last_day=day_at(author.now(), time_zone_of(author.site_id)) + timedelta(days=days - 1),
    )
    db.session.add(row)
    flush_or_conflict(ONE_AT_A_TIME)
    after = {"candidate": describe(proposal), "share": share, "lastDay": row.last_day.isoformat()}
    summary = f"Started a comparison of rankings in {share}% of visits: {describe(proposal)}"
    activity.record(author, "comparison.start", (SUBJECT, str(row.id)), summary, after=after)
    return row


def _site_problems(site_id: int, engine: SearchEngine, proposal: Proposal) -> list[Problem]:
    problems = []
    settings = stored_settings(site_id)
    if not (settings.tracking and settings.click_tracking):
        message = "Clicks are not recorded, so nothing would decide. Record them in the settings of search."
        problems.append(Problem("clicks_not_recorded", message, "#"))
    if isinstance(proposal, MeaningProposal) and not engine.status(site_id, IndexName.PRODUCTS).vectors:
        message = "The index has no meanings of products, so search by meaning changes nothing."
        problems.append(Problem("no_meaning", message, "#/candidate/on"))
    if isinstance(proposal, RuleProposal) and not proposal.remove:
        problems += _rule_problems(site_id, proposal.rule)
    return problems


def _rule_problems(site_id: int, rule: Rule) -> list[Problem]:
    """Return why the rule could not be saved. One that is saved is not checked again, as when it is resumed."""
    own = find_record(SearchRule, site_id, rule.id) if rule.id is not None else None
    own = own or rules.rule_for(site_id, rule.term, rule.match)
    if own is not None and replace(own.value, note="", enabled=rule.enabled).as_json() == rule.as_json():
        return []
    try:
        rules.check_for_site(site_id, rule, own)
    except Invalid as error:
        return [replace(one, pointer=one.pointer.replace("#", "#/candidate", 1)) for one in error.problems]
    return []


def stop_comparison(author: Author, comparison_id: int) -> RankingComparison:
    """Stop a comparison by hand. Raises NotFound, and Conflict for one that has ended."""
    row = find_record(RankingComparison, author.site_id, comparison_id, True)
    comparison = existing(row, "There is no such comparison on this site.")
    if comparison.ended_at is not None:
        raise Conflict("This comparison has ended already.")
    _end(author, comparison, Ending.STOPPED)
    return comparison


def end_comparison_if_due(clock: Clock, site_id: int) -> Ending | None:
    """End the running comparison of a site where it is time, and return why; None where none runs or it goes on."""
    row = db.session.scalar(_running_query(site_id).with_for_update())
    if row is None:
        return None
    proposal, wins = stored_proposal(row.proposal), wins_of(site_id, [row.id])[row.id]
    ending = ending_of(wins, site_today(clock, site_id) > row.last_day)
    if ending is None and baseline_of(served_now(site_id), proposal) != row.baseline:
        ending = Ending.CHANGED
    if ending is not None:
        _end(Author(site_id, BY_ITSELF, clock), row, ending)
    return ending


def _end(author: Author, row: RankingComparison, ending: Ending) -> None:
    row.ended_at, row.ending = author.now(), ending.value
    report = _report(row, wins_of(row.site_id, [row.id])[row.id], author.now())
    did = "Stopped a comparison of rankings" if ending is Ending.STOPPED else f"A comparison ended by {ENDINGS[ending]}"
    summary = f"{did}: {report.summary}"
    after = {"ending": ENDINGS[ending], "verdict": report.verdict, "wins": report.wins.as_json()}
    activity.record(author, "comparison.end", (SUBJECT, str(row.id)), summary, after=after)


def compared_sites() -> list[int]:
    """Return the ids of the sites on which a comparison runs."""
    running = select(RankingComparison.site_id).where(RankingComparison.ended_at.is_(None))
    return list(db.session.scalars(running.order_by(RankingComparison.site_id)))


def running_comparison(clock: Clock, site_id: int) -> ComparisonReport | None:
    """Return the comparison that runs on a site, None without one."""
    row = db.session.scalar(_running_query(site_id))
    return _reports(clock, site_id, [row])[0] if row is not None else None


def ended_comparisons(clock: Clock, site_id: int) -> list[ComparisonReport]:
    """Return the latest MOST_LISTED comparisons that have ended, the latest first."""
    ended = select(RankingComparison).where(
        RankingComparison.site_id == site_id, RankingComparison.ended_at.is_not(None)
    )
    latest = ended.order_by(RankingComparison.started_at.desc(), RankingComparison.id.desc()).limit(MOST_LISTED)
    return _reports(clock, site_id, db.session.scalars(latest).all())


def comparison_report(clock: Clock, site_id: int, comparison_id: int) -> ComparisonReport:
    """Return one comparison. Raises NotFound."""
    row = find_record(RankingComparison, site_id, comparison_id)
    return _reports(clock, site_id, [existing(row, "There is no such comparison on this site.")])[0]


def days_before_start(clock: Clock, site_id: int, share: int) -> int | None:
    """Return in how many days a comparison would have enough clicks if each decided, by the clicks of the last four
    weeks; None where there were none. Clicks on products that both orders place alike decide nothing, so it takes
    longer."""
    rate = clicks_a_day(site_id, site_today(clock, site_id))
    return days_until_enough(Wins(), rate * share / 100)


def _running_query(site_id: int) -> Select[RankingComparison]:
    return select(RankingComparison).where(RankingComparison.site_id == site_id, RankingComparison.ended_at.is_(None))


def _reports(clock: Clock, site_id: int, rows: Sequence[RankingComparison]) -> list[ComparisonReport]:
    wins = wins_of(site_id, [row.id for row in rows])
    return [_report(row, wins[row.id], clock.now()) for row in rows]


def _report(row: RankingComparison, wins: Wins, now: datetime) -> ComparisonReport:
    proposal = stored_proposal(row.proposal)
    ending = Ending(row.ending) if row.ending else None
    days = max(1.0, (now - row.started_at) / timedelta(days=1))
    return ComparisonReport(
        id=row.id,
        summary=describe(proposal),
        proposal=proposal,
        share=row.share,
        started_at=row.started_at,
        last_day=row.last_day,
        ended_at=row.ended_at,
        ending=ending,
        wins=wins,
        interval=interval(wins, row.is_final_look),
        days_left=None if ending else days_until_enough(wins, wins.decisive / days),
    )
