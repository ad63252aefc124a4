"""How a rebuild run is told to people. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

SCOPE_NAMES = {"ALL": "Everything", "PRODUCTS": "Products", "CONTENT": "Pages and collections"}
HELD_BACK = "The new index was held back"  # How the reason begins where golden searches held it back.


class Run(Protocol):
    """What is told of a run (app/domain/search/models.py)."""

    id: str
    scope: str
    state: str
    document_count: int
    total_count: int | None
    error: str | None
    requested_by: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    generations: dict[str, dict[str, str | None]]


@dataclass(frozen=True, slots=True)
class RunStory:
    """A run as templates ask about it. `aftermath` says what shoppers search with after a run that failed.
    `unanswered`: no worker takes it up."""

    id: str
    scope_name: str
    state: str
    documents: int
    total: int | None
    error: str | None
    requested_by: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    aftermath: str | None
    unanswered: bool

    @property
    def is_waiting(self) -> bool:
        return self.state == "waiting"

    @property
    def is_unfinished(self) -> bool:
        return self.state in ("waiting", "running")

    @property
    def is_done(self) -> bool:
        return self.state == "done"

    @property
    def has_failed(self) -> bool:
        return self.state == "failed"

    @property
    def was_held_back(self) -> bool:
        return self.has_failed and (self.error or "").startswith(HELD_BACK)

    @property
    def heading(self) -> str:
        return {
            "waiting": "A rebuild waits for its turn",
            "running": "A rebuild is running",
            "done": "The last rebuild is done",
            "failed": "The last rebuild failed",
        }[self.state]

    @property
    def kind(self) -> str:
        """Of its badge."""
        return {"waiting": "warn", "running": "warn", "done": "good", "failed": "bad"}[self.state]

    @property
    def progress(self) -> str:
        if self.total is None:
            return f"{self.documents:,} documents so far" if self.documents else "Counting the documents…"
        return f"{self.documents:,} of {self.total:,} documents"

    @property
    def took(self) -> str | None:
        """The time that the building took, without the waiting."""
        if self.started_at is None or self.finished_at is None:
            return None
        return spoken_duration(self.finished_at - self.started_at)


def story_of(run: Run, live: Mapping[str, str | None] | None = None, unanswered: bool = False) -> RunStory:
    """`live` has the generation of each index that answers now; without it there is no aftermath."""
    return RunStory(
        id=run.id,
        scope_name=SCOPE_NAMES[run.scope],
        state=run.state,
        documents=run.document_count,
        total=run.total_count,
        error=run.error,
        requested_by=run.requested_by,
        created_at=run.created_at,
        started_at=run.started_at,
        finished_at=run.finished_at,
        aftermath=_aftermath(run, live) if run.state == "failed" and live is not None else None,
        unanswered=unanswered,
    )


def _aftermath(run: Run, live: Mapping[str, str | None]) -> str:
    index, things = ("content", "pages and collections") if run.scope == "CONTENT" else ("products", "products")
    if index not in live:
        return f"There is no index of {things} in use, so shoppers cannot search them until a rebuild succeeds."
    if not _was_swapped(run, index, live):
        return "The old index stays live, so shoppers notice nothing."
    rest = "; pages and collections keep what they had" if run.scope == "ALL" else ""
    return f"The new index of {things} is in use already{rest}."


def _was_swapped(run: Run, index: str, live: Mapping[str, str | None]) -> bool:
    """Also where the builder could not note any more that it had swapped."""
    swap = run.generations.get(index)
    return swap is not None and ("after" in swap or live[index] != swap["before"])


def spoken_duration(duration: timedelta) -> str:
    seconds = max(0, int(duration.total_seconds()))
    if seconds < 2:
        return "about a second"
    if seconds < 60:
        return f"{seconds} s"
    minutes, rest = divmod(seconds, 60)
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"
