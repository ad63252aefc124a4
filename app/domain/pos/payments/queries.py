"""Lists of payments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, Select, func, select

from app.domain.pos.models import PosTransaction
from app.domain.pos.states import TransactionStatus
from app.domain.shared.local_days import ends_at, starts_at
from app.domain.shared.paging import Paged
from app.domain.shared.problems import DomainError, Problem
from app.domain.sites.sites import time_zone_of
from app.extensions import db

YEARS = range(2000, 2200)
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T|\Z)", re.ASCII)


@dataclass(frozen=True, slots=True)
class PaymentFilter:
    """A filter of payments, in which None is any. Dates are as clients write them: a day in the shop's time zone, which
    counts as a whole, or a time."""

    start: str | None = None
    end: str | None = None
    status: TransactionStatus | None = None
    agent_id: int | None = None


def payments_of_location(
    site_id: int, location_id: int, wanted: PaymentFilter, page_number: int, page_size: int
) -> Paged[PosTransaction]:
    """Return a page of the payments of a location, the newest first. Raises DomainError `bad_request` for an invalid
    date."""
    where = (PosTransaction.site_id == site_id, PosTransaction.location_id == location_id, *_filters(site_id, wanted))
    total = db.session.scalar(select(func.count()).select_from(PosTransaction).where(*where)) or 0
    found = _page(select(PosTransaction).where(*where), (page_number - 1) * page_size, page_size, total)
    return Paged(found, page_number, page_size, total)


def _page(query: Select[PosTransaction], start: int, size: int, total: int) -> Sequence[PosTransaction]:
    """Return the rows from `start` on, newest first. They are counted from the nearer end, since a database reads every
    row that an offset skips."""
    size = min(size, total - start)
    if size <= 0:
        return []
    order, to_pass = (PosTransaction.created_at, PosTransaction.id), total - start - size
    if to_pass < start:
        return db.session.scalars(query.order_by(*order).limit(size).offset(to_pass)).all()[::-1]
    newest_first = query.order_by(*(column.desc() for column in order))
    return db.session.scalars(newest_first.limit(size).offset(start)).all()


def _filters(site_id: int, wanted: PaymentFilter) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if wanted.start is not None or wanted.end is not None:
        start, end = window(wanted.start, wanted.end, ZoneInfo(time_zone_of(site_id)))
        found += [PosTransaction.created_at >= start] if start else []
        found += [PosTransaction.created_at < end] if end else []
    if wanted.status is not None:
        shown = [status.value for status in TransactionStatus if status.shown is wanted.status]
        found.append(PosTransaction.status.in_(shown))
    if wanted.agent_id is not None:
        found.append(PosTransaction.agent_id == wanted.agent_id)
    return found


def window(start: str | None, end: str | None, zone: ZoneInfo) -> tuple[datetime | None, datetime | None]:
    """Return the half-open span of time between two dates, each optional. Raises DomainError with every problem."""
    problems: list[Problem] = []
    first = _moment("startDate", start, zone, problems)
    last = _moment("endDate", end, zone, problems)
    if problems:
        raise _bad_request(problems)
    begin, until = first and first[0], last and last[1]
    if begin and until and begin >= until:
        raise _bad_request([Problem("invalid", "endDate comes before startDate.", "#/endDate")])
    return begin, until


def _moment(name: str, text: str | None, zone: ZoneInfo, problems: list[Problem]) -> tuple[datetime, datetime] | None:
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
        raise ValueError("Nothing was paid then.")
    return starts_at(day, zone), ends_at(day, zone)


def _instant(moment: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """Return a time, in `zone` where it names none, and the microsecond after it. Raises ValueError and
    OverflowError."""
    if moment.year not in YEARS:
        raise ValueError("Nothing was paid then.")
    moment = moment if moment.tzinfo else moment.replace(tzinfo=zone)
    return moment, moment + timedelta(microseconds=1)


def _bad_request(problems: list[Problem]) -> DomainError:
    words = problems[0].message if len(problems) == 1 else f"{len(problems)} things need fixing."
    return DomainError(words, "bad_request", errors=[problem.as_json() for problem in problems])
