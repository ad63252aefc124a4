"""Creation of a payment: checked and stored, then created at the processor, then applied. A lost answer of the
processor never makes a second payment (docs/payments.md)."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta

from sqlalchemy import select

from app.domain.orders.models import OPEN, Order
from app.domain.orders.payment import PaymentInProgress, amount_to_take, order_to_pay
from app.domain.pos import rules, sessions
from app.domain.pos.locations import account_of
from app.domain.pos.models import PosLocation, PosTransaction
from app.domain.pos.payments import idempotency, transitions
from app.domain.pos.payments.cashier import Cashier, errors_about, new_payment, ref_of, terms_of
from app.domain.pos.payments.idempotency import Claim, KeyedRequest
from app.domain.pos.processor import (
    AccountRef,
    Busy,
    Intent,
    IntentRequest,
    KeyReused,
    Misconfigured,
    OutcomeUnknown,
    PaymentProcessor,
    ProcessorError,
    Rejected,
)
from app.domain.pos.states import OPEN_STATUSES, TransactionStatus, next_check
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, DomainError, NotFound, Unprocessable
from app.domain.shared.records import find_record
from app.domain.work.context import WorkContext
from app.extensions import db

OPERATION = "create_payment"
DEFAULT_CURRENCY = "gbp"
CREATED_AGAIN_WITHIN = timedelta(hours=23)  # Processors keep a key for a day.


@dataclass(frozen=True, slots=True)
class PaymentRequest:
    """A request for a card payment. `amount` None is what is due for the order, of which only a request with
    `takes_part` may take less; `tip` comes on top. `currency` None is the site's. `key` makes repetitions of one
    request the same payment."""

    amount: int | None
    tip: int = 0
    takes_part: bool = False
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
class _StoredPayment:
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

    Raises Unprocessable `amount_invalid`, `amount_too_small`, `amount_exceeds_limit`, `amount_exceeds_due`,
    `amount_mismatch`, `tips_disabled`, `currency_not_supported`, `description_invalid`, `metadata_invalid` or
    `idempotency_mismatch`, Forbidden, NotFound `order_not_found`, Conflict `order_already_paid`,
    `payment_in_progress`, `payment_failed`, `outcome_unknown`, `work_session_closed` or `idempotency_in_progress`, and
    ProcessorError with the transaction's id.
    """
    if request.amount is not None:
        rules.check_amount(request.amount)
    rules.check_tip(request.tip)
    rules.check_texts(request.description, request.metadata)
    keyed = None
    if request.key is not None:
        content = asdict(request) | {"location": cashier.location_id}
        keyed = KeyedRequest(cashier.user_id, cashier.location_id, OPERATION, request.key, content)
    stored = context.commit(lambda: _store(processor, cashier, request, keyed, may_begin))
    if stored.intent_id is not None:
        with errors_about(stored.transaction_id):
            intent = processor.retrieve_intent(stored.ref, stored.intent_id)
        return CreatedPayment(stored.transaction_id, intent, is_replayed=True)
    return _create(context, processor, cashier, stored, keyed)


def _store(
    processor: PaymentProcessor,
    cashier: Cashier,
    request: PaymentRequest,
    keyed: KeyedRequest | None,
    may_begin: Callable[[], None],
) -> _StoredPayment:
    """Store the payment, or return the one stored before under the key. The key is looked up first, so that a
    repetition gets the same answer, whatever has changed meanwhile."""
    transaction_id = str(uuid.uuid4())
    claim = idempotency.claim(cashier.author, keyed, transaction_id) if keyed else Claim(transaction_id, is_new=True)
    if not claim.is_new:
        return _stored_before(claim, processor, cashier.author.now())
    location = db.session.get_one(PosLocation, cashier.location_id)
    payment = _new_payment(cashier, location, request, transaction_id)
    may_begin()
    payment.processor = processor.name
    db.session.add(payment)
    db.session.flush()
    db.session.add(transitions.timeline_entry(cashier.author, payment, "create"))
    return replace(_with_request(payment), is_new=True)


