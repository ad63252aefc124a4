"""The till today, beside the same weekday a week ago: a few statements, however much was sold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import and_, cast, func, or_, select

from app.domain.pos.models import ATTENTION, MONEY_SUM, PosAgent, PosLocation, PosRefund, PosSession, PosTransaction
from app.domain.pos.reports.day_figures import DayFigures, Sale, by_hour, takings_by_agent
from app.domain.pos.states import PAID_STATUSES, TransactionStatus
from app.domain.shared.clock import Clock
from app.domain.shared.local_days import ends_at, same_time_before, starts_at
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


def today(clock: Clock, site_id: int) -> Today:
    time_zone = time_zone_of(site_id)
    zone, now = ZoneInfo(time_zone), clock.now()
    day = now.astimezone(zone).date()
    day_before = day - timedelta(days=WEEK)
    span = (starts_at(day, zone), ends_at(day, zone))
    whole_before = (starts_at(day_before, zone), ends_at(day_before, zone))
    until_before = (whole_before[0], same_time_before(now, WEEK, zone))
    sales = _sales(site_id, span, whole_before)
    sold, sold_before = _within(sales, span), _within(sales, whole_before)
    return Today(
        day=day,
        hour=now.astimezone(zone).hour,
        day_before=day_before,
        time_zone=time_zone,
        currency=currency_of(site_id),
        figures=_figures(site_id, sold, span),
        before=_figures(site_id, _within(sales, until_before), until_before),
        hours=by_hour(sold, zone),
        hours_before=by_hour(sold_before, zone),
        agents=_active_agents(site_id, now, takings_by_agent(sold)),
    )


def attention(site_id: int) -> Attention:
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
    query = select(PosTransaction.agent_id, taken, PosTransaction.captured_amount).where(
        PosTransaction.site_id == site_id,
        PosTransaction.created_at >= earliest,
        PosTransaction.status.in_(PAID_STATUSES),
        or_(*(and_(taken >= start, taken < end) for start, end in spans)),
    )
    return [Sale(agent_id, at, amount) for agent_id, at, amount in db.session.execute(query) if at is not None]


def _within(sales: Sequence[Sale], span: Span) -> list[Sale]:
    return [sale for sale in sales if span[0] <= sale.at < span[1]]


def _figures(site_id: int, sales: Sequence[Sale], span: Span) -> DayFigures:
    gross = sum(sale.amount for sale in sales)
    return DayFigures(len(sales), gross, _refunded(site_id, span), _declined(site_id, span))


def _refunded(site_id: int, span: Span) -> int:
    given = func.coalesce(func.sum(cast(PosRefund.amount, MONEY_SUM)), 0)
    made = PosRefund.created_at >= span[0], PosRefund.created_at < span[1]
    query = select(given).where(PosRefund.site_id == site_id, PosRefund.status == "SUCCEEDED", *made)
    return int(db.session.scalar(query) or 0)


def _declined(site_id: int, span: Span) -> int:
    created = PosTransaction.created_at >= span[0], PosTransaction.created_at < span[1]
    query = select(func.coalesce(func.sum(PosTransaction.attempts), 0)).where(
        PosTransaction.site_id == site_id, *created
    )
    return int(db.session.scalar(query) or 0)


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
