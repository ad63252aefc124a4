"""Creation of a payment: checked and stored, then created at the processor, then applied. A lost answer of the
processor never makes a second payment (docs/payments.md)."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta

from app.domain.orders.models import Order
from app.domain.orders.payment import lock_for_payment
from app.domain.pos.merchant_accounts import account_of
from app.domain.pos.models import PosAgent, PosLocation, PosTransaction
from app.domain.pos.payments import idempotency, rules, transitions
from app.domain.pos.payments.cashier import Cashier, ref_of
from app.domain.pos.payments.idempotency import Claim, KeyedRequest
from app.domain.pos.payments.orders_due import amount_due, payable_order
from app.domain.pos.payments.outcomes import next_check
from app.domain.pos.payments.processor_calls import about, refused_creation
from app.domain.pos.payments.rules import AgentTerms, SiteTerms
from app.domain.pos.processor import (
    AccountRef,
    Busy,
    Intent,
    IntentRequest,
    Misconfigured,
    OutcomeUnknown,
    PaymentProcessor,
    ProcessorError,
)
from app.domain.pos.states import OPEN_STATUSES, TransactionStatus
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, DomainError, Forbidden
from app.domain.sites.settings import settings_of
from app.domain.sites.sites import currency_of
from app.domain.work.context import WorkContext
from app.extensions import db

OPERATION = "create_payment"
QUICK_PAYMENT, ORDER_PAYMENT = "QUICK_PAYMENT", "ORDER_PAYMENT"
DEFAULT_CURRENCY = "gbp"
CREATED_AGAIN_WITHIN = timedelta(hours=23)  # Processors keep a key for a day.


@dataclass(frozen=True, slots=True)
class PaymentRequest:
    """A request for a payment. `amount` None is what is due for the order, `currency` None the site's. `key` makes
    repetitions of one request the same payment."""

    amount: int | None
    currency: str | None = DEFAULT_CURRENCY
    description: str = ""
    order_id: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    key: str | None = None


@dataclass(frozen=True, slots=True)
class CreatedPayment:
    """A payment that was created. `intent` is as the processor has it now, with its client secret, which is stored
    nowhere."""

    transaction_id: str
    intent: Intent
    is_replayed: bool = False


@dataclass(frozen=True, slots=True)
class _Written:
    """A stored payment, with what the call to the processor needs."""

    transaction_id: str
    ref: AccountRef
    request: IntentRequest
    intent_id: str | None
    is_new: bool


def create_payment(
    context: WorkContext,
    processor: PaymentProcessor,
    cashier: Cashier,
    request: PaymentRequest,
    may_begin: Callable[[], None] = lambda: None,
) -> CreatedPayment:
    """Create a payment and return its intent; under a repeated key, the intent of the first request. Call it outside a
    transaction. `may_begin` is called once every other check has passed, and raises TooManyRequests above the rate
    limit: refused or repeated requests do not count.

    Raises Unprocessable `amount_invalid`, `amount_too_small`, `amount_exceeds_limit`, `amount_mismatch`,
    `currency_not_supported`, `description_invalid`, `metadata_invalid` or `idempotency_mismatch`, Forbidden, NotFound
    `order_not_found`, Conflict `order_already_paid`, `payment_in_progress`, `payment_failed`, `outcome_unknown` or
    `idempotency_in_progress`, and ProcessorError with the transaction's id.
    """
    if request.amount is not None:
        rules.check_amount(request.amount)
    rules.check_texts(request.description, request.metadata)
    keyed = _keyed(cashier, request)
    written = context.commit(lambda: _write_down(processor, cashier, request, keyed, may_begin))
    if written.intent_id is not None:
        with about(written.transaction_id):
            intent = processor.retrieve_intent(written.ref, written.intent_id)
        return CreatedPayment(written.transaction_id, intent, is_replayed=True)
    return _create(context, processor, cashier, written, keyed)


def _keyed(cashier: Cashier, request: PaymentRequest) -> KeyedRequest | None:
    if request.key is None:
        return None
    content = asdict(request) | {"location": cashier.location_id}
    return KeyedRequest(cashier.user_id, cashier.location_id, OPERATION, request.key, content)


def _write_down(
    processor: PaymentProcessor,
    cashier: Cashier,
    request: PaymentRequest,
    keyed: KeyedRequest | None,
    may_begin: Callable[[], None],
) -> _Written:
    """Store the payment, or return the one stored before under the key. The key is looked up first, so that a
    repetition gets the same answer, whatever has changed meanwhile."""
    transaction_id = str(uuid.uuid4())
    claim = idempotency.claim(cashier.author, keyed, transaction_id) if keyed else Claim(transaction_id, is_new=True)
    if not claim.is_new:
        return _written_before(claim, processor, cashier.author.now())
    location = db.session.get_one(PosLocation, cashier.location_id)
    payment = _checked_payment(cashier, location, request, transaction_id)
    may_begin()
    payment.processor = processor.name
    db.session.add(payment)
    db.session.flush()
    db.session.add(transitions.note_of(cashier.author, payment, "create"))
    return replace(_written(payment), is_new=True)


def _written_before(claim: Claim, processor: PaymentProcessor, now: datetime) -> _Written:
    """Return the payment that was stored under the key before. Without an intent the creation is tried again with the
    same key of the processor, for as long as the processor keeps it. Raises Conflict."""
    payment = db.session.get_one(PosTransaction, claim.record_id)
    if payment.processor != processor.name and payment.status in OPEN_STATUSES:
        # Its processor may have the payment, so another one must not make it a second time.
        message = f"This payment was begun with {payment.processor.capitalize()}, which the shop does not use now."
        raise Conflict(message, "outcome_unknown", transactionId=payment.id)
    if payment.processor_intent_id is not None:
        return _written(payment)
    if claim.is_in_progress:
        message = "The first request with this Idempotency-Key is still being answered. Try again in a moment."
        raise Conflict(message, "idempotency_in_progress", transactionId=payment.id)
    if payment.status == TransactionStatus.FAILED:
        message = "This payment failed. Begin another one with a new Idempotency-Key."
        raise Conflict(message, "payment_failed", transactionId=payment.id)
    if now - payment.created_at >= CREATED_AGAIN_WITHIN:
        message = "Nobody knows yet whether this payment was begun. Wait until that is known."
        raise Conflict(message, "outcome_unknown", transactionId=payment.id)
    return _written(payment)


def _checked_payment(
    cashier: Cashier, location: PosLocation, request: PaymentRequest, transaction_id: str
) -> PosTransaction:
    """Return the payment to store, after all checks, with its order locked. The order of the checks is that of
    docs/payments.md."""
    settings = settings_of(cashier.author.site_id)
    site = SiteTerms(
        currency_of(cashier.author.site_id), settings["posAllowQuickPayments"], settings["posMaxTransactionAmount"]
    )
    agent = _terms_of(cashier)
    rules.check_permission(site, agent, request.order_id is not None)
    currency = site.currency if request.currency is None else request.currency.lower()
    if request.amount is not None:
        rules.check_limit(site, agent, request.amount, currency)
    order = payable_order(cashier, request.order_id) if request.order_id is not None else None
    amount = amount_due(order, request.amount, currency)
    rules.check_limit(site, agent, amount, currency)
    if order is not None:
        lock_for_payment(order, transaction_id)
    account_id = account_of(location.processor_account_id, settings)
    return _payment(cashier, request, order, transaction_id, amount, currency, account_id)


def _terms_of(cashier: Cashier) -> AgentTerms:
    """Return the terms of the cashier's agent. Raises Forbidden for a cashier who is no agent."""
    agent = db.session.get(PosAgent, cashier.agent_id) if cashier.agent_id else None
    if agent is None:
        raise Forbidden("You are not set up as an agent of this shop. Ask an admin.", "agent_required")
    return AgentTerms(agent.can_process_quick_payments, agent.can_build_orders, agent.max_transaction_amount)


