"""Differences between the shop's books and the payment processor: stored, each alerted, and settled by an admin or once
both agree again; and the matching of the processor's intents with the shop's transactions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date

from sqlalchemy import ColumnElement, func, select

from app.domain.alerts.alerts import end_alert, raise_alert
from app.domain.alerts.causes import Cause
from app.domain.pos.ledger_comparison import Difference, DifferenceKind
from app.domain.pos.models import LedgerDifference, PosTransaction
from app.domain.pos.processor import Intent
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.money import format_money
from app.domain.shared.records import existing, find_record, upsert
from app.domain.sites import activity
from app.extensions import db

MOST_LISTED = 200
LONGEST = 100
TRANSACTION_ID, SITE_ID = "transactionId", "siteId"


def note_difference(author: Author, difference: Difference, day: date | None = None) -> None:
    """Store a difference, or update the unsettled one of the same intent and kind, and raise the alert unless it was
    corrected. Call it in a transaction."""
    now = author.now()
    settled = {"settled_at": now, "settled_by": author.name[:100]} if difference.corrected else {}
    changing = {
        "transaction_id": difference.transaction_id,
        "ours": difference.ours[:LONGEST],
        "theirs": difference.theirs[:LONGEST],
        "corrected": difference.corrected,
        "found_at": now,
        "day": day or now.date(),
    } | settled
    identity = {"site_id": author.site_id, "intent_id": difference.intent_id, "kind": difference.kind.value}
    inserted = upsert(LedgerDifference).values(**identity, account_id=difference.account_id, **changing)
    db.session.execute(
        inserted.on_conflict_do_update(
            index_elements=list(identity), index_where=LedgerDifference.settled_at.is_(None), set_=changing
        )
    )
    if difference.corrected:
        return
    detail = f"{difference.kind.label}: here {difference.ours or 'nothing'}, there {difference.theirs or 'nothing'}."
    raise_alert(author.clock, Cause.PAYMENT_MISMATCH, detail, author.site_id)


def unsettled_differences(site_id: int) -> Sequence[LedgerDifference]:
    """Return the unsettled differences, the latest first, at most MOST_LISTED."""
    query = select(LedgerDifference).where(*_is_unsettled(site_id)).order_by(LedgerDifference.id.desc())
    return db.session.scalars(query.limit(MOST_LISTED)).all()


def count_unsettled(site_id: int) -> int:
    """Return how many differences an admin should look at: the badge of Mobile POS."""
    return db.session.scalar(select(func.count()).where(*_is_unsettled(site_id))) or 0


def settle_difference(author: Author, difference_id: int) -> LedgerDifference:
    """Settle a difference in the name of an admin. Raises NotFound. Call it in a transaction."""
    difference = find_record(LedgerDifference, author.site_id, difference_id, to_change=True)
    found = existing(difference, "There is no such difference.")
    if found.settled_at is None:
        found.settled_at, found.settled_by = author.now(), author.name[:100]
        summary = f"Settled a difference with the payment processor: {DifferenceKind(found.kind).label}"
        activity.record(author, "pos.difference_settled", ("pos_difference", str(found.id)), summary)
        db.session.flush()
        end_alert_if_settled(author.clock, author.site_id)
    return found


def settle_agreeing(author: Author, account_id: str, agreeing: Collection[str]) -> None:
    """Settle the differences about intents on which both sides agree again. Call it in a transaction."""
    which = (
        *_is_unsettled(author.site_id),
        LedgerDifference.account_id == account_id,
        LedgerDifference.kind != DifferenceKind.OTHER_INTENT,
    )
    for difference in db.session.scalars(select(LedgerDifference).where(*which)):
        if difference.intent_id in agreeing:
            difference.settled_at, difference.settled_by = author.now(), author.name[:100]
    db.session.flush()


def end_alert_if_settled(clock: Clock, site_id: int) -> None:
    if not count_unsettled(site_id):
        end_alert(clock, Cause.PAYMENT_MISMATCH, site_id)


def _is_unsettled(site_id: int) -> tuple[ColumnElement[bool], ...]:
    return LedgerDifference.site_id == site_id, LedgerDifference.settled_at.is_(None)


def transaction_id_of(intent: Intent) -> str | None:
    """Return the id that the shop gave the intent when it created it."""
    return intent.metadata.get(TRANSACTION_ID)


def is_intent_of(payment: PosTransaction, intent: Intent) -> bool:
    """Whether an intent is a transaction's: the one whose id it has or, while it has none, one that names it for the
    same amount and currency. The account was compared before, since intents are read from one."""
    if payment.processor_intent_id is not None:
        return payment.processor_intent_id == intent.id
    same_money = (intent.amount, intent.currency) == (payment.charged_amount, payment.currency)
    return same_money and transaction_id_of(intent) == payment.id


def note_other_intent(author: Author, payment: PosTransaction, intent: Intent) -> None:
    """Note an intent that names a transaction and is not its own."""
    ours = f"{format_money(payment.charged_amount, payment.currency)}, {payment.processor_intent_id or 'no intent'}"
    theirs = f"{format_money(intent.amount, intent.currency)}, {intent.id}"
    difference = Difference(
        DifferenceKind.OTHER_INTENT, payment.processor_account_id, intent.id, payment.id, ours=ours, theirs=theirs
    )
    note_difference(author, difference)
