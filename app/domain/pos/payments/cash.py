"""Payments in cash: taken, and taken back before the order is submitted. The money is there when the till says so, so
that one is stored as it ends, in one transaction with the order, the work session and the journal."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass

from app.domain.orders.models import OPEN, Order
from app.domain.orders.payment import lock_order
from app.domain.pos import rules, sessions
from app.domain.pos.journal import EntryType
from app.domain.pos.models import PosTransaction
from app.domain.pos.payments import idempotency, transitions
from app.domain.pos.payments.cashier import Cashier, PaymentTerms, new_payment, terms_of, transaction_of
from app.domain.pos.payments.creation import DEFAULT_CURRENCY, amount_of_order, payable_order
from app.domain.pos.payments.idempotency import Claim, KeyedRequest
from app.domain.pos.rules import LONGEST_REASON, note_problems
from app.domain.pos.states import CASH, TransactionStatus
from app.domain.shared.author import Author
from app.domain.shared.money import format_money
from app.domain.shared.problems import Conflict, Invalid
from app.domain.shared.text import one_line
from app.domain.sites import activity
from app.domain.work.context import WorkContext
from app.extensions import db

OPERATION, VOID = "cash_payment", "cash_void"


@dataclass(frozen=True, slots=True)
class CashRequest:
    """A request for a payment in cash. `amount` is the part of the sale that it pays, `tendered` what the customer
    hands over, None for exactly what is to be paid; in minor units. `key` makes repetitions of one request the same
    payment."""

    amount: int
    tendered: int | None = None
    currency: str | None = DEFAULT_CURRENCY
    description: str = ""
    order_id: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class CashTaken:
    payment: PosTransaction
    is_replayed: bool = False


def take_cash(
    context: WorkContext, cashier: Cashier, request: CashRequest, may_begin: Callable[[], None] = lambda: None
) -> CashTaken:
    """Take a payment in cash; under a repeated key, return the one that was taken. Call it outside a transaction.
    `may_begin` as for a card payment.

    Raises Unprocessable `amount_invalid`, `amount_exceeds_limit`, `amount_exceeds_due`, `tendered_too_small`,
    `currency_not_supported`, `description_invalid` or `idempotency_mismatch`, Forbidden `cash_disabled` or
    `cash_not_permitted` and those of the payment's purpose, NotFound `order_not_found` or `work_session_not_found`, and
    Conflict `order_already_paid`, `payment_in_progress`, `outcome_unknown` or `work_session_closed`.
    """
    rules.check_amount(request.amount)
    rules.check_texts(request.description, {})
    keyed = None
    if request.key is not None:
        content = asdict(request) | {"location": cashier.location_id}
        keyed = KeyedRequest(cashier.user_id, cashier.location_id, OPERATION, request.key, content)
    return context.commit(lambda: _take(cashier, request, keyed, may_begin))


def _take(
    cashier: Cashier, request: CashRequest, keyed: KeyedRequest | None, may_begin: Callable[[], None]
) -> CashTaken:
    transaction_id = str(uuid.uuid4())
    claim = idempotency.claim(cashier.author, keyed, transaction_id) if keyed else Claim(transaction_id, is_new=True)
    if not claim.is_new:
        return CashTaken(db.session.get_one(PosTransaction, claim.record_id), is_replayed=True)
    terms = terms_of(cashier)
    payment = _new_cash_payment(cashier, terms, request, transaction_id)
    may_begin()
    store_sale(cashier.author, payment)
    if keyed:
        idempotency.note_answer(cashier.author, keyed, 201)
    return CashTaken(payment)


def _new_cash_payment(
    cashier: Cashier, terms: PaymentTerms, request: CashRequest, transaction_id: str
) -> PosTransaction:
    """Return the payment to store, after all checks, with its work session and its order locked."""
    rules.check_cash(terms.site.allows_cash, terms.agent.can_take_cash)
    terms.check_purpose(request.order_id is not None)
    currency = terms.currency_of(request.currency)
    rules.check_largest(terms.site, terms.agent, request.amount, currency)
    sessions.hold_open(cashier.author.site_id, cashier.session_id)
    order = payable_order(cashier, request.order_id) if request.order_id is not None else None
    amount = request.amount if order is None else amount_of_order(order, request.amount, currency)
    to_pay = rules.round_cash(amount, terms.site.cash_rounding) if _is_last(order, amount) else amount
    change = rules.change_of(request.tendered, to_pay, currency)
    return new_payment(
        cashier,
        transaction_id,
        order,
        amount,
        currency,
        **cash_columns(amount, to_pay, change),
        description=request.description,
        captured_at=cashier.author.now(),
    )


def cash_columns(amount: int, to_pay: int, change: int) -> dict[str, object]:
    """Return the columns by which a payment in cash differs from one by card; amounts in minor units."""
    return {
        "tender_type": CASH,
        "processor": "",
        "status": TransactionStatus.SUCCEEDED.value,
        "captured_amount": amount,
        "change_in_pence": change,
        "rounding_in_pence": to_pay - amount,
    }


def store_sale(author: Author, payment: PosTransaction) -> None:
    """Store a payment in cash, with its line in the timeline, what follows for the order and the journal's entry."""
    db.session.add(payment)
    db.session.flush()
    handed_over = format_money(payment.moved_cash + (payment.change_in_pence or 0), payment.currency)
    change = format_money(payment.change_in_pence or 0, payment.currency)
    detail = f"{handed_over} handed over, {change} change"
    db.session.add(transitions.timeline_entry(author, payment, "cash", detail))
    transitions.follow_order(author, payment, is_sale=True)
    transitions.record_money(
        author, payment, EntryType.SALE, payment.moved_cash, payment.session_id, at=payment.captured_at
    )


