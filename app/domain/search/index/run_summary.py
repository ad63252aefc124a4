"""Summaries of rebuild runs for pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from app.domain.search.models import RebuildRun
from app.domain.shared.counts import numbered
from app.domain.work.progress import WorkSummary

SCOPE_NAMES = {"ALL": "Everything", "PRODUCTS": "Products", "CONTENT": "Pages and collections"}


@dataclass(frozen=True, slots=True)
class RunSummary(WorkSummary):
    """`aftermath` says what shoppers search with after a run that failed; `was_blocked`: its index failed golden
    searches; `queue_note` says what is rebuilt right after it."""

    scope_name: str
    queue_note: str | None
    aftermath: str | None
    was_blocked: bool

    @property
    def heading(self) -> str:
        return {
            "waiting": "A rebuild waits for its turn",
            "running": "A rebuild is running",
            "done": "The last rebuild is done",
            "failed": "The last rebuild failed",
        }[self.state]

    @property
    def progress(self) -> str:
        if self.total is None:
            return f"{numbered(self.done, 'document')} so far" if self.done else "Counting the documents…"
        return f"{self.done:,} of {numbered(self.total, 'document')}"

    @property
    def took(self) -> str | None:
        """The time that the building took, without the waiting."""
        if self.started_at is None or self.finished_at is None:
            return None
        return spoken_duration(self.finished_at - self.started_at)


def summary_of(
    run: RebuildRun, live: Mapping[str, str | None] | None = None, is_unanswered: bool = False
) -> RunSummary:
    """Return the summary of a run. `live` has the generation of each index that answers now; without it there is no
    aftermath."""
    return RunSummary(
        **RunSummary.fields_of(run, is_unanswered),
        scope_name=SCOPE_NAMES[run.scope],
        queue_note=queue_note(run) if run.is_unfinished else None,
        aftermath=_aftermath(run, live) if run.has_failed and live is not None else None,
        was_blocked=bool(run.blocked),
    )


def describe_join(run: RebuildRun) -> str:
    """Return sentences for a user who joined a run: what it rebuilds, who requested it and what follows it."""
    joined = f"A rebuild of {SCOPE_NAMES[run.scope].lower()}, requested by {run.requested_by}, is under way already."
    return f"{joined} {queue_note(run) or 'You joined it.'}"


def queue_note(run: RebuildRun) -> str | None:
    """Return a sentence about what is rebuilt right after a run; None where nothing is."""
    if not run.queued_scope:
        return None
    is_again = run.queued_scope == run.scope
    verb = "is" if run.queued_scope == "ALL" else "are"
    what = f"{SCOPE_NAMES[run.queued_scope]} {verb} rebuilt {'again ' if is_again else ''}right after it"
    left_out = "" if is_again or run.scope == "ALL" else f", since it rebuilds {SCOPE_NAMES[run.scope].lower()} only"
    return f"{what}{left_out}."


def _aftermath(run: RebuildRun, live: Mapping[str, str | None]) -> str:
    index, things = ("content", "pages and collections") if run.scope == "CONTENT" else ("products", "products")
    if index not in live:
        return f"There is no index of {things} in use, so shoppers cannot search them until a rebuild succeeds."
    swap = run.generations.get(index)
    if swap is None or live[index] == swap["before"]:
        return "The old index stays live, so shoppers notice nothing."
    return f"The new index of {things} is in use already."


def spoken_duration(duration: timedelta) -> str:
    seconds = max(0, int(duration.total_seconds()))
    if seconds < 2:
        return "about a second"
    if seconds < 60:
        return f"{seconds} s"
    minutes, rest = divmod(seconds, 60)
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"
