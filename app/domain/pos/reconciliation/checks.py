"""The check, each minute, of payments, refunds and events whose outcome the shop does not know yet. A site has one run
at a time, bounded in time, so that a slow processor delays no other site; an account that does not answer delays no
other account. Open payments of a simulator that the shop no longer uses are checked apart from the runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import structlog
from sqlalchemy import ColumnElement, Select, or_, select, true, update

from app.domain.alerts.alerts import end_alert, raise_alert
from app.domain.alerts.causes import Cause
from app.domain.pos.models import PaymentCheckRun, PosRefund, PosTransaction, StoredProcessorEvent
from app.domain.pos.processor import Busy, Intent, Misconfigured, OutcomeUnknown, PaymentProcessor
from app.domain.pos.reconciliation.status_updates import (
    ACTOR,
    DuePayment,
    list_intents_by_transaction,
    note_unread,
    note_unread_refund,
    settle_open_refund,
    settle_payment,
)
from app.domain.pos.webhooks import follow_stored
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import DomainError
from app.domain.work import leases
from app.domain.work.context import WorkContext, read_afresh
from app.domain.work.leases import Claim, perform
from app.domain.work.models import State, WorkKind, WorkRequested
from app.events import publish
from app.extensions import db

SLICE = 20.0  # Seconds for each of events, payments and refunds, after which other sites have their turn.
BATCH = 50
CLAIMED_FOR = timedelta(minutes=1)
MOST_FAILURES = 3  # In a row, after which an account counts as not answering, and the rest of it waits.
# The age at which an event is tried again, by its attempts; the request that received it has the first half minute.
EVENT_WAITS = tuple(timedelta(minutes=age) for age in (0.5, 0.5, 2, 5, 15, 60, 240, 480, 720, 960, 1_200, 1_380))
EVENT_TRIED_FOR = timedelta(days=1)
PAYMENT_CHECKS = WorkKind(
    "payment-checks",
    PaymentCheckRun,
    lease=timedelta(minutes=1),
    most_attempts=5,
    exhausted="Looking at open payments broke off again and again; the log of the server may say why.",
)
_UNSYNCHRONIZED = {"synchronize_session": False}
log = structlog.get_logger()
log = structlog.get_logger()


def sites_due(clock: Clock, processor: PaymentProcessor) -> list[int]:
    """Return the ids of the sites with something to check now, sorted."""
    now = clock.now()
    due = (
        select(PosTransaction.site_id).where(*_due_payments(processor, now)),
        select(PosRefund.site_id).join(PosTransaction, _its_payment()).where(*_due_refunds(processor, now)),
        select(StoredProcessorEvent.site_id).where(*_due_events(processor, now)),
    )
    return sorted({site_id for query in due for site_id in db.session.scalars(query.distinct()) if site_id})


def request(author: Author) -> None:
    """Request a check of the author's site, or join the unfinished one. Call it in a transaction."""
    run = db.session.get(PaymentCheckRun, author.site_id, with_for_update=True)
    publish(WorkRequested(PAYMENT_CHECKS.name, author.site_id))
    if run is not None and run.is_unfinished:
        return
    if run is None:
        run = PaymentCheckRun(site_id=author.site_id, fence=0)
        db.session.add(run)
    run.state, run.requested_by, run.created_at = State.WAITING.value, author.name[:100], author.now()
    run.lease_until = run.started_at = run.finished_at = run.error = None
    run.done = run.failed = run.attempts = 0


def bring_forward(author: Author) -> None:
    """Make all open payments and refunds of a site due now, for staff who cannot wait. Call it in a transaction."""
    now = author.now()
    for model in (PosTransaction, PosRefund):
        later = model.site_id == author.site_id, model.next_check_at > now
        db.session.execute(update(model).where(*later).values(next_check_at=now), _UNSYNCHRONIZED)


def check(context: WorkContext, processor: PaymentProcessor, site_id: int) -> None:
    """Check what is due of a site, unless another worker does. The row holds the outcome; what is left when the time is
    over is requested again."""
    claim = context.commit(lambda: leases.claim(PAYMENT_CHECKS, context.clock, PaymentCheckRun.site_id == site_id))
    if claim is not None:
        perform(context, claim, _Run(context, processor, claim).do)


