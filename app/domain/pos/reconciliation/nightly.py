"""The nightly comparison of a day's payments with the processor's, account by account, and its report."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from zoneinfo import ZoneInfo

from sqlalchemy import Select, or_, select

from app.domain.pos.ledger import SITE_ID, end_alert_if_settled, note_difference, settle_agreeing
from app.domain.pos.ledger_comparison import (
    Difference,
    LedgerRow,
    differences_of,
    missing_intent_differences,
    missing_row_difference,
)
from app.domain.pos.locations import accounts_of
from app.domain.pos.models import PosReconciliation, PosRefund, PosTransaction
from app.domain.pos.payments.transitions import apply_intent, apply_refunds
from app.domain.pos.processor import AccountRef, Intent, PaymentProcessor, ProcessorError
from app.domain.pos.reconciliation.status_updates import LISTED_BEFORE
from app.domain.pos.states import PAID_STATUSES, TransactionStatus
from app.domain.shared.author import Author
from app.domain.shared.paging import batched
from app.domain.sites.sites import time_zone_of
from app.domain.work import leases
from app.domain.work.context import WorkContext
from app.domain.work.leases import Claim, join_or_create, perform
from app.domain.work.models import WorkKind, WorkRequested
from app.events import publish
from app.extensions import db

ACTOR, ACTION = "reconciliation", "nightly comparison"
BATCH = 200
LISTED_BEYOND = timedelta(hours=1)  # An intent is made after its row, by the processor's clock.
RECONCILIATION = WorkKind(
    "pos-reconciliation",
    PosReconciliation,
    lease=timedelta(minutes=1),
    kept=timedelta(days=400),
    most_attempts=3,
    lasts_at_most=timedelta(hours=6),
    exhausted="The comparison broke off again and again; the log of the server may say why.",
    overdue="It was not finished within six hours.",
)


def yesterday(clock_now: datetime, site_id: int) -> date:
    """Return the last whole day of a site, in its time zone."""
    return clock_now.astimezone(ZoneInfo(time_zone_of(site_id))).date() - timedelta(days=1)


def request(author: Author, day: date | None = None) -> PosReconciliation:
    """Request the comparison of a day, yesterday where it is None; return it, or the one under way where there is one.
    Call it in a transaction."""
    run, _ = join_or_create(PosReconciliation, author, day=day or yesterday(author.now(), author.site_id))
    publish(WorkRequested(RECONCILIATION.name, run.id))
    return run


def reconcile(context: WorkContext, processor: PaymentProcessor, run_id: str) -> bool:
    """Run a comparison; return False where it is not this caller's to do. The row holds the outcome."""
    claim = context.commit(lambda: leases.claim(RECONCILIATION, context.clock, PosReconciliation.id == run_id))
    return claim is not None and perform(context, claim, lambda: _reconcile(context, processor, claim))


def _reconcile(context: WorkContext, processor: PaymentProcessor, claim: Claim[PosReconciliation]) -> None:
    """Compare the payments of each account; one that cannot be read delays no other. Raises LeaseLost."""
    day = db.session.get_one(PosReconciliation, claim.key).day
    comparison = _Comparison(context, processor, claim, day)
    for account_id in accounts_of(claim.site_id, processor.name, *_day_bounds(day, claim.site_id)):
        comparison.try_to_compare(account_id)
    context.commit(lambda: comparison.finish())


@dataclass
class _ComparedBatch:
    """The outcome of a batch: the intents whose payments differ, the number of those without a payment, and of those
    that are not this shop's."""

    differing: list[Intent] = field(default_factory=list)
    missing_rows: int = 0
    foreign: int = 0