def _stored_before(claim: Claim, processor: PaymentProcessor, now: datetime) -> _StoredPayment:
    """Return the payment that was stored under the key before. Without an intent the creation is tried again with the
    same key of the processor, for as long as the processor keeps it. Raises Conflict."""
    payment = db.session.get_one(PosTransaction, claim.record_id)
    if payment.processor != processor.name and payment.status in OPEN_STATUSES:
        # Its processor may have the payment, so another one must not make it a second time.
        message = f"This payment was begun with {payment.processor.capitalize()}, which the shop does not use now."
        raise Conflict(message, "outcome_unknown", transactionId=payment.id)
    if payment.processor_intent_id is not None:
        return _with_request(payment)
    if claim.is_in_progress:
        message = "The first request with this Idempotency-Key is still being answered. Try again in a moment."
        raise Conflict(message, "idempotency_in_progress", transactionId=payment.id)
    if payment.status == TransactionStatus.FAILED:
        message = "This payment failed. Begin another one with a new Idempotency-Key."
        raise Conflict(message, "payment_failed", transactionId=payment.id)
    if now - payment.created_at >= CREATED_AGAIN_WITHIN:
        message = "Nobody knows yet whether this payment was begun. Wait until that is known."
        raise Conflict(message, "outcome_unknown", transactionId=payment.id)
    return _with_request(payment)


def _new_payment(
    cashier: Cashier, location: PosLocation, request: PaymentRequest, transaction_id: str
) -> PosTransaction:
    """Return the payment to store, after all checks, with its order locked. The order of the checks is that of
    docs/payments.md."""
    terms = terms_of(cashier)
    terms.check_purpose(request.order_id is not None)
    currency = terms.currency_of(request.currency)
    if request.amount is not None:
        rules.check_limit(terms.site, terms.agent, request.amount, currency, request.tip)
    if cashier.session_id is not None:
        sessions.hold_open(cashier.author.site_id, cashier.session_id)
    order = payable_order(cashier, request.order_id) if request.order_id is not None else None
    amount = _amount_to_charge(order, request, currency)
    rules.check_limit(terms.site, terms.agent, amount, currency, request.tip)
    if order is not None:
        order.reserved_amount += amount
    now = cashier.author.now()
    return new_payment(
        cashier,
        transaction_id,
        order,
        amount,
        currency,
        tip_in_pence=request.tip,
        status=TransactionStatus.CREATING.value,
        processor_account_id=account_of(location.processor_account_id, terms.settings),
        description=request.description,
        client_metadata=dict(request.metadata),
        next_check_at=next_check(TransactionStatus.CREATING, 2, now, now),
    )


def payable_order(cashier: Cashier, order_id: str) -> Order:
    """Return an order that the cashier may take a payment for, locked: an agent's own basket, the one that they were
    let in to, or an order that waits to be collected. Raises NotFound and Conflict."""
    site_id = cashier.author.site_id
    order = find_record(Order, site_id, order_id)
    if order is None or not _may_be_paid_to(cashier, order):
        raise NotFound("There is no such order on this site.", "order_not_found")
    return order_to_pay(site_id, order_id)


def _may_be_paid_to(cashier: Cashier, order: Order) -> bool:
    """Whether the cashier may take a payment for the order. A shopper's own basket is private until it is ordered."""
    if order.owner_id is None:
        return order.status != OPEN
    return cashier.is_admin or order.owner_id == cashier.user_id or order.id == cashier.basket_id


def amount_of_order(order: Order, wanted: int | None, currency: str) -> int:
    """Return the amount of a new payment of a locked order, `wanted` or all that is due. Raises Unprocessable
    `amount_exceeds_due`, and `currency_not_supported` for an order that was placed in another currency than that of the
    payment; Conflict `payment_in_progress` or `outcome_unknown`, which name the payment under way."""
    if order.currency != currency:  # An order keeps its currency when that of the shop is changed.
        raise Unprocessable(
            f"This order was placed in {order.currency.upper()}, and payments here are in {currency.upper()}.",
            "currency_not_supported",
        )
    try:
        amount = amount_to_take(order, wanted)
    except PaymentInProgress:
        raise _payment_in_progress(order) from None
    rules.check_amount(amount)
    return amount