def _payment(
    cashier: Cashier,
    request: PaymentRequest,
    order: Order | None,
    transaction_id: str,
    amount: int,
    currency: str,
    account_id: str,
) -> PosTransaction:
    now = cashier.author.now()
    return PosTransaction(
        id=transaction_id,
        site_id=cashier.author.site_id,
        agent_id=cashier.agent_id,
        location_id=cashier.location_id,
        session_id=cashier.session_id,
        type=QUICK_PAYMENT if order is None else ORDER_PAYMENT,
        order_id=order.id if order else None,
        order_number=str(order.number) if order and order.number else None,
        amount_in_pence=amount,
        currency=currency,
        status=TransactionStatus.CREATING.value,
        processor_account_id=account_id,
        description=request.description,
        client_metadata=dict(request.metadata),
        created_at=now,
        updated_at=now,
        next_check_at=next_check(TransactionStatus.CREATING, 2, now, now),
    )


def _written(payment: PosTransaction) -> _Written:
    """Return a stored payment with the request for its intent; in the metadata the shop's own keys win over the
    client's."""
    location = db.session.get_one(PosLocation, payment.location_id)
    own = {
        "agentId": str(payment.agent_id),
        "locationId": location.location_id,
        "transactionId": payment.id,
        "siteId": str(payment.site_id),
    }
    metadata = {**payment.client_metadata, **own}
    request = IntentRequest(payment.amount_in_pence, payment.currency, payment.description, metadata)
    return _Written(payment.id, ref_of(payment).ref, request, payment.processor_intent_id, is_new=False)


def _create(
    context: WorkContext,
    processor: PaymentProcessor,
    cashier: Cashier,
    written: _Written,
    keyed: KeyedRequest | None,
) -> CreatedPayment:
    """Create the intent at the processor, which makes one however often it is called, and apply it. Raises
    ProcessorError and Unprocessable."""
    author, transaction_id = cashier.author, written.transaction_id

    try:
        with about(transaction_id):
            intent = processor.create_intent(written.ref, written.request, f"pos-create-{transaction_id}")
    except ProcessorError as error:
        refused = refused_creation(error, written.request.currency)
        context.commit(lambda: _note_failure(author, transaction_id, keyed, refused, written.is_new))
        raise refused from error
    context.commit(lambda: _note_intent(author, transaction_id, keyed, intent))
    return CreatedPayment(transaction_id, intent, is_replayed=not written.is_new)


def _note_intent(author: Author, transaction_id: str, keyed: KeyedRequest | None, intent: Intent) -> None:
    transitions.apply_intent(author, transaction_id, intent, "create")
    if keyed:
        idempotency.note_answer(author, keyed, 201)


def _note_failure(
    author: Author, transaction_id: str, keyed: KeyedRequest | None, error: DomainError, is_first_try: bool
) -> None:
    """Save a failed creation. The key is released only where there is certainly no payment: a later try that was Busy
    or Misconfigured says nothing about the first."""
    was_not_let_in = isinstance(error, Busy | Misconfigured)
    if isinstance(error, OutcomeUnknown) or (was_not_let_in and not is_first_try):
        payment = transitions.creation_unknown(author, transaction_id)
    else:
        payment = transitions.creation_failed(author, transaction_id, error.code)
    if keyed and payment.status == TransactionStatus.FAILED:
        idempotency.release(author, keyed)
    elif keyed:
        idempotency.note_answer(author, keyed, 504)