@dataclass
class _Run:
    """One run of the check, over what was due of a site when it began."""

    context: WorkContext
    processor: PaymentProcessor
    claim: Claim[PaymentCheckRun]
    done: int = 0
    failed: int = 0
    error: str | None = None
    _failures: Counter[str] = field(default_factory=Counter)  # In a row, by account.
    _answered: set[str] = field(default_factory=set)
    _began: float = 0.0
    _now: datetime = field(init=False)

    def __post_init__(self) -> None:
        self._now = self.context.clock.now()

    def do(self) -> None:
        """Check events, payments and refunds in turn, then end the run. Raises LeaseLost."""
        steps = self._events, self._payments, self._refunds
        is_through = all([self._is_finished(step) for step in steps])  # Every step runs, whatever became of others.
        self.context.commit(lambda: self._end(is_through))

    def _is_finished(self, step: Callable[[], None]) -> bool:
        """Run a step; return whether it came to its end within its time."""
        self._began = self.context.clock.monotonic()
        step()
        return not self._is_over

    def _events(self) -> None:
        event = StoredProcessorEvent
        due = select(event.id, event.account_id).where(
            *_due_events(self.processor, self._now), event.site_id == self.claim.site_id
        )
        self._each(due, event.id, event.account_id, self._follow)

    def _follow(self, row_id: int) -> None:
        follow_stored(self.context, self.processor, row_id, self._now - EVENT_TRIED_FOR)

    def _payments(self) -> None:
        while not self._is_over and (batch := self.context.commit(self._claim_payments)):
            listed = self._list_unnamed(batch)
            left: list[DuePayment] = []
            for due in batch:
                if self._is_over:
                    left.append(due)
                elif due.intent_id is not None or due.account_id in listed:
                    work = partial(settle_payment, self.context, self.processor, due, listed.get(due.account_id, {}))
                    self._try(due.account_id, work, partial(note_unread, self.context, due))
                # Payments of an account that cannot be listed, or is away, are looked at again in a minute.
            self._release(left)

    def _release(self, claimed: Sequence[DuePayment]) -> None:
        """Release the payments that this run has no time for: they are due as before."""
        ids = [due.id for due in claimed]
        unchanged = PosTransaction.id.in_(ids), PosTransaction.next_check_at.is_not(None)
        released = update(PosTransaction).where(*unchanged).values(next_check_at=self._now)
        self.context.commit(lambda: db.session.execute(released, execution_options=_UNSYNCHRONIZED))

    def _list_unnamed(self, batch: Sequence[DuePayment]) -> dict[str, Mapping[str, Intent]]:
        """Return the intents of each account by the transaction that they name, for accounts with a payment without an
        intent id."""
        listed: dict[str, Mapping[str, Intent]] = {}
        unnamed = [due for due in batch if due.intent_id is None]
        for account_id in sorted({due.account_id for due in unnamed}):
            of_account = [due for due in unnamed if due.account_id == account_id]

            def read(account_id: str = account_id, of_account: list[DuePayment] = of_account) -> None:
                listed[account_id] = list_intents_by_transaction(self.context, self.processor, account_id, of_account)

            self._try(account_id, read)
        return listed

    def _refunds(self) -> None:
        account = PosTransaction.processor_account_id
        due = select(PosRefund.id, account).join(PosTransaction, _its_payment())
        due = due.where(*_due_refunds(self.processor, self._now), PosRefund.site_id == self.claim.site_id)
        self._each(due, PosRefund.id, account, self._settle_refund)

    def _settle_refund(self, refund_id: str) -> None:
        try:
            settle_open_refund(self.context, self.processor, self.claim.site_id, refund_id)
        except DomainError:
            db.session.rollback()
            note_unread_refund(self.context, self.claim.site_id, refund_id)
            raise

    def _each(self, due: Select[Any, str], key: Any, account: Any, work: Callable[[Any], None]) -> None:
        """Call `work` with the key of each row that is due, in batches, passing over accounts that do not answer."""
        done: ColumnElement[bool] = true()
        while not self._is_over:
            query = due.where(done, account.not_in(self._away)).order_by(key).limit(BATCH)
            batch = db.session.execute(query).all()
            if not batch:
                return
            for row_key, account_id in batch:
                self._try(account_id, partial(work, row_key))
            done = key > batch[-1][0]

    def _claim_payments(self) -> list[DuePayment]:
        """Claim a batch of due payments by moving their next check, so that no other worker checks them meanwhile."""
        answering = PosTransaction.processor_account_id.not_in(self._away)
        due = *_due_payments(self.processor, self._now), PosTransaction.site_id == self.claim.site_id, answering
        query = select(PosTransaction).where(*due).order_by(PosTransaction.next_check_at).limit(BATCH)
        rows = db.session.scalars(query.with_for_update(skip_locked=True).execution_options(populate_existing=True))
        claimed = [DuePayment.of(row) for row in rows]
        later = update(PosTransaction).where(PosTransaction.id.in_([one.id for one in claimed]), *due)
        db.session.execute(later.values(next_check_at=self.context.clock.now() + CLAIMED_FOR), _UNSYNCHRONIZED)
        return claimed

    def _try(self, account_id: str, work: Callable[[], None], unread: Callable[[], None] = lambda: None) -> None:
        """Call `work`, where its account answers and there is time; `unread` is called where it fails."""
        db.session.rollback()  # No transaction is open while the processor is waited for.
        if self._is_over or account_id in self._away:
            return
        try:
            work()
        except DomainError as error:
            db.session.rollback()
            log.warning("payment_not_settled", site=self.claim.site_id, account=account_id, reason=error.message)
            self._note_failure(account_id, error)
            unread()
        else:
            self.done, self._failures[account_id] = self.done + 1, 0
            self._answered.add(account_id)

    def _note_failure(self, account_id: str, error: DomainError) -> None:
        self.failed, self.error = self.failed + 1, error.message
        if isinstance(error, Misconfigured):
            self._failures[account_id] = MOST_FAILURES  # Nothing else of this account will be answered.
            alert = self.context.clock, Cause.PROCESSOR_MISCONFIGURED, error.message, self.claim.site_id, account_id
            self.context.commit(lambda: raise_alert(*alert))
        elif isinstance(error, Busy | OutcomeUnknown):
            self._failures[account_id] += 1

    @property
    def _away(self) -> set[str]:
        """The accounts that do not answer."""
        return {account_id for account_id, failures in self._failures.items() if failures >= MOST_FAILURES}

    @property
    def _is_over(self) -> bool:
        return self.context.clock.monotonic() - self._began >= SLICE

    def _end(self, is_through: bool) -> None:
        clock, columns = self.context.clock, {"done": self.done, "failed": self.failed}
        for account_id in self._answered - self._away:
            end_alert(clock, Cause.PROCESSOR_MISCONFIGURED, self.claim.site_id, account_id)
        if self._away:
            leases.fail(clock, self.claim, self.error or "The payment processor does not answer.", **columns)
            return
        leases.finish(clock, self.claim, error=self.error, **columns)
        if self.done:
            end_alert(clock, Cause.PROCESSOR_MISCONFIGURED, self.claim.site_id)
        if not is_through:
            request(Author(self.claim.site_id, ACTOR, clock))