def _amount_to_charge(order: Order | None, request: PaymentRequest, currency: str) -> int:
    """Return the amount to charge by the shop's own figures. Raises Unprocessable where the client gives another, and
    as `amount_of_order`."""
    if order is None:
        if request.amount is None:
            raise Unprocessable("Say how much is to be paid.", "amount_invalid")
        return request.amount
    if not request.takes_part and request.amount not in (None, order.amount_due) and order.currency == currency:
        amounts = {"totalInPence": order.total, "amountDueInPence": order.amount_due}
        raise Unprocessable("What is due for the order is another amount.", "amount_mismatch", **amounts)
    return amount_of_order(order, request.amount if request.takes_part else None, currency)


def _payment_in_progress(order: Order) -> Conflict:
    """Return the conflict with the latest payment of an order that is under way, one of unknown outcome first."""
    of_order = PosTransaction.site_id == order.site_id, PosTransaction.order_id == order.id
    query = select(PosTransaction).where(*of_order, PosTransaction.status.in_(OPEN_STATUSES))
    unknown_first = (PosTransaction.status == TransactionStatus.UNKNOWN).desc(), PosTransaction.created_at.desc()
    other = db.session.scalars(query.order_by(*unknown_first).limit(1)).first()
    about_it = {
        "transactionId": other.id if other else None,
        "paymentIntentId": other.processor_intent_id if other else None,
        "amountDueInPence": order.amount_due,
    }
    if other is not None and other.status == TransactionStatus.UNKNOWN:
        message = "Nobody knows yet whether this order was paid. Wait until that is known."
        return Conflict(message, "outcome_unknown", **about_it)
    return Conflict("A payment of this order is under way. Go on with that one.", "payment_in_progress", **about_it)


def _with_request(payment: PosTransaction) -> _StoredPayment:
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
    request = IntentRequest(payment.charged_amount, payment.currency, payment.description, metadata)
    return _StoredPayment(payment.id, ref_of(payment).ref, request, payment.processor_intent_id, is_new=False)


def _create(
    context: WorkContext,
    processor: PaymentProcessor,
    cashier: Cashier,
    stored: _StoredPayment,
    keyed: KeyedRequest | None,
) -> CreatedPayment:
    """Create the intent at the processor, which makes one however often it is called, and apply it. Raises
    ProcessorError and Unprocessable."""
    author, transaction_id = cashier.author, stored.transaction_id
    try:
        with errors_about(transaction_id):
            intent = processor.create_intent(stored.ref, stored.request, f"pos-create-{transaction_id}")
    except ProcessorError as error:
        refused = _refusal_for_client(error, stored.request.currency)
        context.commit(lambda: _note_failure(author, transaction_id, keyed, refused, stored.is_new))
        raise refused from error

    def apply() -> None:
        transitions.apply_intent(author, transaction_id, intent, "create")
        if keyed:
            idempotency.note_answer(author, keyed, 201)

    context.commit(apply)
    return CreatedPayment(transaction_id, intent, is_replayed=not stored.is_new)


def _note_failure(
    author: Author, transaction_id: str, keyed: KeyedRequest | None, error: DomainError, is_first_try: bool
) -> None:
    """Save a failed creation. The key is released only where there is certainly no payment: a later try that was Busy
    or Misconfigured says nothing about the first."""
    was_not_let_in = isinstance(error, Busy | Misconfigured)
    if isinstance(error, OutcomeUnknown) or (was_not_let_in and not is_first_try):
        payment = transitions.mark_creation_unknown(author, transaction_id)
    else:
        payment = transitions.mark_creation_failed(author, transaction_id, error.code)
    if keyed and payment.status == TransactionStatus.FAILED:
        idempotency.release(author, keyed)
    elif keyed:
        idempotency.note_answer(author, keyed, 504)


def _refusal_for_client(error: ProcessorError, currency: str) -> DomainError:
    """Return the error that a client gets for a refused creation. An amount that only the processor knows to be too
    small is the client's to change. Where the key was used for another request, as by an earlier version of the shop,
    the payment may have been made."""
    if isinstance(error, KeyReused):
        unknown = OutcomeUnknown("Nobody knows yet whether this payment was begun.")
        unknown.details = error.details
        return unknown
    if isinstance(error, Rejected) and error.reason == "amount_too_small":
        refused = rules.amount_too_small(
            "The payment processor takes no payment as small as this.", rules.minimum_of(currency)
        )
        refused.details = {**refused.details, **error.details}
        return refused
    return error
