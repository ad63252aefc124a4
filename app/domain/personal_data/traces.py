"""Replacement of a person's names and addresses in records that are about something else: in actors and in texts. Call
it in a transaction, before the person's own records are erased."""

from __future__ import annotations

import json
import re
import string
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Table, Text, and_, cast, func, or_, select, update

from app.domain.orders.models import Order
from app.domain.personal_data.classification import searched_columns
from app.domain.personal_data.people import Person, spellings
from app.domain.pos.models import PosAgent, PosRefund, PosSession, PosTransaction, PosTransactionEvent
from app.domain.shared.paging import batched
from app.domain.sites.models import AuditEntry
from app.extensions import Base, db

ADDRESS = "erased address"
WORDS = "erased"
FEWEST_DIGITS = 5  # A shorter number may be anything.
LOOKED_FOR_AT_ONCE = 40  # Words: each has several forms in several columns, and SQLite nests conditions 1,000 deep.
_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)  # All that SQLite makes lower.
SETTLED = "settled"  # The transaction event whose detail ends with a person's note.
VOID = "void"  # The transaction event whose detail is a person's reason.


@dataclass(frozen=True, slots=True)
class Replacement:
    """The words to replace in texts, and what is written in their place, whatever the case."""

    words: Mapping[str, str]

    @property
    def pattern(self) -> re.Pattern[str]:
        longest_first = sorted(self.words, key=len, reverse=True)
        return re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in longest_first), re.IGNORECASE)

    def writer(self) -> Callable[[Any], Any]:
        """Return the function that replaces the words in a text, or in all texts of a value of JSON."""
        pattern, by_word = self.pattern, {word.casefold(): new for word, new in self.words.items()}

        def rewritten(value: Any) -> Any:
            if isinstance(value, str):
                return pattern.sub(lambda found: by_word.get(found.group().casefold(), WORDS), value)
            if isinstance(value, list):
                return [rewritten(item) for item in value]
            if isinstance(value, dict):
                return {rewritten(name): rewritten(item) for name, item in value.items()}
            return value

        return rewritten


def replace_everywhere(person: Person) -> int:
    """Replace the person's address in every text of the shop, and a user's names: as actors everywhere, in texts only
    those of several words, since a single one may be a product's. Return how many records changed."""
    changed = 0
    replacement = Replacement(_known_everywhere(person))
    for name, actors, texts in searched_columns():
        table = Base.metadata.tables[name]
        changed += _replace_actors(person, table, actors)
        if texts and replacement.words:
            changed += _rewrite(table, texts, _of_sites(person, table), replacement)
    return changed


def replace_in_own_records(person: Person) -> int:
    """Replace what the person's records say of them in the activity log and timelines of their orders, payments and
    account. Return how many records changed."""
    words = {word: WORDS for word in _own_words(person)} | _known_everywhere(person)
    if person.account:
        words |= {name: person.account.pseudonym for name in person.account.names}
    if not words:
        return 0
    replacement = Replacement(words)
    entries, events = AuditEntry.__table__, PosTransactionEvent.__table__
    assert isinstance(entries, Table)
    assert isinstance(events, Table)
    of_payments = PosTransactionEvent.transaction_id.in_(person.payment_ids)
    simulated, is_theirs = _simulated_payments(person)
    return (
        _rewrite(entries, ("summary", "before", "after"), _entries_about(person), replacement)
        + _rewrite(events, ("detail",), of_payments, replacement)
        + _rewrite(simulated, ("description", "metadata"), is_theirs, replacement)
    )


def _simulated_payments(person: Person) -> tuple[Table, ColumnElement[bool]]:
    """Return the simulator's table of payments, and the condition for the person's. The simulator stands for another
    system, but keeps what it was sent in the same database."""
    table = Base.metadata.tables["simulator_intents"]
    intents = select(PosTransaction.processor_intent_id).where(
        person.payments, PosTransaction.processor_intent_id.is_not(None)
    )
    return table, table.c.id.in_(intents)


def done_by(person: Person) -> ColumnElement[bool]:
    """Return the condition for entries of the activity log whose actor is the person."""
    assert person.account is not None, "only a user does something"
    return and_(AuditEntry.site_id.in_(person.account.site_ids), AuditEntry.actor.in_(person.account.names))


def _known_everywhere(person: Person) -> dict[str, str]:
    words = dict.fromkeys(spellings(person.email), ADDRESS) if person.email else {}
    if person.account:
        words |= {name: person.account.pseudonym for name in person.account.names if len(name.split()) > 1}
    return words


