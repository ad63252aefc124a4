"""Payments where money and records disagree: staff look, do what is needed and say so."""

from __future__ import annotations

from sqlalchemy import update

from app.domain.pos.models import PosTransaction
from app.domain.pos.payments.transitions import note_of
from app.domain.pos.typed_text import note_problems
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Invalid
from app.domain.shared.records import existing, find_record
from app.domain.shared.text import one_line
from app.domain.sites import audit
from app.extensions import db

LONGEST_NOTE = 200


def resolve_anomaly(author: Author, transaction_id: str, note: str) -> None:
    """Take a payment off the list of those that need a look; the timeline keeps what was wrong and the note. Call it in
    a transaction. Raises Invalid, NotFound, and Conflict where nothing is wrong (any more)."""
    note = one_line(note)
    if problems := note_problems(note, "The note", LONGEST_NOTE, "#/note"):
        raise Invalid(problems)
    known = existing(
        find_record(PosTransaction, author.site_id, transaction_id, to_change=True), "There is no such payment."
    )
    if known.anomaly is None:
        raise Conflict("Nothing is wrong with this payment any more: another user resolved it.")
    anomaly, unchanged = known.anomaly, PosTransaction.version == known.version
    resolved = update(PosTransaction).where(PosTransaction.id == known.id, unchanged)
    db.session.execute(resolved.values(anomaly=None, version=known.version + 1, updated_at=author.now()))
    db.session.add(note_of(author, known, "anomaly resolved", f"{anomaly}: {note}"))
    subject = ("pos_transaction", known.id)
    audit.record(author, "pos.anomaly", subject, f"Resolved “{anomaly}” of a payment: {note}", {"anomaly": anomaly}, {})
    db.session.flush()
