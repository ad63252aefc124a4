"""The timeline of a transaction: its own steps, refunds among them, and the processor's events, in one order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from app.domain.pos.models import PosTransaction, PosTransactionEvent, StoredProcessorEvent
from app.domain.pos.reports.summaries import in_words
from app.domain.pos.states import TransactionStatus
from app.extensions import db

MOST_STEPS = 500


@dataclass(frozen=True, slots=True)
class TimelineStep:
    """A step of a timeline. `source` is till or processor; `status` is that of the transaction after the step."""

    at: datetime
    source: str
    what: str
    actor: str = ""
    status: str = ""
    detail: str = ""


def timeline(transaction: PosTransaction) -> list[TimelineStep]:
    """Return the steps, oldest first; of two at the same moment, the till's own comes first. Two statements."""
    steps = [*_own_steps(transaction), *_news(transaction)]
    return sorted(steps, key=lambda step: step.at)


def _own_steps(transaction: PosTransaction) -> Iterator[TimelineStep]:
    events = PosTransactionEvent
    query = select(events).where(events.site_id == transaction.site_id, events.transaction_id == transaction.id)
    for event in db.session.scalars(query.order_by(events.id).limit(MOST_STEPS)):
        what, status = _step(event)
        yield TimelineStep(event.at, "till", what, event.actor, status, event.detail)


def _step(event: PosTransactionEvent) -> tuple[str, str]:
    """Return the action of an event, in words, and the status after it. A payment begins in the shop, before the
    processor knows of it."""
    if event.action != "create":
        return in_words(event.action), event.status
    return ("Begun", "") if event.status == TransactionStatus.CREATING else ("At the processor", event.status)


def _news(transaction: PosTransaction) -> Iterator[TimelineStep]:
    """Yield the events of the transaction's own processor and account: another's intents may have equal ids."""
    if transaction.processor_intent_id is None:
        return
    events = StoredProcessorEvent
    query = select(events.received_at, events.type, events.outcome).where(
        events.site_id == transaction.site_id,
        events.processor == transaction.processor,
        events.account_id == transaction.processor_account_id,
        events.intent_id == transaction.processor_intent_id,
    )
    for received_at, type_, outcome in db.session.execute(query.order_by(events.id).limit(MOST_STEPS)):
        detail = f"Then: {outcome}" if outcome else "Not looked at yet"
        yield TimelineStep(received_at, "processor", f"News: {type_}", detail=detail)
