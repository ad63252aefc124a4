"""Dates by which programs ask for a part of a list: days of a shop's time zone, or times. Pure."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from app.domain.shared.clock import ends_at, starts_at
from app.domain.shared.problems import DomainError, Problem

YEARS = range(2000, 2200)
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T|\Z)", re.ASCII)


def span_of_dates(start: str | None, end: str | None, zone: ZoneInfo) -> tuple[datetime | None, datetime | None]:
    """Return the half-open span of time between two dates, each optional: a day in the zone, which counts as a whole,
    or a time. Raises DomainError `bad_request` with every problem."""
    problems: list[Problem] = []
    first = _read_date("startDate", start, zone, problems)
    last = _read_date("endDate", end, zone, problems)
    if problems:
        raise _bad_request(problems)
    begin, until = first and first[0], last and last[1]
    if begin and until and begin >= until:
        raise _bad_request([Problem("invalid", "endDate comes before startDate.", "#/endDate")])
    return begin, until


def _read_date(
    name: str, text: str | None, zone: ZoneInfo, problems: list[Problem]
) -> tuple[datetime, datetime] | None:
    """Return the beginning and the end of a date: of a whole day, or of one microsecond. None for no text and for an
    invalid one, whose problem is added to `problems`."""
    if text is None:
        return None
    try:
        if not DATE.match(text):
            raise ValueError("ISO 8601 knows other forms, which nobody means.")
        return _day(date.fromisoformat(text), zone) if len(text) == 10 else _instant(datetime.fromisoformat(text), zone)
    except (ValueError, OverflowError):
        message = f"“{name}” is a date such as 2026-11-20 or a time such as 2026-11-20T21:04:05Z."
        problems.append(Problem("invalid", message, f"#/{name}"))
    return None


def _day(day: date, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """Return the beginning and the end of a day. Raises ValueError for a year out of range."""
    if day.year not in YEARS:
        raise ValueError("No shop was there then.")
    return starts_at(day, zone), ends_at(day, zone)


def _instant(moment: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """Return a time, in `zone` where it names none, and the microsecond after it. Raises ValueError and
    OverflowError."""
    if moment.year not in YEARS:
        raise ValueError("No shop was there then.")
    moment = moment if moment.tzinfo else moment.replace(tzinfo=zone)
    return moment, moment + timedelta(microseconds=1)


def _bad_request(problems: list[Problem]) -> DomainError:
    words = problems[0].message if len(problems) == 1 else f"{len(problems)} things need fixing."
    return DomainError(words, "bad_request", errors=[problem.as_json() for problem in problems])