def _due_payments(processor: PaymentProcessor, now: datetime) -> tuple[ColumnElement[bool], ...]:
    return PosTransaction.processor == processor.name, PosTransaction.next_check_at <= now


def _its_payment() -> ColumnElement[bool]:
    return PosTransaction.id == PosRefund.transaction_id


def _due_refunds(processor: PaymentProcessor, now: datetime) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions of refunds that are due, joined with their payments."""
    return PosTransaction.processor == processor.name, PosRefund.next_check_at <= now


def _due_events(processor: PaymentProcessor, now: datetime) -> tuple[ColumnElement[bool], ...]:
    return (
        StoredProcessorEvent.processor == processor.name,
        StoredProcessorEvent.site_id.is_not(None),
        StoredProcessorEvent.processed_at.is_(None),
        StoredProcessorEvent.received_at <= now - EVENT_WAITS[0],
        or_(
            *(_is_old_enough(attempts, now) for attempts in range(len(EVENT_WAITS))),
            StoredProcessorEvent.received_at <= now - EVENT_TRIED_FOR,
        ),
    )


def _is_old_enough(attempts: int, now: datetime) -> ColumnElement[bool]:
    """Return the condition that an event of at most so many attempts is old enough for the next. Waits grow with the
    attempts, and count from the event's receipt, which saves a column."""
    return (StoredProcessorEvent.attempts <= attempts) & (
        StoredProcessorEvent.received_at <= now - EVENT_WAITS[attempts]
    )


def settle_retired(context: WorkContext, simulator: PaymentProcessor) -> None:
    """Bring the due payments of the simulator up to date, of all sites, in a shop that takes payments with another
    processor by now: the simulator's own tables say how each stands, and no card can be held to its reader any more.
    Call it outside a transaction."""
    query = select(PosTransaction).where(*_due_payments(simulator, context.clock.now()))
    due = db.session.scalars(query.order_by(PosTransaction.next_check_at).limit(BATCH))  # The rest is due in a minute.
    payments = [DuePayment.of(row) for row in due]
    read_afresh()
    for payment in payments:
        try:
            no_id = payment.intent_id is None
            listed = list_intents_by_transaction(context, simulator, payment.account_id, [payment]) if no_id else {}
            settle_payment(context, simulator, payment, listed)
        except DomainError as error:
            db.session.rollback()
            log.warning("payment_not_settled", site=payment.site_id, reason=error.message)
            note_unread(context, payment)
