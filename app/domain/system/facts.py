"""Facts of the System page: each with its state in a word. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from croniter import croniter

UNITS = ("kB", "MB", "GB")
HANGS_AFTER = timedelta(hours=2)  # Longer than any scheduled job takes.


class Health(StrEnum):
    """The health of something, which gives its word a colour."""

    GOOD = "good"
    WARN = "warn"
    BAD = "bad"
    PLAIN = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the System page: the state of one thing in a `word`, a `detail`, and `advice` where something is wrong.
    `at` is the time that the detail speaks of; `page` is the page of the admin that helps, as an endpoint and a
    label."""

    label: str
    word: str
    health: Health
    detail: str = ""
    at: datetime | None = None
    advice: str = ""
    page: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class JobFacts:
    """A scheduled job; `times` is a cron expression in UTC. `only_looks`: it changes nothing, so that it may be run at
    any time."""

    name: str
    times: str
    meaning: str
    only_looks: bool = False

    def next_at(self, now: datetime) -> datetime:
        moment: datetime = croniter(self.times, now).get_next(datetime)
        return moment


@dataclass(frozen=True, slots=True)
class JobLine:
    """A job with its latest run. `errors` are the reasons by site, as far as the reader may see them."""

    facts: JobFacts
    next_at: datetime
    word: str
    health: Health
    started_at: datetime | None = None
    took: timedelta | None = None
    errors: Mapping[str, str] = field(default_factory=dict)


def job_state(
    now: datetime, started_at: datetime | None, finished_at: datetime | None, has_failed: bool
) -> tuple[str, Health]:
    """Return the state of a job as a label and its health, by the latest run, if there was one."""
    if started_at is None:
        return "Not run yet", Health.PLAIN
    if finished_at is not None:
        return ("Failed", Health.BAD) if has_failed else ("Done", Health.GOOD)
    is_cut_off = abs(now - started_at) > HANGS_AFTER
    return ("Interrupted", Health.WARN) if is_cut_off else ("Running", Health.WARN)


def size_text(size: int | None) -> str:
    """Format a number of bytes for people: "8.1 MB"."""
    if size is None:
        return "unknown"
    if size < 1_000:
        return f"{size} bytes"
    power = min((len(str(size)) - 1) // 3, len(UNITS))
    return f"{size / 1_000**power:,.1f} {UNITS[power - 1]}"
