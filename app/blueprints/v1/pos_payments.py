"""Card payments at a till: a token for the reader, creating, reading, capturing and cancelling a payment, and the list
of a location. Who may, and in which order things are checked: docs/payments.md."""

from __future__ import annotations

from typing import Any

from flask import request

from app import ports
from app.blueprints.rate_limit import TILL_READS, rate_limited, refuse_beyond
from app.blueprints.v1.api import ApiBlueprint
from app.blueprints.v1.description import LOCATION, REPLAYED, RETRY_AFTER
from app.blueprints.v1.pos_access import cashier, requires_till, till
from app.blueprints.v1.pos_payment_shapes import (
    PAYMENT_EXAMPLE,
    CancelBody,
    CancelledPosPaymentShape,
    CapturedPosPaymentShape,
    CreatePosPaymentIntent,
    PosConnectionTokenShape,
    PosPaymentIntentDetailShape,
    PosPaymentIntentShape,
    PosTransactionDetailShape,
    PosTransactionShape,
    PosTransactionsShape,
    TransactionsQuery,
    intent_json,
    transaction_json,
)
from app.domain.pos.payments import cashier as reader_tokens
from app.domain.pos.payments import creation, settlement
from app.domain.pos.payments.cashier import Cashier
from app.domain.pos.payments.creation import CreatedPayment, PaymentRequest
from app.domain.pos.payments.idempotency import LONGEST_KEY
from app.domain.pos.payments.settlement import AlreadyCaptured, PaymentState
from app.domain.pos.states import TransactionStatus
from app.domain.pos.transactions import PaymentFilter, payments_of_location
from app.domain.shared.paging import Paged
from app.domain.shared.problems import Invalid
from app.domain.shared.rate_limit import Rate
from app.work_context import work_context

bp = ApiBlueprint("v1_pos_payments", __name__, url_prefix="/v1/pos/<location_id>", tag="POS")
INTENT = "/paymentIntents/<payment_intent_id>"
LATER = {"Retry-After": "2"}  # Seconds.
SETTLES, CREATE_REQUESTS = ("pos-settle", 60), ("pos-create-request", 120)
Answer = tuple[dict[str, Any], int, dict[str, str]]


@bp.post("/connectionToken")
@requires_till()
@rate_limited("pos-connection-token", 30)
@bp.described("createPosConnectionToken", 401, 403, 404, 429, 502, 503, 504)
@bp.response(200, PosConnectionTokenShape)
def connection_token() -> dict[str, str]:
    """A token by which the SDK of the reader connects, for one use."""
    known = reader_tokens.connection_token(ports.payment_processor(), cashier())
    return {"secret": known.secret, "processor_account_id": known.account_id}


@bp.post("/paymentIntents")
@requires_till(as_agent=True)
@rate_limited(*CREATE_REQUESTS)
@bp.idempotent
@bp.described("createPosPaymentIntent", 401, 403, 404, 409, 413, 415, 422, 429, 502, 503, 504)
@bp.arguments(CreatePosPaymentIntent, example=PAYMENT_EXAMPLE)
@bp.response(201, PosPaymentIntentShape, headers=LOCATION | REPLAYED)
def create(body: dict[str, Any]) -> Answer:
    """Begin a payment, which the reader then collects.

    With an Idempotency-Key, sending it again gives the same payment. After a 504 nobody knows whether it was begun:
    send it again with the same key, or read the transaction that is named.
    """
    wanted = PaymentRequest(
        amount=body["amount_in_pence"],
        currency=body["currency"],
        description=body["description"],
        order_id=body["order_id"],
        metadata=body["metadata"],
        key=idempotency_key(),
    )
    return begun(cashier(), wanted)


def begun(who: Cashier, wanted: PaymentRequest) -> Answer:
    """Begin a payment and return the answer about it. An agent may begin 30 a minute; refused and repeated ones are not
    counted."""
    processor = ports.payment_processor()
    return created_answer(creation.create_payment(work_context(), processor, who, wanted, _may_begin))


def _may_begin() -> None:
    refuse_beyond("pos-create", Rate(30, 60))


@bp.get(INTENT)
@requires_till(settles=True)
@rate_limited(*TILL_READS)
@bp.described("getPosPaymentIntent", 401, 403, 404, 429, 502, 503, 504)
@bp.response(200, PosPaymentIntentDetailShape)
def payment_intent(payment_intent_id: str) -> dict[str, Any]:
    """How a payment stands, after an app was closed or an answer got lost."""
    state = settlement.read_payment(work_context(), ports.payment_processor(), cashier(), payment_intent_id)
    return _intent_state_json(state)


@bp.post(f"{INTENT}/capture")
@requires_till(settles=True)
@rate_limited(*SETTLES)
@bp.described("capturePosPaymentIntent", 401, 402, 403, 404, 409, 429, 502, 503, 504)
@bp.alt_response(202, schema=CapturedPosPaymentShape, headers=RETRY_AFTER, description="Not known yet: ask again.")
@bp.response(200, CapturedPosPaymentShape)
def capture(payment_intent_id: str) -> Answer:
    """Bring a payment up to date after the tap, which in most cases captured it.

    Doing so again gives the same answer. 402: the card was declined, and the same payment can be tried again.
    """
    state = settlement.capture(work_context(), ports.payment_processor(), cashier(), payment_intent_id)
    return _state_answer(_captured_json(state), state)