@dataclass
class _Comparison:
    """The comparison of one day of one site."""

    context: WorkContext
    processor: PaymentProcessor
    claim: Claim[PosReconciliation]
    day: date
    done: int = 0
    differences: int = 0
    foreign: int = 0
    unread: list[str] = field(default_factory=list)
    author: Author = field(init=False)

    def __post_init__(self) -> None:
        self.author = Author(self.claim.site_id, ACTOR, self.context.clock)

    def try_to_compare(self, account_id: str) -> None:
        """Compare the payments of an account, or note that it could not be read. Raises LeaseLost."""
        try:
            self._compare(account_id)
        except ProcessorError as error:
            db.session.rollback()
            self.unread.append(f"{account_id}: {error.message}" if account_id else error.message)

    def _compare(self, account_id: str) -> None:
        """Compare the payments of an account in batches. Raises LeaseLost and ProcessorError."""
        since, until = _day_bounds(self.day, self.claim.site_id)
        db.session.rollback()
        span = since - LISTED_BEFORE, until + LISTED_BEYOND
        intents = self.processor.list_intents(AccountRef(account_id), *span)
        listed: set[str] = set()  # Ids alone: a day may have a hundred thousand payments.
        for batch in batched(intents, BATCH):
            listed |= {intent.id for intent in batch}
            for differing in self._compare_batch(account_id, batch):
                self._correct(account_id, differing)
        self.context.commit(lambda: self._note_missing_intents(account_id, listed, since, until))

    def finish(self) -> None:
        """End the run with its counts, as failed where an account could not be read. Raises LeaseLost."""
        end_alert_if_settled(self.context.clock, self.claim.site_id)
        counts = {"done": self.done, "differences": self.differences, "foreign": self.foreign}
        if self.unread:
            leases.fail(self.context.clock, self.claim, "; ".join(self.unread), **counts)
        else:
            leases.finish(self.context.clock, self.claim, **counts)

    def _compare_batch(self, account_id: str, batch: list[Intent]) -> list[Intent]:
        """Compare a batch with the shop's payments; return the intents whose payments differ. Raises LeaseLost."""
        compared = self.context.commit(partial(self._note_batch, account_id, batch))
        self.done += len(batch)
        self.differences += compared.missing_rows
        self.foreign += compared.foreign
        return compared.differing

    def _note_batch(self, account_id: str, batch: list[Intent]) -> _ComparedBatch:
        leases.renew(self.context.clock, self.claim, done=self.done + len(batch))
        rows = _ledger_rows(self.author, self.processor, account_id, batch)
        being_refunded = _payments_in_refund(self.author, rows.values())
        compared, agreeing = _ComparedBatch(), set[str]()
        for intent in batch:
            row = rows.get(intent.id)
            if row is None:
                agrees = self._note_missing_row(account_id, intent, compared)
            elif row.transaction_id in being_refunded:
                continue
            elif not (agrees := not differences_of(row, intent)):
                compared.differing.append(intent)
            if agrees:
                agreeing.add(intent.id)
        settle_agreeing(self.author, account_id, agreeing)
        return compared

    def _note_missing_row(self, account_id: str, intent: Intent, compared: _ComparedBatch) -> bool:
        """Note an intent without a payment of the shop; return whether none has to be there."""
        if intent.metadata.get(SITE_ID) != str(self.author.site_id):
            compared.foreign += 1  # Of another program with this account, or of another site on the platform's own.
            return True
        missing = missing_row_difference(account_id, intent)
        if missing is None:
            return True
        note_difference(self.author, missing, self.day)
        compared.missing_rows += 1
        return False

    def _correct(self, account_id: str, intent: Intent) -> None:
        """Correct a payment that differs, and note how it differed. Raises LeaseLost. In a transaction of its own: what
        it corrects locks the payment, its order and the journal, and a till must not wait for one payment's journal
        while this waits for the next payment's order."""
        self.differences += self.context.commit(partial(self._correct_payment, account_id, intent))

    def _correct_payment(self, account_id: str, intent: Intent) -> int:
        leases.renew(self.context.clock, self.claim)
        row = _ledger_rows(self.author, self.processor, account_id, [intent]).get(intent.id)
        if row is None or _payments_in_refund(self.author, [row]):
            return 0
        found = differences_of(row, intent)
        for difference in _apply_intent(self.author, row, intent, found) if found else ():
            note_difference(self.author, difference, self.day)
        return len(found)

    def _note_missing_intents(self, account_id: str, listed: Collection[str], since: datetime, until: datetime) -> None:
        of_account = _payments_of_account(self.author.site_id, self.processor, account_id)
        query = of_account.where(PosTransaction.created_at >= since, PosTransaction.created_at < until)
        rows = db.session.scalars(query.execution_options(yield_per=BATCH))
        found = missing_intent_differences(map(_ledger_row, rows), listed)
        for difference in found:
            note_difference(self.author, difference, self.day)
        self.differences += len(found)


def _apply_intent(author: Author, row: LedgerRow, intent: Intent, found: list[Difference]) -> list[Difference]:
    """Apply the processor's state to a payment where a rule allows it; return the differences, those that are gone then
    marked as corrected."""
    payment = apply_intent(author, row.transaction_id, intent, ACTION)
    if payment.status in PAID_STATUSES and payment.refunded_to_card != intent.refunded:
        payment = apply_refunds(author, row.transaction_id, intent.refunded, ACTION)
    left = {difference.kind for difference in differences_of(_ledger_row(payment), intent)}
    return [replace(difference, corrected=difference.kind not in left) for difference in found]


def _ledger_rows(
    author: Author, processor: PaymentProcessor, account_id: str, batch: list[Intent]
) -> dict[str, LedgerRow]:
    ids = [intent.id for intent in batch]
    query = _payments_of_account(author.site_id, processor, account_id).where(
        PosTransaction.processor_intent_id.in_(ids)
    )
    return {row.processor_intent_id or "": _ledger_row(row) for row in db.session.scalars(query)}


def _payments_in_refund(author: Author, rows: Iterable[LedgerRow]) -> set[str]:
    """Return the ids of payments that are being refunded, or were lately: the listed intent may be older than what is
    known here."""
    ids = [row.transaction_id for row in rows]
    lately = or_(PosRefund.updated_at > author.now() - LISTED_BEYOND, PosRefund.next_check_at.is_not(None))
    query = select(PosRefund.transaction_id).where(PosRefund.transaction_id.in_(ids), lately)
    return set(db.session.scalars(query))


def _payments_of_account(site_id: int, processor: PaymentProcessor, account_id: str) -> Select[PosTransaction]:
    query = select(PosTransaction).where(
        PosTransaction.site_id == site_id,
        PosTransaction.processor == processor.name,
        PosTransaction.processor_account_id == account_id,
        PosTransaction.processor_intent_id.is_not(None),
    )
    return query.execution_options(populate_existing=True)


def _ledger_row(row: PosTransaction) -> LedgerRow:
    return LedgerRow(
        row.id,
        row.processor_account_id,
        row.processor_intent_id or "",
        row.charged_amount,
        row.currency,
        TransactionStatus(row.status),
        row.captured_amount,
        row.refunded_to_card,
    )


def _day_bounds(day: date, site_id: int) -> tuple[datetime, datetime]:
    """Return the beginning and the end of a site's day, in UTC."""
    zone = ZoneInfo(time_zone_of(site_id))
    return tuple(  # type: ignore[return-value]
        datetime.combine(on, time(), zone).astimezone(UTC) for on in (day, day + timedelta(days=1))
    )
