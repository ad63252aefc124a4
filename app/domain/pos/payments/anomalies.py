"""Anomalies of payments that no rule can settle: their words for people, and their resolution by an admin."""

from __future__ import annotations

from app.domain.alerts.alerts import end_alert
from app.domain.alerts.causes import Cause
from app.domain.pos.models import PosTransaction, PosTransactionEvent
from app.domain.pos.typed_text import note_problems
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Invalid
from app.domain.shared.records import existing, find_record
from app.domain.shared.text import one_line
from app.domain.sites import audit
from app.extensions import db

LONGEST_NOTE = 200
WORDS = {
    "unexpected_payment": "The processor took the money after the payment was given up",
    "amount_differs": "The processor has another amount or currency",
    "second_intent": "The processor has a second payment for the same sale",
    "order_paid_twice": "The order had been paid already",
    "refund_failed": "A refund did not reach the card",
    "disputed": "The cardholder disputes it: answer at the processor",
    "refund_unclear": "It is not known whether a refund was made",
}


def anomaly_words(anomaly: str) -> str:
    """Return the sentence that describes an anomaly to people, without its full stop."""
    return WORDS.get(anomaly, anomaly)


def anomaly_detail(known: PosTransaction) -> str:
    """Return the text of the alert about a payment's anomaly."""
    return f"Payment {known.id}: {anomaly_words(known.anomaly or '')}."


def settle_anomaly(author: Author, transaction_id: str, note: str) -> None:
    """Settle the anomaly of a payment in the name of an admin, as when the goods were handed over or the money given
    back, and end its alerts; the timeline keeps the anomaly and the note. Call it in a transaction. Raises Invalid,
    NotFound, and Conflict where nothing is wrong (any more)."""
    note = one_line(note)
    if problems := note_problems(note, "The note", LONGEST_NOTE, "#/note"):
        raise Invalid(problems)
    known = existing(
        find_record(PosTransaction, author.site_id, transaction_id, to_change=True), "There is no such payment."
    )
    if known.anomaly is None:
        raise Conflict("Nothing is wrong with this payment any more: another user saw to it.")
    end_alert(author.clock, Cause.PAYMENT_ANOMALY, author.site_id, known.id)
    end_alert(author.clock, Cause.REFUND_FAILED, author.site_id, known.id)
    words, known.anomaly = anomaly_words(known.anomaly), None
    known.version += 1
    db.session.add(
        PosTransactionEvent(
            site_id=known.site_id,
            transaction_id=known.id,
            at=author.now(),
            actor=author.name[:100],
            action="settled",
            status=known.status,
            detail=f"{words}: {note}",
        )
    )
    audit.record(author, "pos.anomaly_settled", ("pos_transaction", known.id), f"Settled: {words}. {note}")
    db.session.flush()
