"""The Z reports of a shop, listed by location and by the days on which their sessions were closed. Two statements a
page, however many there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, func, select

from app.domain.catalogue.listing import PAGE_SIZE, page_number
from app.domain.pos.models import PosAgent, PosLocation, PosSession
from app.domain.pos.report_figures import SessionReport, report_from_json
from app.domain.shared.addresses import day_in, id_in, reversed_days
from app.domain.shared.clock import ends_at, starts_at
from app.domain.shared.paging import Paged
from app.domain.shared.problems import Problem
from app.domain.sites.models import User
from app.extensions import db

LABELS = {"from": "From", "to": "To", "location": "Location"}
MOST_X_REPORTS = 20
DAYS = (date(2000, 1, 1), date(2199, 12, 31))  # Within these every day begins and ends in every time zone.


@dataclass(frozen=True, slots=True)
class ZReportList:
    """The filters and page of the list, as a query string requests them. An invalid value filters nothing and is named
    in `problems`. Days are those of the shop's time zone, both included."""

    first: date | None = None
    last: date | None = None
    location_id: int | None = None
    page: int = 1
    problems: tuple[Problem, ...] = ()

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> ZReportList:
        first, last = day_in(parameters.get("from")), day_in(parameters.get("to"))
        location_id = id_in(parameters.get("location"))
        read = {"from": first, "to": last, "location": location_id}
        unreadable = [
            Problem("invalid_filter", f"{LABELS[name]}: “{parameters[name][:40]}” cannot be looked for.", f"#/{name}")
            for name, value in read.items()
            if value is None and parameters.get(name)
        ]
        problems = (*unreadable, *reversed_days(first, last))
        return cls(first, last, location_id, page_number(parameters.get("p")), problems)

    @property
    def is_filtered(self) -> bool:
        return replace(self, page=1, problems=()) != ZReportList()

    def query(self, page: int = 1) -> str:
        """Return the query string of a page of this list."""
        parameters = {
            "from": self.first,
            "to": self.last,
            "location": self.location_id,
            "p": "" if page == 1 else page,
        }
        return urlencode({name: str(value) for name, value in parameters.items() if value})


@dataclass(frozen=True, slots=True)
class ZReportRow:
    """A Z report in the list. `person` is who opened the session, `report` None for one from before Z reports were
    stored; `counted` in minor units of `currency`."""

    session_id: str
    number: int | None
    location: str | None
    person: str | None
    closed_at: datetime
    currency: str
    counted: int | None
    report: SessionReport | None


def z_report_page(site_id: int, zone: ZoneInfo, filters: ZReportList) -> Paged[ZReportRow]:
    """Return a page of the shop's Z reports, the latest first."""
    where = [PosSession.site_id == site_id, PosSession.closed_at.is_not(None), *_conditions(zone, filters)]
    total = db.session.scalar(select(func.count()).select_from(PosSession).where(*where)) or 0
    person = func.coalesce(PosAgent.display_name, User.display_name)
    query = (
        select(PosSession, PosLocation.display_name, person)
        .outerjoin(PosLocation, PosLocation.id == PosSession.opened_location_id)
        .outerjoin(PosAgent, PosAgent.id == PosSession.agent_id)
        .outerjoin(User, User.id == PosSession.user_id)
        .where(*where)
        .order_by(PosSession.closed_at.desc(), PosSession.id)
    )
    found = db.session.execute(query.limit(PAGE_SIZE).offset((filters.page - 1) * PAGE_SIZE))
    rows = [_row(session, location, name) for session, location, name in found]
    return Paged(rows, filters.page, PAGE_SIZE, total)


@dataclass(frozen=True, slots=True)
class XReportRow:
    """A work session without a Z report, whose X report can be read. `is_open`: its till is still signed in."""

    session_id: str
    location: str | None
    person: str | None
    started_at: datetime
    is_open: bool


def x_reports(site_id: int) -> list[XReportRow]:
    """Return the latest work sessions of a shop that are not closed, at most MOST_X_REPORTS."""
    query = (
        select(PosSession, PosLocation.display_name, func.coalesce(PosAgent.display_name, User.display_name))
        .outerjoin(PosLocation, PosLocation.id == PosSession.opened_location_id)
        .outerjoin(PosAgent, PosAgent.id == PosSession.agent_id)
        .outerjoin(User, User.id == PosSession.user_id)
        .where(PosSession.site_id == site_id, PosSession.closed_at.is_(None))
        .order_by(PosSession.started_at.desc(), PosSession.id)
    )
    return [
        XReportRow(session.id, location, person, session.started_at, session.ended_at is None)
        for session, location, person in db.session.execute(query.limit(MOST_X_REPORTS))
    ]


def _conditions(zone: ZoneInfo, filters: ZReportList) -> list[ColumnElement[bool]]:
    closed, (earliest, latest) = PosSession.closed_at, DAYS
    found: list[ColumnElement[bool]] = []
    if filters.first is not None:
        found.append(closed >= starts_at(min(max(filters.first, earliest), latest), zone))
    if filters.last is not None:
        found.append(closed < ends_at(min(max(filters.last, earliest), latest), zone))
    if filters.location_id is not None:
        found.append(PosSession.opened_location_id == filters.location_id)
    return found


def _row(session: PosSession, location: str | None, person: str | None) -> ZReportRow:
    assert session.closed_at is not None, "the list is of closed sessions"
    return ZReportRow(
        session_id=session.id,
        number=session.z_number,
        location=location,
        person=person,
        closed_at=session.closed_at,
        currency=session.currency,
        counted=session.counted_cash,
        report=None if session.z_report is None else report_from_json(session.z_report),
    )
