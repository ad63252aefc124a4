"""The effect of a tap on an intent. The row is changed, and what happened is written as events."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from app.adapters.simulator import news
from app.adapters.simulator.models import SimulatorIntent
from app.adapters.simulator.views import intent_at, status_at
from app.domain.pos.processor import IntentStatus, InvalidState, OutcomeUnknown, PaymentError
from app.domain.pos.simulator import Answer, CardNotRead, SimulatedCard, Tap

SLOW = timedelta(seconds=3)


def present(session: Session, row: SimulatorIntent, tap: Tap, now: datetime) -> bool:
    """Present a card to the reader; False for a repeated tap of the card that paid, which changes nothing. Raises
    CardNotRead, InvalidState, and OutcomeUnknown where the tap never reached the simulator."""
    status = status_at(row, now)
    if row.card == tap.card.name and status not in (IntentStatus.REQUIRES_PAYMENT_METHOD, IntentStatus.CANCELED):
        return False
    if status is not IntentStatus.REQUIRES_PAYMENT_METHOD:
        raise InvalidState("This payment expects no card.", intent_at(row, now))
    _check_read(tap)
    if tap.card.answer is Answer.NEVER_MADE:
        raise OutcomeUnknown("The card reader had no answer in time.")
    declined = tap.card.issuer_declines(row.amount, tap.pin, is_second_tap=row.card == tap.card.name)
    row.card, row.has_pin = tap.card.name, tap.card.asks_for_pin
    row.charge_id = f"ch_sim_{uuid.uuid4().hex[:24]}"  # Of each attempt, also one that is declined.
    if declined:
        _refuse(row, declined)
    else:
        _accept(row, tap.card, now)
    news.note_intent(session, row, now, tap.card.delivery)
    return True


def _check_read(tap: Tap) -> None:
    if tap.card.unreadable:
        code, reason = tap.card.unreadable
        raise CardNotRead(reason, code)
    if tap.card.asks_for_pin and tap.pin is None:
        raise CardNotRead("The card asks for its PIN.", "pin_required")


def _refuse(row: SimulatorIntent, why: PaymentError) -> None:
    row.error_code, row.decline_code = why.code, why.decline_code or None


def _accept(row: SimulatorIntent, card: SimulatedCard, now: datetime) -> None:
    is_slow = card.becomes is IntentStatus.PROCESSING
    row.status = (IntentStatus.SUCCEEDED if is_slow else card.becomes).value
    row.settles_at = now + SLOW if is_slow else None
    row.error_code = row.decline_code = None