@bp.post(f"{INTENT}/cancel")
@requires_till(settles=True)
@rate_limited(*SETTLES)
@bp.described("cancelPosPaymentIntent", 401, 403, 404, 409, 413, 415, 429, 502, 503, 504)
@bp.arguments(CancelBody, required=False)
@bp.alt_response(202, schema=CancelledPosPaymentShape, headers=RETRY_AFTER, description="Not known yet: ask again.")
@bp.response(200, CancelledPosPaymentShape)
def cancel(body: dict[str, Any], payment_intent_id: str) -> Answer:
    """Give up a payment that took no money. Doing so again gives the same answer; a payment that was made stays, and
    `transaction` shows it."""
    try:
        state = settlement.cancel(
            work_context(), ports.payment_processor(), cashier(), payment_intent_id, body["reason"]
        )
    except AlreadyCaptured as error:
        shown = PosTransactionShape().dump(transaction_json(error.payment))
        error.details = {**error.details, "transaction": shown}
        raise
    return _state_answer(_cancelled_json(state), state)


@bp.get("/transactions")
@requires_till(settles=True)
@rate_limited(*TILL_READS)
@bp.described("listPosTransactions", 401, 403, 404, 429)
@bp.arguments(TransactionsQuery, location="query")
@bp.response(200, PosTransactionsShape)
def transactions(query: dict[str, Any]) -> Paged[dict[str, Any]]:
    """The payments of a location, the newest first."""
    status, agent_id = query["status"], query["agent_id"]
    wanted = PaymentFilter(
        query["start_date"],
        query["end_date"],
        TransactionStatus(status) if status else None,
        None if agent_id is None else _number(agent_id),
    )
    who = cashier()
    site_id, page_number, page_size = who.author.site_id, query["page_number"], query["page_size"]
    page = payments_of_location(site_id, who.location_id, wanted, page_number, page_size)
    items = [transaction_json(payment) for payment in page.items]
    return Paged(items, page.page_number, page.page_size, page.total_items)


@bp.get("/transactions/<transaction_id>")
@requires_till(settles=True)
@rate_limited(*TILL_READS)
@bp.described("getPosTransaction", 401, 403, 404, 429)
@bp.response(200, PosTransactionDetailShape)
def transaction(transaction_id: str) -> dict[str, Any]:
    """A payment by the id that a 504 named."""
    found = settlement.transaction_of(cashier(), transaction_id)
    more = {"payment_intent_id": found.processor_intent_id, "refunded_amount": found.refunded_amount}
    return transaction_json(found) | more


def idempotency_key() -> str | None:
    """Return the request's Idempotency-Key, None without one. Raises Invalid."""
    key = request.headers.get("Idempotency-Key")
    if key is None or (0 < len(key) <= LONGEST_KEY and key.isascii() and key.isprintable()):
        return key
    message = f"An Idempotency-Key has 1 to {LONGEST_KEY} printable characters of ASCII."
    raise Invalid.one("invalid_idempotency_key", message)


def created_answer(created: CreatedPayment) -> Answer:
    """Return the answer about a payment that was begun now, or before under the same key."""
    location = till().location
    assert location is not None, "payments are created at a location"
    headers = {"Location": f"/v1/pos/{location.location_id}/paymentIntents/{created.intent.id}"}
    if created.is_replayed:
        headers["Idempotent-Replayed"] = "true"
    return intent_json(created.intent, created.transaction_id), 201, headers


def _intent_state_json(state: PaymentState) -> dict[str, Any]:
    """Return the state of a payment as JSON; the client secret is for the user who created the payment."""
    payment = state.payment
    secret = state.intent.client_secret if state.intent and cashier().owns(payment) else None
    code = payment.last_error_code
    return {
        "id": payment.processor_intent_id,
        "client_secret": secret,
        "amount": payment.amount_in_pence,
        "currency": payment.currency,
        "status": state.intent_status.value,
        "transaction_id": payment.id,
        "last_error": {"code": code, "decline_code": payment.decline_code} if code else None,
    }


def _cancelled_json(state: PaymentState) -> dict[str, Any]:
    payment = state.payment
    return {
        "id": payment.processor_intent_id,
        "status": state.intent_status.value,
        "amount": payment.amount_in_pence,
        "currency": payment.currency,
        "transaction_id": payment.id,
    }


def _captured_json(state: PaymentState) -> dict[str, Any]:
    payment = state.payment
    return _cancelled_json(state) | {
        "amount_received": payment.captured_amount,
        "transaction": transaction_json(payment),
    }


def _state_answer(body: dict[str, Any], state: PaymentState) -> Answer:
    return (body, 200, {}) if state.is_settled else (body, 202, LATER)


def _number(agent_id: str) -> int:
    """Return the id of an agent; for a text that can be no id 0, which no agent has."""
    return int(agent_id) if agent_id.isascii() and agent_id.isdigit() and len(agent_id) <= 9 else 0
