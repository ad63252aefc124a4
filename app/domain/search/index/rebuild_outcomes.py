"""Outcomes of rebuilds: the reasons of a failure in words for people, the pause before the shop tries again by itself,
and the summary of a run for pages. Pure."""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import takewhile

from app.domain.search.models import RebuildRun
from app.domain.shared.problems import DomainError
from app.domain.shared.redaction import error_summary
from app.domain.shared.text import numbered
from app.domain.work.progress import WorkSummary

EXAMPLES = 5
WORDS = {
    errno.ENOSPC: "There is no space left on the disk. Free some, then rebuild.",
    errno.EDQUOT: "There is no space left for this user on the disk. Free some, then rebuild.",
    errno.EROFS: "The index folder cannot be written to: the disk is mounted read-only.",
    errno.EACCES: "The index folder cannot be written to: permission is missing.",
    errno.EMFILE: "The process has too many files open.",
    errno.EIO: "The disk failed to read or write. Look at it before you rebuild.",
    errno.ENOMEM: "There is not enough memory to build the index.",
}


EXPECTED = (DomainError, OSError, MemoryError)  # The run explains these; any other is logged with its trace.
AFTER_SUCCESS = timedelta(seconds=30)  # A disk that spoils every index is not kept busy by new ones.
AFTER_FAILURE = timedelta(minutes=1)
LONGEST = timedelta(hours=1)
SOON = 3_000  # Products that are indexed within seconds, also with a sentence model.
HOPELESS_AFTER = 2  # Rebuilds that failed in a row.
WORTH_REMEMBERING = 8  # The latest rebuilds that are read; after so many failures the pause is the longest.
SCOPE_NAMES = {"ALL": "Everything", "PRODUCTS": "Products", "CONTENT": "Pages and collections"}


@dataclass
class Refusals:
    """Records that could not be indexed; the others were."""

    records: set[tuple[str, int]] = field(default_factory=set)
    examples: list[str] = field(default_factory=list)

    def note(self, kind: str, record_id: int, error: Exception) -> None:
        self.records.add((kind, record_id))
        if len(self.examples) < EXAMPLES:
            self.examples.append(f"{kind} {record_id} ({error_summary(error)})")

    def summary(self) -> str | None:
        count = len(self.records)
        if not count:
            return None
        return f"{numbered(count, 'record')} could not be indexed: {'; '.join(self.examples)}"[:1000]


def why_it_failed(error: BaseException) -> str:
    cause = error if isinstance(error, OSError) else error.__cause__
    if isinstance(cause, OSError) and cause.errno in WORDS:
        return WORDS[cause.errno]
    if isinstance(error, DomainError):
        return error.message
    if isinstance(error, MemoryError):
        return WORDS[errno.ENOMEM]
    if isinstance(error, SystemExit | KeyboardInterrupt):
        return "The worker was stopped while it built the index."
    return f"Something unexpected went wrong ({error_summary(error)})"[:1000]


@dataclass(frozen=True, slots=True)
class PastRebuild:
    """The outcome of an earlier rebuild. `ended_at` is None while it is unfinished."""

    has_failed: bool
    ended_at: datetime | None


def may_rebuild(now: datetime, past: Sequence[PastRebuild]) -> bool:
    """Whether another rebuild may begin. `past` is in order, the latest first. A clock that was set back does not
    lengthen a pause for ever."""
    if not past:
        return True
    ended_at = past[0].ended_at
    return ended_at is not None and abs(now - ended_at) >= pause_after(failures_in_a_row(past))


def failures_in_a_row(past: Sequence[PastRebuild]) -> int:
    """Return how many of the latest rebuilds failed in a row."""
    return len(list(takewhile(lambda rebuild: rebuild.has_failed, past)))


def pause_after(failures: int) -> timedelta:
    """Return the pause after so many failures in a row. It doubles with each, up to LONGEST."""
    return min(AFTER_FAILURE * 2 ** (failures - 1), LONGEST) if failures else AFTER_SUCCESS


@dataclass(frozen=True, slots=True)
class RunSummary(WorkSummary):
    """`aftermath` says what shoppers search with after a run that failed; `was_blocked`: its index failed golden
    searches or a judgement list; `queue_note` says what is rebuilt right after it."""

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
    def percent(self) -> int | None:
        """How much of the documents is indexed, 0 to 100; None before they are counted."""
        return min(100, 100 * self.done // self.total) if self.total else None

    @property
    def documents(self) -> int | None:
        """The number of documents indexed; None for a run that failed, whose index is not in use."""
        return None if self.has_failed else self.done

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
