"""Looking each minute at what is open at the processor: payments, refunds and events whose outcome the shop does not
know. One run of a site at a time, bounded in time, so that a slow processor holds up no other site."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

import structlog
from sqlalchemy import ColumnElement, select, update

from app.domain.alerts.alerts import end_alert, raise_alert
from app.domain.alerts.causes import Cause
from app.domain.pos.models import PosRefund, PosTransaction, StoredProcessorEvent
from app.domain.pos.processor import Busy, Intent, Misconfigured, OutcomeUnknown, PaymentProcessor
from app.domain.pos.reconciliation.models import PaymentCheckRun
from app.domain.pos.reconciliation.settling import (
    ACTOR,
    DuePayment,
    listed_intents,
    note_unread,
    settle_open_refund,
    settle_payment,
)
from app.domain.pos.webhooks import follow_stored
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import DomainError
from app.domain.work import leases
from app.domain.work.context import WorkContext
from app.domain.work.kinds import WorkKind, WorkRequested
from app.domain.work.leases import Claim
from app.domain.work.performing import perform
from app.domain.work.states import State
from app.events import publish
from app.extensions import db

SLICE = 20.0  # Seconds, after which other sites have their turn.
BATCH = 50
CLAIMED_FOR = timedelta(minutes=1)
MOST_FAILURES = 3  # In a row: then the processor is away, and the rest waits.
EVENT_WAITS = timedelta(seconds=30)  # For the request that received it.
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


def sites_due(clock: Clock, processor: PaymentProcessor) -> list[int]:
    """Return the sites that have something to look at now."""
    now = clock.now()
    due = (
        select(PosTransaction.site_id).where(*_due_payments(processor, now)),
        select(PosRefund.site_id).where(PosRefund.next_check_at <= now),
        select(StoredProcessorEvent.site_id).where(*_due_events(processor, now)),
    )
    return sorted({site_id for query in due for site_id in db.session.scalars(query.distinct()) if site_id})


def request(author: Author) -> None:
    """Have a worker look at what is open of the author's site. Call it in a transaction."""
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
    """Make everything open of a site due now, for people who cannot wait. Call it in a transaction."""
    now = author.now()
    for model in (PosTransaction, PosRefund):
        later = model.site_id == author.site_id, model.next_check_at > now
        db.session.execute(update(model).where(*later).values(next_check_at=now), _UNSYNCHRONIZED)


def check(context: WorkContext, processor: PaymentProcessor, site_id: int) -> None:
    """Look at what is due of a site, unless another worker does. How it ended stands in the row; what is left after a
    while is requested again."""
    claim = context.commit(lambda: leases.claim(PAYMENT_CHECKS, context.clock, PaymentCheckRun.site_id == site_id))
    if claim is not None:
        perform(context, claim, _Run(context, processor, claim).do)