def _own_words(person: Person) -> set[str]:
    """Return the words that were typed about the person, or by them."""
    found: set[str] = set()
    for row in db.session.execute(
        select(
            *(Order.contact_name, Order.contact_email, Order.contact_phone, Order.note),
            *(Order.delivery_recipient, Order.delivery_line1),
        ).where(person.orders)
    ):
        found.update(row)
    found.update(db.session.scalars(select(PosRefund.reason).where(PosRefund.transaction_id.in_(person.payment_ids))))
    payments = select(PosTransaction.description, PosTransaction.client_metadata).where(person.payments)
    for description, metadata in db.session.execute(payments):
        found.update((description, *map(str, metadata.values())))
    found.update(_notes(person))
    return {word for word in found if word.strip() and not (word.isdigit() and len(word) < FEWEST_DIGITS)}


def _notes(person: Person) -> Iterator[str]:
    noted = select(PosTransactionEvent.action, PosTransactionEvent.detail).where(
        PosTransactionEvent.transaction_id.in_(person.payment_ids), PosTransactionEvent.action.in_((SETTLED, VOID))
    )
    for action, detail in db.session.execute(noted):
        yield detail if action == VOID else detail.partition(": ")[2]
    if person.account:
        notes = select(PosSession.closing_note).where(PosSession.user_id == person.account.user_id)
        yield from db.session.scalars(notes)


def _entries_about(person: Person) -> ColumnElement[bool]:
    """Return the condition for entries of the activity log about the person's orders, payments, account and agents."""

    def about(kind: str, ids: Any) -> ColumnElement[bool]:
        return and_(AuditEntry.subject_type == kind, AuditEntry.subject_id.in_(ids))

    here = and_(
        AuditEntry.site_id == person.site_id,
        or_(about("order", person.order_ids), about("pos_transaction", person.payment_ids)),
    )
    if person.account is None:
        return here
    user_id = person.account.user_id
    agents = select(cast(PosAgent.id, Text)).where(PosAgent.user_id == user_id)
    sessions = select(PosSession.id).where(PosSession.user_id == user_id)
    return or_(here, about("user", [str(user_id)]), about("pos_agent", agents), about("pos_session", sessions))


def _of_sites(person: Person, table: Table) -> ColumnElement[bool]:
    """Return the condition for rows of the person's sites, and for rows of no site, which are the machine's or another
    system's."""
    if "site_id" not in table.c:
        return table.c[next(iter(table.primary_key.columns.keys()))].is_not(None)
    site_ids = {person.site_id, *(person.account.site_ids if person.account else ())}
    return or_(table.c.site_id.in_(site_ids), table.c.site_id.is_(None))


def _replace_actors(person: Person, table: Table, actors: Collection[str]) -> int:
    if person.account is None:
        return 0
    changed = 0
    for name in actors:
        column = table.c[name]
        theirs = and_(_of_sites(person, table), column.in_(person.account.names))
        result = db.session.execute(update(table).where(theirs).values({name: person.account.pseudonym}))
        changed += result.rowcount  # type: ignore[attr-defined]
    return changed


def _rewrite(table: Table, names: Collection[str], which: ColumnElement[bool], replacement: Replacement) -> int:
    rewritten, parts = replacement.writer(), batched(replacement.words, LOOKED_FOR_AT_ONCE)
    return sum(_rewrite_holders(table, names, which, part, rewritten) for part in parts)


def _rewrite_holders(
    table: Table,
    names: Collection[str],
    which: ColumnElement[bool],
    words: Collection[str],
    rewritten: Callable[[Any], Any],
) -> int:
    """Rewrite the rows that hold one of the words; return how many changed."""
    columns, keys = [table.c[name] for name in names], list(table.primary_key.columns)
    query = select(*keys, *columns).where(which, _may_hold(columns, words))
    changed = 0
    for row in db.session.execute(query).all():
        old = row[len(keys) :]
        new = [rewritten(value) for value in old]
        if new != list(old):
            is_row = and_(*(key == value for key, value in zip(keys, row, strict=False)))
            db.session.execute(update(table).where(is_row).values(dict(zip(names, new, strict=True))))
            changed += 1
    return changed


def _may_hold(columns: Collection[ColumnElement[Any]], words: Collection[str]) -> ColumnElement[bool]:
    forms = {form for word in words for form in _stored_forms(word)}
    texts = [func.lower(cast(column, Text)) for column in columns]
    return or_(*(text.contains(form, autoescape=True) for text in texts for form in forms))


def _stored_forms(word: str) -> set[str]:
    """Return the forms of a word in lower case, as each database understands it, as text and within JSON, which may be
    stored with escapes."""
    written = {word, *(json.dumps(word, ensure_ascii=is_ascii)[1:-1] for is_ascii in (True, False))}
    return {form.lower() for form in written} | {form.translate(_ASCII_LOWER) for form in written}
