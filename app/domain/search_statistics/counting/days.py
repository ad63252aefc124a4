"""The day of a moment in a shop's time zone, the periods that reports sum, and equal periods before and after a change
went live. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from app.domain.shared.clock import Clock

PERIODS = (7, 30, 90)  # Days (specification: Analytics periods). Words are kept for the longest.
FEWEST_DAYS = 3  # Days on each side; fewer say little about the change.
DAY = timedelta(days=1)


def today(clock: Clock, time_zone: str) -> date:
    """Return today's date in `time_zone` (an IANA name)."""
    return day_at(clock.now(), time_zone)


def day_at(moment: datetime, time_zone: str) -> date:
    """Return the date of an aware moment. Every moment has exactly one, also where clocks are turned."""
    return moment.astimezone(_zone(time_zone)).date()


@lru_cache(maxsize=256)
def _zone(name: str) -> ZoneInfo:
    """Return a time zone; UTC for a name that this machine does not know, so that counting goes on."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")


class Comparable(StrEnum):
    """Whether the periods around a change can be compared, or why not. NOT_BEGUN: it is live and applies only from a
    later day on; TOO_EARLY: too few days since; TOO_SHORT: it applies, or applied, for too few days; TOO_OLD: the words
    from before are not kept any more; NOT_COUNTED: searches were not yet counted before."""

    YES = "yes"
    NOT_BEGUN = "not_begun"
    TOO_EARLY = "too_early"
    TOO_SHORT = "too_short"
    TOO_OLD = "too_old"
    NOT_COUNTED = "not_counted"


@dataclass(frozen=True, slots=True)
class EqualPeriods:
    """Two periods around a change: `days` whole days that end the day before `since`, and as many that begin the day
    after it. The day itself is partly before and partly after, and is left out."""

    since: date
    days: int

    @property
    def before(self) -> tuple[date, date]:
        return self.since - self.days * DAY, self.since - DAY

    @property
    def after(self) -> tuple[date, date]:
        return self.since + DAY, self.since + self.days * DAY

    @property
    def ready_on(self) -> date:
        """First day with enough to compare."""
        return self.since + (FEWEST_DAYS + 1) * DAY


def equal_periods(
    since: date, today: date, kept_from: date, counted_from: date | None, until: date | None = None
) -> tuple[Comparable, EqualPeriods]:
    """Return whether the periods around a change can be compared, and the longest equal ones. `kept_from` is the first
    day whose words are kept, `counted_from` the first with any counts. `until`, the day of the change's end, and today,
    which is not over, are left out."""
    passed = (min(today, until or today) - since).days - 1
    kept = (since - kept_from).days
    counted = (since - counted_from).days if counted_from is not None else 0
    if until is not None and (until - since).days - 1 < FEWEST_DAYS:
        return Comparable.TOO_SHORT, EqualPeriods(since, max(0, passed))
    if since > today:
        return Comparable.NOT_BEGUN, EqualPeriods(since, 0)
    if passed < FEWEST_DAYS:
        return Comparable.TOO_EARLY, EqualPeriods(since, max(0, passed))
    if kept < FEWEST_DAYS:
        return Comparable.TOO_OLD, EqualPeriods(since, max(0, kept))
    if counted < FEWEST_DAYS:
        return Comparable.NOT_COUNTED, EqualPeriods(since, max(0, counted))
    return Comparable.YES, EqualPeriods(since, min(passed, kept, counted))