def _is_last(order: Order | None, amount: int) -> bool:
    """Whether a payment is the last one of its order, which is the one that is rounded."""
    return order is None or amount == order.amount_due


def void_cash(
    context: WorkContext, cashier: Cashier, transaction_id: str, reason: str, key: str | None = None
) -> tuple[PosTransaction, bool]:
    """Take back a payment in cash of the cashier's own open work session; return it, and whether it was taken back
    before. Call it outside a transaction. Raises Invalid for a missing reason, NotFound `transaction_not_found`,
    Unprocessable `idempotency_mismatch`, and Conflict `void_not_allowed`: by card, refunded, of another or a closed
    session, or submitted."""
    reason = one_line(reason)
    if problems := note_problems(reason, "The reason", LONGEST_REASON, "#/reason"):
        raise Invalid(problems)
    content = {"transaction": transaction_id, "reason": reason}
    keyed = KeyedRequest(cashier.user_id, cashier.location_id, VOID, key, content) if key is not None else None
    return context.commit(lambda: _void(cashier, transaction_id, reason, keyed))


def _void(
    cashier: Cashier, transaction_id: str, reason: str, keyed: KeyedRequest | None
) -> tuple[PosTransaction, bool]:
    author = cashier.author
    if keyed is not None:
        idempotency.claim(author, keyed, transaction_id)
    payment = transaction_of(cashier, transaction_id, to_change=True)
    is_own = payment.session_id is not None and payment.session_id == cashier.session_id
    if payment.tender_type == CASH and payment.status == TransactionStatus.CANCELLED and is_own:
        return payment, True
    _check_void(cashier, payment)
    payment.status, payment.captured_amount = TransactionStatus.CANCELLED.value, 0
    payment.cancelled_at = payment.updated_at = author.now()
    payment.version += 1
    amount = format_money(payment.moved_cash, payment.currency)
    db.session.add(transitions.timeline_entry(author, payment, "void", reason))
    summary = f"Took back a payment of {amount} in cash: {reason}"
    activity.record(author, "pos.void", ("pos_transaction", payment.id), summary)
    transitions.follow_order(author, payment)
    if keyed is not None:
        idempotency.note_answer(author, keyed, 200)
    transitions.record_money(author, payment, EntryType.VOID, -payment.moved_cash, payment.session_id)
    return payment, False


def _check_void(cashier: Cashier, payment: PosTransaction) -> None:
    """Check that a payment can be taken back. Raises Conflict `void_not_allowed` with the reason."""
    if payment.tender_type != CASH:
        raise _void_not_allowed("Only cash can be taken back. Cancel or refund a card payment.", payment)
    if payment.status != TransactionStatus.SUCCEEDED:
        raise _void_not_allowed("Money of this payment was given back already.", payment)
    if payment.session_id is None or payment.session_id != cashier.session_id:
        raise _void_not_allowed("This payment was taken in another work session. Refund it instead.", payment)
    if sessions.is_closed(payment.site_id, payment.session_id):
        raise _void_not_allowed("The work session was closed. Refund the payment instead.", payment)
    order = lock_order(payment.order_id) if payment.order_id else None
    if order is not None and order.status != OPEN:
        raise _void_not_allowed("The order was submitted. Refund the payment instead.", payment)


def _void_not_allowed(message: str, payment: PosTransaction) -> Conflict:
    return Conflict(message, "void_not_allowed", transactionId=payment.id)
