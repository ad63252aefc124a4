"""What a change that is not saved does to the NDCG of a list. Only searches that it may alter are made again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from app.domain.relevance.judgements.figures import Figures, current_figures, measure
from app.domain.relevance.judgements.lists import list_in_previews
from app.domain.relevance.judgements.measures import ChangeOfNdcg, compare_ndcgs
from app.domain.relevance.judgements.ratings import queries_of, rated_searches
from app.domain.relevance.models import JudgementList
from app.domain.relevance.trials import Trial

MOST_AT_ONCE = 40  # Searches that a preview makes; more are for a worker.


@dataclass(frozen=True, slots=True)
class PreviewJudgement:
    """The judgement of a change by the list for previews. `change` is None where it takes more searches than a page
    should wait for."""

    list_id: int
    list_name: str
    change: ChangeOfNdcg | None

    @property
    def sentence(self) -> str:
        if self.change is None:
            return f"Judging this change by “{self.list_name}” takes a while."
        return f"NDCG@10 of “{self.list_name}”: {self.change.sentence}."

    def as_json(self) -> dict[str, Any]:
        change = self.change.as_json() if self.change is not None else None
        return {"listId": str(self.list_id), "list": self.list_name, "ndcg": change}


@dataclass(frozen=True, slots=True)
class Sides:
    """The figures of a list before and after a change."""

    before: Figures
    after: Figures

    @property
    def change(self) -> ChangeOfNdcg:
        return compare_ndcgs(self.before.ndcgs, self.after.ndcgs)


def judge_change(trial: Trial) -> PreviewJudgement | None:
    """Judge a change by the list that the site has chosen for previews; None without one, or while nothing in it is
    rated. Raises SearchUnavailable."""
    row = list_in_previews(trial.site_id)
    if row is None:
        return None
    before = current_figures(trial.engine, row, trial.served, trial.now)
    queries = dict(queries_of(row))
    if before is None:
        if len(queries) > MOST_AT_ONCE:
            return PreviewJudgement(row.id, row.name, None)
        before = measure(trial.engine, row.site_id, rated_searches(row), trial.served, trial.now)
    if not before.ndcgs:
        return None
    altered = altered_searches(trial, before, queries)
    if len(altered) > MOST_AT_ONCE:
        return PreviewJudgement(row.id, row.name, None)
    searches = rated_searches(row, only=altered) if altered else []
    after = measure(trial.changed_engine, row.site_id, searches, trial.changed, trial.now)
    return PreviewJudgement(row.id, row.name, Sides(before, after).change)


def judge_wholly(trial: Trial, row: JudgementList, note: Callable[[int, int], object]) -> Sides:
    """Judge a change by a list, however long that takes. `note` is called with the searches done and their number.
    Raises SearchUnavailable."""
    searches = rated_searches(row)
    known = current_figures(trial.engine, row, trial.served, trial.now)
    total = len(searches) * (1 if known is not None else 2)
    note(0, total)
    first = 0 if known is not None else len(searches)
    before = known or measure(
        trial.engine, row.site_id, searches, trial.served, trial.now, lambda done: note(done, total)
    )
    altered = altered_searches(trial, before, {search.id: search.query for search in searches})
    chosen = [search for search in searches if search.id in altered]
    after = measure(
        trial.changed_engine, row.site_id, chosen, trial.changed, trial.now, lambda done: note(first + done, total)
    )
    return Sides(before, after)


def altered_searches(trial: Trial, before: Figures, queries: dict[int, str]) -> set[int]:
    """Return the ids of the judged searches whose results the change may alter."""
    return {id for id in before.ndcgs if id in before.corrected or (id in queries and trial.may_change(queries[id]))}
