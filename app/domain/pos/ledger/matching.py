"""Matching of the processor's intents with the shop's transactions."""

from __future__ import annotations

from app.domain.pos.ledger.difference import Difference, DifferenceKind
from app.domain.pos.ledger.differences import note_difference
from app.domain.pos.models import PosTransaction
from app.domain.pos.processor import Intent
from app.domain.shared.author import Author
from app.domain.shared.money import format_money

TRANSACTION_ID, SITE_ID = "transactionId", "siteId"


def transaction_id_of(intent: Intent) -> str | None:
    """Return the id that the shop gave the intent when it created it."""
    return intent.metadata.get(TRANSACTION_ID)


def agrees(known: PosTransaction, intent: Intent) -> bool:
    """Whether an intent is a transaction's: the one whose id it has or, while it has none, one that names it for the
    same amount and currency. The account was compared before, since intents are read from one."""
    if known.processor_intent_id is not None:
        return known.processor_intent_id == intent.id
    same_money = (intent.amount, intent.currency) == (known.amount_in_pence, known.currency)
    return same_money and transaction_id_of(intent) == known.id


def note_mismatch(author: Author, known: PosTransaction, intent: Intent) -> None:
    """Note an intent that names a transaction and is not its own."""
    ours = f"{format_money(known.amount_in_pence, known.currency)}, {known.processor_intent_id or 'no intent'}"
    theirs = f"{format_money(intent.amount, intent.currency)}, {intent.id}"
    difference = Difference(
        DifferenceKind.OTHER_INTENT, known.processor_account_id, intent.id, known.id, ours=ours, theirs=theirs
    )
    note_difference(author, difference)
