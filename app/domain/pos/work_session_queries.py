"""Queries of work sessions."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import ColumnElement, case, cast, func, or_, select

from app.domain.pos.models import MONEY_SUM, PosLocation, PosRefund, PosSession, PosTransaction
from app.domain.pos.states import OPEN_STATUSES, PAID_STATUSES, WAITING_STATUSES
from app.domain.pos.work_session_report import (
    CountedPayments,
    ReportType,
    SessionReport,
    Unresolved,
    sums_by_brand,
    total_of,
)
from app.domain.shared.clock import Clock
from app.domain.shared.paging import Paged
from app.extensions import db

SESSIONS_SHOWN = 20


def report_of(clock: Clock, session: PosSession) -> SessionReport:
    """Return the report of a session: X while it is not closed, then Z; computed each time, with three queries."""
    until = session.closed_at
    cards = sums_by_brand([*_payments(session.id, until), *_refunds(session.id, until)])
    return SessionReport(
        type=ReportType.X if until is None else ReportType.Z,
        generated_at=clock.now(),
        currency=session.currency,
        cards=cards,
        total=total_of(cards),
        unresolved=_unresolved(session.id, until),
        opening_float=session.opening_float,
        counted_cash=session.counted_cash,
    )


def location_of(session: PosSession) -> PosLocation | None:
    return None if session.location_id is None else db.session.get(PosLocation, session.location_id)


def open_sessions(site_id: int, user_id: int) -> list[PosSession]:
    """Return the open sessions of a user, the latest first."""
    query = select(PosSession).where(PosSession.site_id == site_id, PosSession.user_id == user_id)
    return list(db.session.scalars(query.where(PosSession.ended_at.is_(None)).order_by(PosSession.started_at.desc())))


def past_sessions(site_id: int, user_id: int, page_number: int) -> Paged[PosSession]:
    """Return a page of the ended sessions of a user, the latest first."""
    which = (PosSession.site_id == site_id, PosSession.user_id == user_id, PosSession.ended_at.is_not(None))
    total = db.session.scalar(select(func.count()).select_from(PosSession).where(*which)) or 0
    query = select(PosSession).where(*which).order_by(PosSession.started_at.desc(), PosSession.id)
    rows = db.session.scalars(query.limit(SESSIONS_SHOWN).offset((page_number - 1) * SESSIONS_SHOWN)).all()
    return Paged(rows, page_number, SESSIONS_SHOWN, total)


def _payments(session_id: str, until: datetime | None) -> Iterable[CountedPayments]:
    gross = cast(func.sum(PosTransaction.captured_amount), MONEY_SUM)
    query = select(PosTransaction.card_brand, func.count(), gross).where(
        PosTransaction.session_id == session_id, PosTransaction.status.in_([str(status) for status in PAID_STATUSES])
    )
    if until is not None:
        query = query.where(PosTransaction.captured_at <= until)
    for brand, count, amount in db.session.execute(query.group_by(PosTransaction.card_brand)):
        yield CountedPayments(brand, count, int(amount))


def _refunds(session_id: str, until: datetime | None) -> Iterable[CountedPayments]:
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


def _unresolved(session_id: str, until: datetime | None) -> Unresolved:
    """Return the sums of a session's open payments, and of those that were paid only after the session was closed."""
    waits = PosTransaction.status.in_([str(status) for status in WAITING_STATUSES])
    which: ColumnElement[bool] = PosTransaction.status.in_([str(status) for status in OPEN_STATUSES])
    if until is not None:
        which = or_(which, PosTransaction.captured_at > until)
    amount, none = cast(PosTransaction.amount_in_pence, MONEY_SUM), cast(0, MONEY_SUM)
    sums = func.sum(amount), func.sum(case((waits, 1), else_=0)), func.sum(case((waits, amount), else_=none))
    query = select(func.count(), *sums).where(PosTransaction.session_id == session_id, which)
    return Unresolved(*(int(figure or 0) for figure in db.session.execute(query).one()))