@dataclass
class _Run:
    """One look at what was due of a site when it began."""

    context: WorkContext
    processor: PaymentProcessor
    claim: Claim[PaymentCheckRun]
    done: int = 0
    failed: int = 0
    error: str | None = None
    _unanswered: int = 0
    _began: float = field(init=False)
    _now: datetime = field(init=False)

    def __post_init__(self) -> None:
        self._began, self._now = self.context.clock.monotonic(), self.context.clock.now()

    def do(self) -> None:
        """Raises LeaseLost."""
        is_through = self._events() and self._payments() and self._refunds()
        self.context.commit(lambda: self._end(is_through))

    def _events(self) -> bool:
        """Whether all were looked at, here and below."""
        site_id = self.claim.site_id
        query = select(StoredProcessorEvent.id).where(
            *_due_events(self.processor, self._now), StoredProcessorEvent.site_id == site_id
        )
        for row_id in db.session.scalars(query.order_by(StoredProcessorEvent.id).limit(BATCH)).all():
            if not self._try(lambda row_id=row_id: self._follow(row_id)):  # type: ignore[misc]
                return False
        return True

    def _follow(self, row_id: int) -> None:
        follow_stored(self.context, self.processor, row_id, self._now - EVENT_TRIED_FOR)

    def _payments(self) -> bool:
        while batch := self.context.commit(self._claim_payments):
            listed = self._listed(batch)
            for number, due in enumerate(batch, 1):
                if due.intent_id is None and due.account_id not in listed:
                    continue  # The account could not be listed; its payments are looked at again in a minute.
                if not self._try(partial(self._settle_payment, due, listed.get(due.account_id, {})), due):
                    self._release(batch[number:])
                    return False
            if self._unanswered >= MOST_FAILURES:
                return False
        return True

    def _settle_payment(self, due: DuePayment, listed: Mapping[str, Intent]) -> None:
        settle_payment(self.context, self.processor, due, listed)

    def _release(self, claimed: Sequence[DuePayment]) -> None:
        """What this run has no time for is due as before."""
        ids = [due.id for due in claimed]
        unchanged = PosTransaction.id.in_(ids), PosTransaction.next_check_at.is_not(None)
        released = update(PosTransaction).where(*unchanged).values(next_check_at=self._now)
        self.context.commit(lambda: db.session.execute(released, execution_options=_UNSYNCHRONIZED))

    def _listed(self, batch: Sequence[DuePayment]) -> dict[str, Mapping[str, Intent]]:
        """Return the intents of each account of which a payment has none, by transaction."""
        listed: dict[str, Mapping[str, Intent]] = {}
        unnamed = [due for due in batch if due.intent_id is None]
        for account_id in sorted({due.account_id for due in unnamed}):
            of_account = [due for due in unnamed if due.account_id == account_id]

            def read(account_id: str = account_id, of_account: list[DuePayment] = of_account) -> None:
                listed[account_id] = listed_intents(self.context, self.processor, account_id, of_account)

            self._try(read)
        return listed

    def _refunds(self) -> bool:
        query = select(PosRefund.id).where(
            PosRefund.site_id == self.claim.site_id, PosRefund.next_check_at <= self._now
        )
        for refund_id in db.session.scalars(query.order_by(PosRefund.next_check_at).limit(BATCH)).all():
            if not self._try(lambda refund_id=refund_id: self._settle(refund_id)):  # type: ignore[misc]
                return False
        return True

    def _settle(self, refund_id: str) -> None:
        settle_open_refund(self.context, self.processor, self.claim.site_id, refund_id)

    def _claim_payments(self) -> list[DuePayment]:
        """Claim some by moving when they are looked at next, so that nobody else looks at them meanwhile."""
        due = *_due_payments(self.processor, self._now), PosTransaction.site_id == self.claim.site_id
        query = select(PosTransaction).where(*due).order_by(PosTransaction.next_check_at).limit(BATCH)
        rows = db.session.scalars(query.with_for_update(skip_locked=True).execution_options(populate_existing=True))
        claimed = [DuePayment.of(row) for row in rows]
        later = update(PosTransaction).where(PosTransaction.id.in_([one.id for one in claimed]), *due)
        db.session.execute(later.values(next_check_at=self.context.clock.now() + CLAIMED_FOR), _UNSYNCHRONIZED)
        return claimed

    def _try(self, work: Callable[[], object], due: DuePayment | None = None) -> bool:
        """Do one thing; whether to go on with the next."""
        db.session.rollback()  # No view of the database is held while the processor is waited for.
        try:
            work()
        except DomainError as error:
            db.session.rollback()
            self.failed += 1
            about = {"site": self.claim.site_id, "transaction": due and due.id}
            log.warning("payment_not_settled", **about, reason=error.message)
            if due is not None:
                note_unread(self.context, due)
            self.error = error.message
            if isinstance(error, Busy | OutcomeUnknown | Misconfigured):
                self._unanswered += 1
                if isinstance(error, Misconfigured):
                    self._misconfigured(error.message)
        else:
            self.done, self._unanswered = self.done + 1, 0
        return self._unanswered < MOST_FAILURES and not self._is_over

    @property
    def _is_over(self) -> bool:
        return self.context.clock.monotonic() - self._began >= SLICE

    def _misconfigured(self, message: str) -> None:
        site_id = self.claim.site_id
        self.context.commit(lambda: raise_alert(self.context.clock, Cause.PROCESSOR_MISCONFIGURED, message, site_id))
        self._unanswered = MOST_FAILURES

    def _end(self, is_through: bool) -> None:
        clock, columns = self.context.clock, {"done": self.done, "failed": self.failed}
        if self._unanswered >= MOST_FAILURES:
            leases.fail(clock, self.claim, self.error or "The payment processor does not answer.", **columns)
            return
        leases.finish(clock, self.claim, error=self.error, **columns)
        if self.done:
            end_alert(clock, Cause.PROCESSOR_MISCONFIGURED, self.claim.site_id)
        if not is_through:
            request(Author(self.claim.site_id, ACTOR, clock))


def _due_payments(processor: PaymentProcessor, now: datetime) -> tuple[ColumnElement[bool], ...]:
    return PosTransaction.processor == processor.name, PosTransaction.next_check_at <= now


def _due_events(processor: PaymentProcessor, now: datetime) -> tuple[ColumnElement[bool], ...]:
    return (
        StoredProcessorEvent.processor == processor.name,
        StoredProcessorEvent.site_id.is_not(None),
        StoredProcessorEvent.processed_at.is_(None),
        StoredProcessorEvent.received_at <= now - EVENT_WAITS,
    )
