"""Cash movements: cash that is put into the drawer of a work session, or taken out of it, other than by a payment. One
is stored in one transaction with its entries in the activity log and the journal."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import selectinload

from app.domain.pos import journal, rules, sessions
from app.domain.pos.journal import EntryType, MoneyEvent
from app.domain.pos.models import PosAgent, PosCashMovement, PosSession
from app.domain.pos.payments import idempotency
from app.domain.pos.payments.cashier import Cashier
from app.domain.pos.payments.idempotency import Claim, KeyedRequest
from app.domain.pos.query_dates import span_of_dates
from app.domain.pos.states import CASH
from app.domain.shared.author import Author
from app.domain.shared.money import format_money
from app.domain.shared.paging import Paged
from app.domain.shared.problems import Forbidden, Invalid
from app.domain.shared.text import one_line
from app.domain.sites import activity
from app.domain.sites.settings import settings_of
from app.domain.sites.sites import time_zone_of
from app.domain.work.context import WorkContext
from app.extensions import db

OPERATION = "cash_movement"


class MovementType(StrEnum):
    """PAY_IN puts cash into the drawer; PAY_OUT takes cash out to spend it, DROP to bring it to the safe."""

    PAY_IN = "PAY_IN"
    PAY_OUT = "PAY_OUT"
    DROP = "DROP"

    @property
    def label(self) -> str:
        return _LABELS[self]

    def signed(self, amount: int) -> int:
        """Return an amount as the drawer sees it."""
        return amount if self is MovementType.PAY_IN else -amount


_LABELS = {MovementType.PAY_IN: "Pay in", MovementType.PAY_OUT: "Pay out", MovementType.DROP: "Drop"}


@dataclass(frozen=True, slots=True)
class MovementRequest:
    """A request to move cash; `amount` in minor units, more than nothing. `key` makes repetitions of one request the
    same movement."""

    type: MovementType
    amount: int
    reason: str
    key: str | None = None


@dataclass(frozen=True, slots=True)
class CashMoved:
    movement: PosCashMovement
    is_replayed: bool = False


def move_cash(
    context: WorkContext, cashier: Cashier, request: MovementRequest, may_begin: Callable[[], None] = lambda: None
) -> CashMoved:
    """Store a cash movement in the cashier's work session; under a repeated key, return the one that was stored. Call
    it outside a transaction. `may_begin` as for a payment.

    Raises Unprocessable `amount_invalid` or `idempotency_mismatch`, Invalid for the reason, Forbidden `cash_disabled`
    or `cash_movements_not_permitted`, NotFound `work_session_not_found` and Conflict `work_session_closed`.
    """
    rules.check_amount(request.amount)
    reason = one_line(request.reason)
    if problems := rules.note_problems(reason, "The reason", rules.LONGEST_REASON, "#/reason"):
        raise Invalid(problems)
    keyed = None
    if request.key is not None:
        content = asdict(request) | {"location": cashier.location_id}
        keyed = KeyedRequest(cashier.user_id, cashier.location_id, OPERATION, request.key, content)
    return context.commit(lambda: _move(cashier, request, reason, keyed, may_begin))


def _move(
    cashier: Cashier, request: MovementRequest, reason: str, keyed: KeyedRequest | None, may_begin: Callable[[], None]
) -> CashMoved:
    author, movement_id = cashier.author, str(uuid.uuid4())
    claim = idempotency.claim(author, keyed, movement_id) if keyed else Claim(movement_id, is_new=True)
    if not claim.is_new:
        return CashMoved(db.session.get_one(PosCashMovement, claim.record_id), is_replayed=True)
    _check_allowed(cashier)
    session = sessions.hold_open(author.site_id, cashier.session_id)
    may_begin()
    movement = PosCashMovement(
        id=movement_id,
        site_id=author.site_id,
        location_id=cashier.location_id,
        session_id=session.id,
        agent_id=cashier.agent_id,
        type=request.type.value,
        amount=request.amount,
        reason=reason,
        created_at=author.now(),
    )
    db.session.add(movement)
    db.session.flush()
    if keyed:
        idempotency.note_answer(author, keyed, 201)
    _record(author, movement, request.type, session)
    return CashMoved(movement)


def _check_allowed(cashier: Cashier) -> None:
    """Check that the shop takes cash, and that the cashier may move it, as admins may. Raises Forbidden."""
    if not settings_of(cashier.author.site_id)["posAllowCash"]:
        raise Forbidden("This shop takes no cash.", "cash_disabled")
    agent = db.session.get(PosAgent, cashier.agent_id) if cashier.agent_id else None
    if not cashier.is_admin and (agent is None or not agent.can_move_cash):
        message = "You may not pay in, pay out or drop cash. Ask an admin."
        raise Forbidden(message, "cash_movements_not_permitted")


def _record(author: Author, movement: PosCashMovement, type_: MovementType, session: PosSession) -> None:
    """Record a movement in the activity log, then in the journal, which is locked last."""
    summary = f"{type_.label} of {format_money(movement.amount, session.currency)}: {movement.reason}"
    activity.record(author, "pos.cash_movement", ("pos_session", session.id), summary)
    db.session.flush()
    event = MoneyEvent(
        EntryType(type_.value),
        movement.created_at,
        session.id,
        amount=type_.signed(movement.amount),
        tender_type=CASH,
    )
    journal.append(author.clock, author.site_id, event)


def movements_of_location(
    site_id: int, location_id: int, dates: tuple[str | None, str | None], page_number: int, page_size: int
) -> Paged[PosCashMovement]:
    """Return a page of the cash movements at a location, the newest first. `dates` are a first and a last one, each
    optional, as clients write them. Raises DomainError `bad_request` for an invalid date."""
    row = PosCashMovement
    where: list[ColumnElement[bool]] = [row.site_id == site_id, row.location_id == location_id]
    if any(text is not None for text in dates):
        start, end = span_of_dates(*dates, ZoneInfo(time_zone_of(site_id)))
        where += [row.created_at >= start] if start else []
        where += [row.created_at < end] if end else []
    total = db.session.scalar(select(func.count()).select_from(row).where(*where)) or 0
    query = select(row).where(*where).order_by(row.created_at.desc(), row.id.desc())
    found = db.session.scalars(query.limit(page_size).offset((page_number - 1) * page_size)).all()
    return Paged(found, page_number, page_size, total)


def movements_of_session(session: PosSession) -> Sequence[PosCashMovement]:
    """Return the cash movements of a session with their agents, the oldest first."""
    row = PosCashMovement
    query = select(row).where(row.site_id == session.site_id, row.session_id == session.id)
    return db.session.scalars(query.options(selectinload(row.agent)).order_by(row.created_at, row.id)).all()
