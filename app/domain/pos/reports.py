"""The reports of the till: today beside the same weekday a week ago, and the X and Z report of a work session. A few
statements each, however much was sold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, and_, case, cast, func, or_, select

from app.domain.pos.models import ATTENTION, MONEY_SUM, PosAgent, PosLocation, PosRefund, PosSession, PosTransaction
from app.domain.pos.report_figures import (
    CountedPayments,
    DayFigures,
    ReportType,
    Sale,
    SessionReport,
    Unresolved,
    sums_by_brand,
    takings_by_agent,
    takings_by_hour,
    total_of,
)
from app.domain.pos.states import CASH, OPEN_STATUSES, PAID_STATUSES, WAITING_STATUSES, TransactionStatus
from app.domain.shared.clock import Clock, ends_at, same_time_before, starts_at
from app.domain.sites.sites import currency_of, time_zone_of
from app.extensions import db

WEEK = 7
# A payment is given up after half an hour, and processors repeat their events for some days: one that was created
# earlier than this before a day was not captured on it. Keeps the statement to the rows of a fortnight.
LONGEST_PENDING = timedelta(days=7)
MOST_SESSIONS = 200
Span = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class ActiveAgent:
    """An agent with an open work session, the one seen last. `taken` is what they took today, in minor units;
    `more_devices` counts their other open sessions."""

    id: int
    display_name: str
    location: str | None
    device: str | None
    started_at: datetime
    last_seen_at: datetime
    taken: int
    more_devices: int = 0


@dataclass(frozen=True, slots=True)
class Attention:
    """Numbers of payments whose outcome is unknown, and of those with an anomaly."""

    unknown: int
    anomalies: int


@dataclass(frozen=True, slots=True)
class Today:
    """The figures of today and of the same weekday a week ago. `hour` is that of local time. `before` counts up to the
    same time a week ago, `hours_before` that whole day."""

    day: date
    hour: int
    day_before: date
    time_zone: str
    currency: str
    figures: DayFigures
    before: DayFigures
    hours: tuple[int, ...]
    hours_before: tuple[int, ...]
    agents: Sequence[ActiveAgent]


def figures_of_today(clock: Clock, site_id: int) -> Today:
    time_zone = time_zone_of(site_id)
    zone, now = ZoneInfo(time_zone), clock.now()
    day = now.astimezone(zone).date()
    day_before = day - timedelta(days=WEEK)
    span = (starts_at(day, zone), ends_at(day, zone))
    whole_before = (starts_at(day_before, zone), ends_at(day_before, zone))
    until_before = (whole_before[0], same_time_before(now, WEEK, zone))
    sales = _sales(site_id, span, whole_before)
    sold, sold_before = _sales_within(sales, span), _sales_within(sales, whole_before)
    return Today(
        day=day,
        hour=now.astimezone(zone).hour,
        day_before=day_before,
        time_zone=time_zone,
        currency=currency_of(site_id),
        figures=_day_figures(site_id, sold, span),
        before=_day_figures(site_id, _sales_within(sales, until_before), until_before),
        hours=takings_by_hour(sold, zone),
        hours_before=takings_by_hour(sold_before, zone),
        agents=_active_agents(site_id, now, takings_by_agent(sold)),
    )


def count_attention(site_id: int) -> Attention:
    """Count the payments that need attention, in one statement, on an index that holds such payments alone."""
    unknown, anomaly = PosTransaction.status == TransactionStatus.UNKNOWN, PosTransaction.anomaly.is_not(None)
    query = select(func.count().filter(unknown), func.count().filter(anomaly)).select_from(PosTransaction)
    return Attention(*db.session.execute(query.where(PosTransaction.site_id == site_id, ATTENTION)).one())


def has_agents(site_id: int) -> bool:
    query = select(PosAgent.id).where(PosAgent.site_id == site_id, PosAgent.enabled.is_(True)).limit(1)
    return db.session.scalar(query) is not None


def _sales(site_id: int, *spans: Span) -> list[Sale]:
    taken = PosTransaction.captured_at
    earliest = min(start for start, _ in spans) - LONGEST_PENDING
    row = PosTransaction
    query = select(row.agent_id, taken, row.captured_amount, row.tender_type, row.tip_in_pence).where(
        row.site_id == site_id,
        row.created_at >= earliest,
        row.status.in_(PAID_STATUSES),
        or_(*(and_(taken >= start, taken < end) for start, end in spans)),
    )
    sales = []
    for agent_id, at, captured, tender, wanted_tip in db.session.execute(query):
        tip = min(wanted_tip, captured)
        if at is not None:
            sales.append(Sale(agent_id, at, captured - tip, tender == CASH, tip))
    return sales


def _sales_within(sales: Sequence[Sale], span: Span) -> list[Sale]:
    return [sale for sale in sales if span[0] <= sale.at < span[1]]


def _day_figures(site_id: int, sales: Sequence[Sale], span: Span) -> DayFigures:
    start, end = span
    gross = sum(sale.amount for sale in sales)
    refunded = select(func.coalesce(func.sum(cast(PosRefund.amount, MONEY_SUM)), 0)).where(
        PosRefund.site_id == site_id,
        PosRefund.status == "SUCCEEDED",
        PosRefund.created_at >= start,
        PosRefund.created_at < end,
    )
    declined = select(func.coalesce(func.sum(PosTransaction.attempts), 0)).where(
        PosTransaction.site_id == site_id, PosTransaction.created_at >= start, PosTransaction.created_at < end
    )
    refunds, tries = (int(db.session.scalar(query) or 0) for query in (refunded, declined))
    in_cash, tips = sum(sale.amount for sale in sales if sale.in_cash), sum(sale.tip for sale in sales)
    return DayFigures(len(sales), gross, refunds, tries, in_cash, tips)


def _active_agents(site_id: int, now: datetime, taken: dict[int, int]) -> list[ActiveAgent]:
    """Return the agents with a live work session, the one seen last first."""
    query = (
        select(PosAgent.id, PosAgent.display_name, PosLocation.display_name.label("location"), PosSession)
        .join(PosAgent, PosAgent.id == PosSession.agent_id)
        .outerjoin(PosLocation, PosLocation.id == PosSession.location_id)
        .where(PosSession.site_id == site_id, PosSession.ended_at.is_(None), PosSession.expires_at > now)
        .order_by(PosSession.last_seen_at.desc(), PosSession.id)
        .limit(MOST_SESSIONS)
    )
    sessions = db.session.execute(query).all()
    devices = Counter(agent_id for agent_id, *_ in sessions)
    agents: dict[int, ActiveAgent] = {}
    for agent_id, name, location, session in sessions:
        latest = ActiveAgent(
            id=agent_id,
            display_name=name,
            location=location,
            device=session.device_name,
            started_at=session.started_at,
            last_seen_at=session.last_seen_at,
            taken=taken.get(agent_id, 0),
            more_devices=devices[agent_id] - 1,
        )
        agents.setdefault(agent_id, latest)
    return list(agents.values())


def report_of_session(clock: Clock, session: PosSession) -> SessionReport:
    """Return the report of a session: X while it is not closed, then Z; computed each time, with three queries."""
    until = session.closed_at
    cards = sums_by_brand([*_session_payments(session.id, until), *_session_refunds(session.id, until)])
    return SessionReport(
        type=ReportType.X if until is None else ReportType.Z,
        generated_at=clock.now(),
        currency=session.currency,
        cards=cards,
        total=total_of(cards),
        unresolved=_session_unresolved(session.id, until),
        opening_float=session.opening_float,
        counted_cash=session.counted_cash,
    )


def _session_payments(session_id: str, until: datetime | None) -> Iterable[CountedPayments]:
    gross = cast(func.sum(PosTransaction.captured_amount), MONEY_SUM)
    query = select(PosTransaction.card_brand, func.count(), gross).where(
        PosTransaction.session_id == session_id, PosTransaction.status.in_([str(status) for status in PAID_STATUSES])
    )
    if until is not None:
        query = query.where(PosTransaction.captured_at <= until)
    for brand, count, amount in db.session.execute(query.group_by(PosTransaction.card_brand)):
        yield CountedPayments(brand, count, int(amount))


def _session_refunds(session_id: str, until: datetime | None) -> Iterable[CountedPayments]:
    given_back = cast(func.sum(PosRefund.amount), MONEY_SUM)
    query = (
        select(PosTransaction.card_brand, func.count(), given_back)
        .join(PosTransaction, PosTransaction.id == PosRefund.transaction_id)
        .where(PosTransaction.session_id == session_id, PosRefund.status == "SUCCEEDED")
    )
    if until is not None:
        query = query.where(PosRefund.created_at <= until)
    for brand, count, amount in db.session.execute(query.group_by(PosTransaction.card_brand)):
        yield CountedPayments(brand, 0, 0, count, int(amount))


def _session_unresolved(session_id: str, until: datetime | None) -> Unresolved:
    """Return the sums of a session's open payments, and of those that were paid only after the session was closed."""
    waits = PosTransaction.status.in_([str(status) for status in WAITING_STATUSES])
    which: ColumnElement[bool] = PosTransaction.status.in_([str(status) for status in OPEN_STATUSES])
    if until is not None:
        which = or_(which, PosTransaction.captured_at > until)
    amount, none = cast(PosTransaction.amount_in_pence, MONEY_SUM), cast(0, MONEY_SUM)
    sums = func.sum(amount), func.sum(case((waits, 1), else_=0)), func.sum(case((waits, amount), else_=none))
    query = select(func.count(), *sums).where(PosTransaction.session_id == session_id, which)
    return Unresolved(*(int(figure or 0) for figure in db.session.execute(query).one()))
