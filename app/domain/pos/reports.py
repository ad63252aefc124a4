"""The reports of the till: today beside the same weekday a week ago, and the X and Z report of a work session. A few
statements each, however much was sold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, Select, and_, case, cast, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from app.domain.pos.models import (
    ATTENTION,
    MONEY_SUM,
    TAKEN_TIP,
    PosAgent,
    PosCashMovement,
    PosLocation,
    PosRefund,
    PosSession,
    PosTransaction,
)
from app.domain.pos.report_figures import (
    CountedPayments,
    DayFigures,
    LocationSums,
    Movements,
    ReportType,
    Sale,
    SessionReport,
    Unresolved,
    UnresolvedRefunds,
    report_from_json,
    sum_of,
    sums_by_brand,
    takings_by_agent,
    takings_by_hour,
    takings_by_location,
    tips_in_refunds,
)
from app.domain.pos.states import CARD, CASH, OPEN_STATUSES, PAID_STATUSES, WAITING_STATUSES, TransactionStatus
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
class LocationTakings:
    """What was taken at a location today, in minor units without tips, by so many sales."""

    id: int
    display_name: str
    sales: int
    taken: int


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
    locations: Sequence[LocationTakings]


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
        locations=_location_takings(site_id, sold),
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
    query = select(row.agent_id, taken, row.captured_amount, row.tender_type, TAKEN_TIP, row.location_id).where(
        row.site_id == site_id,
        row.created_at >= earliest,
        row.status.in_(PAID_STATUSES),
        or_(*(and_(taken >= start, taken < end) for start, end in spans)),
    )
    sales = []
    for agent_id, at, captured, tender, tip, location_id in db.session.execute(query):
        if at is not None:
            sales.append(Sale(agent_id, at, captured - tip, tender == CASH, tip, location_id))
    return sales


def _sales_within(sales: Sequence[Sale], span: Span) -> list[Sale]:
    return [sale for sale in sales if span[0] <= sale.at < span[1]]


def _day_figures(site_id: int, sales: Sequence[Sale], span: Span) -> DayFigures:
    start, end = span
    gross = sum(sale.amount for sale in sales)
    refunded = select(func.coalesce(func.sum(cast(PosRefund.amount, MONEY_SUM)), 0)).where(
        PosRefund.site_id == site_id,
        _is_made(),
        PosRefund.created_at >= start,
        PosRefund.created_at < end,
    )
    declined = select(func.coalesce(func.sum(PosTransaction.attempts), 0)).where(
        PosTransaction.site_id == site_id, PosTransaction.created_at >= start, PosTransaction.created_at < end
    )
    refunds, tries = (int(db.session.scalar(query) or 0) for query in (refunded, declined))
    in_cash, tips = sum(sale.amount for sale in sales if sale.in_cash), sum(sale.tip for sale in sales)
    of_day = PosRefund.site_id == site_id, PosRefund.created_at >= start, PosRefund.created_at < end
    return DayFigures(len(sales), gross, refunds, tries, in_cash, tips, _tips_refunded(*of_day))


def _tips_refunded(*which: ColumnElement[bool]) -> int:
    """Return how much of the refunds for which the conditions hold was tip, by one statement: of payments with a tip,
    all refunds are read, since the sale is given back first."""
    refund, payment, chosen = PosRefund, PosTransaction, and_(*which)
    with_tip = select(refund.transaction_id).join(payment, payment.id == refund.transaction_id)
    query = (
        select(payment.id, payment.captured_amount - TAKEN_TIP, refund.amount, case((chosen, 1), else_=0))
        .join(payment, payment.id == refund.transaction_id)
        .where(payment.id.in_(with_tip.where(chosen, payment.tip_in_pence > 0)), _is_made())
        .order_by(payment.id, refund.created_at, refund.id)
    )
    total = 0
    for _, rows in groupby(db.session.execute(query), lambda row: row[0]):
        refunds = list(rows)
        parts = tips_in_refunds(refunds[0][1], [amount for _, _, amount, _ in refunds])
        total += sum(part for part, (*_, is_chosen) in zip(parts, refunds, strict=True) if is_chosen)
    return total


def _is_made() -> ColumnElement[bool]:
    """Return the condition of refunds that were made: also those that the processor has only accepted so far count in
    the journal and in what was refunded of the payment."""
    is_accepted = and_(PosRefund.status == "PENDING", PosRefund.processor_refund_id.is_not(None))
    return or_(PosRefund.status == "SUCCEEDED", is_accepted)


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


def _location_takings(site_id: int, sales: Sequence[Sale]) -> list[LocationTakings]:
    """Return the takings by location, the largest first; no statement where nothing was sold."""
    taken = takings_by_location(sales)
    if not taken:
        return []
    named = select(PosLocation.id, PosLocation.display_name).where(PosLocation.site_id == site_id)
    names = {id: name for id, name in db.session.execute(named.where(PosLocation.id.in_(taken)))}
    found = [LocationTakings(id, names.get(id, ""), sums.count, sums.gross) for id, sums in taken.items()]
    return sorted(found, key=lambda one: (-one.taken, one.display_name))


def report_of_session(clock: Clock, session: PosSession) -> SessionReport:
    """Return the report of a session: X while it is not closed, computed with six queries; then Z, as it was stored
    when the session was closed."""
    if session.z_report is not None:
        return report_from_json(session.z_report)
    until = session.closed_at  # Set where the session was closed before Z reports were stored.
    return compute_report(clock, session, ReportType.X if until is None else ReportType.Z, until)


def compute_report(clock: Clock, session: PosSession, type: ReportType, until: datetime | None = None) -> SessionReport:
    """Return the report of a session as its payments, refunds and movements are now; with `until`, as they were
    then."""
    taken = _session_payments(session.id, until)
    given_back = _session_refunds(session.id, until)
    rows: list[_Taken | _GivenBack] = [*taken, *given_back]
    return SessionReport(
        type=type,
        generated_at=clock.now(),
        currency=session.currency,
        cards=sums_by_brand(_counted(rows, CARD)),
        cash=sum_of(_counted(rows, CASH)),
        tips=sum(row.tips for row in taken),
        rounding=sum(row.rounding for row in taken) - sum(row.rounding for row in given_back),
        movements=_session_movements(session.id),
        unresolved=_session_unresolved(session.id, until),
        opening_float=session.opening_float,
        counted_cash=session.counted_cash,
        other_locations=_other_locations(taken, session.opened_location_id),
        unresolved_refunds=_session_unresolved_refunds(session.id),
        tips_refunded=_tips_refunded(PosRefund.session_id == session.id),
    )


@dataclass(frozen=True, slots=True)
class _Taken:
    """The payments of a session of one tender and brand at one location, tips apart."""

    location_id: int
    place: str
    name: str
    tender_type: str
    brand: str | None
    count: int
    gross: int
    tips: int
    rounding: int

    @property
    def counted(self) -> CountedPayments:
        return CountedPayments(self.brand, self.count, self.gross)


@dataclass(frozen=True, slots=True)
class _GivenBack:
    """The refunds of a session in one tender, of payments of one brand."""

    tender_type: str
    brand: str | None
    count: int
    amount: int
    rounding: int

    @property
    def counted(self) -> CountedPayments:
        return CountedPayments(self.brand, 0, 0, self.count, self.amount)


def _counted(rows: Iterable[_Taken | _GivenBack], tender_type: str) -> list[CountedPayments]:
    return [row.counted for row in rows if row.tender_type == tender_type]


def _session_payments(session_id: str, until: datetime | None) -> list[_Taken]:
    payment = PosTransaction
    group = (
        payment.location_id,
        PosLocation.location_id,
        PosLocation.display_name,
        payment.tender_type,
        payment.card_brand,
    )
    amounts = (payment.captured_amount - TAKEN_TIP, TAKEN_TIP, payment.rounding_in_pence)
    sums: Sequence[ColumnElement[Any]] = (func.count(), *(_sum(amount) for amount in amounts))
    query: Select[Any] = (
        select(*group, *sums)
        .join(PosLocation, PosLocation.id == payment.location_id)
        .where(payment.session_id == session_id, payment.status.in_([str(status) for status in PAID_STATUSES]))
    )
    if until is not None:
        query = query.where(payment.captured_at <= until)
    return [_Taken(*row) for row in db.session.execute(query.group_by(*group))]


def _session_refunds(session_id: str, until: datetime | None) -> list[_GivenBack]:
    """Return the refunds that a session made, of payments of any session."""
    group, refund = (PosRefund.tender_type, PosTransaction.card_brand), PosRefund
    query = (
        select(*group, func.count(), _sum(refund.amount), _sum(refund.rounding))
        .join(PosTransaction, PosTransaction.id == refund.transaction_id)
        .where(refund.session_id == session_id, _is_made())
    )
    if until is not None:
        query = query.where(refund.created_at <= until)
    return [_GivenBack(*row) for row in db.session.execute(query.group_by(*group))]


def _session_unresolved_refunds(session_id: str) -> UnresolvedRefunds:
    """Return the sums of the refunds of which it is not known whether the processor made them."""
    refund = PosRefund
    is_open = or_(refund.status == "UNKNOWN", and_(refund.status == "PENDING", refund.processor_refund_id.is_(None)))
    query = select(func.count(), _sum(refund.amount)).where(refund.session_id == session_id, is_open)
    return UnresolvedRefunds(*(int(figure) for figure in db.session.execute(query).one()))


def _sum(amount: ColumnElement[int] | InstrumentedAttribute[Any]) -> ColumnElement[int]:
    return cast(func.coalesce(func.sum(amount), 0), MONEY_SUM)


def _session_movements(session_id: str) -> Movements:
    movement = PosCashMovement
    query = select(movement.type, _sum(movement.amount)).where(movement.session_id == session_id)
    sums = {type_: total for type_, total in db.session.execute(query.group_by(movement.type))}
    return Movements(sums.get("PAY_IN", 0), sums.get("PAY_OUT", 0), sums.get("DROP", 0))


def _other_locations(taken: Sequence[_Taken], opened_at: int | None) -> tuple[LocationSums, ...]:
    """Return the sums of each location but the one where the session was opened, by name."""
    by_location: dict[int, list[_Taken]] = {}
    for row in taken:
        if opened_at is not None and row.location_id != opened_at:
            by_location.setdefault(row.location_id, []).append(row)
    sums = []
    for rows in by_location.values():
        cash, card = (sum_of(_counted(rows, tender)) for tender in (CASH, CARD))
        sums.append(LocationSums(rows[0].place, rows[0].name, cash, card))
    return tuple(sorted(sums, key=lambda each: (each.display_name, each.location_id)))


def _session_unresolved(session_id: str, until: datetime | None) -> Unresolved:
    """Return the sums of a session's open payments, and of those that were paid only after `until`."""
    waits = PosTransaction.status.in_([str(status) for status in WAITING_STATUSES])
    which: ColumnElement[bool] = PosTransaction.status.in_([str(status) for status in OPEN_STATUSES])
    if until is not None:
        which = or_(which, PosTransaction.captured_at > until)
    amount, none = cast(PosTransaction.amount_in_pence + PosTransaction.tip_in_pence, MONEY_SUM), cast(0, MONEY_SUM)
    sums = func.sum(amount), func.sum(case((waits, 1), else_=0)), func.sum(case((waits, amount), else_=none))
    query = select(func.count(), *sums).where(PosTransaction.session_id == session_id, which)
    return Unresolved(*(int(figure or 0) for figure in db.session.execute(query).one()))
