"""Card payments at a till: a token for the reader, creating, reading, capturing and cancelling a payment. Who may, and
in which order things are checked: docs/payments.md."""

from __future__ import annotations

from typing import Any

from flask import request
from marshmallow import fields, validate

from app import ports
from app.blueprints.callers import TILL_READS, rate_limited, refuse_beyond
from app.blueprints.v1.api import ANY_TEXT, ApiBlueprint, Body, Shape
from app.blueprints.v1.callers import cashier, requires_till, till
from app.blueprints.v1.description import LOCATION, REPLAYED, RETRY_AFTER
from app.blueprints.v1.pos_transactions import INTENT_ID, MINOR_UNITS, PosTransactionShape, transaction_json
from app.domain.pos.payments import creation, idempotency, settlement
from app.domain.pos.payments.cashier import Cashier
from app.domain.pos.payments.cashier import connection_token as new_connection_token
from app.domain.pos.payments.creation import (
    DEFAULT_CURRENCY,
    PaymentRequest,
)
from app.domain.pos.payments.settlement import AlreadyCaptured, PaymentState
from app.domain.pos.processor import Intent, IntentStatus
from app.domain.pos.rules import LARGEST_AMOUNT, LONGEST_DESCRIPTION, LONGEST_KEY, LONGEST_VALUE, MOST_KEYS
from app.domain.shared.problems import Invalid
from app.domain.shared.rate_limit import Rate
from app.domain.shared.schema import Text, TextsByName, Whole
from app.operations.work_context import work_context

CANCEL_REASONS = ("duplicate", "fraudulent", "requested_by_customer", "abandoned")
PAYMENT_EXAMPLE: dict[str, Any] = {"amountInPence": 1_250, "currency": "gbp", "description": "Two mugs"}
bp = ApiBlueprint("v1_pos_payments", __name__, url_prefix="/v1/pos/<location_id>", tag="POS")
INTENT = "/paymentIntents/<payment_intent_id>"
LATER = {"Retry-After": "2"}  # Seconds.
SETTLES, CREATE_REQUESTS = ("pos-settle", 60), ("pos-create-request", 120)
Answer = tuple[dict[str, Any], int, dict[str, str]]


class PosConnectionTokenShape(Shape):
    """For the SDK of the card reader, once and at once: fetch another whenever it wants one."""

    secret = fields.Str(required=True)
    processor_account_id = fields.Str(
        required=True, metadata={"description": "The processor's account; empty for the platform's own."}
    )


def currency_field() -> Text:
    return Text(
        load_default=DEFAULT_CURRENCY,
        metadata={"description": "ISO 4217; must be the shop's.", "default": DEFAULT_CURRENCY} | ANY_TEXT,
    )


def description_field() -> Text:
    return Text(
        load_default="",
        validate=validate.Length(max=LONGEST_DESCRIPTION),
        metadata={"description": "Without card numbers."} | ANY_TEXT,
    )


def tip_field() -> Whole:
    return Whole(
        load_default=0,
        metadata={"description": "On top of the amount, in minor units, where the shop takes tips.", "default": 0},
    )


class CreatePosPaymentIntent(Body):
    amount_in_pence = Whole(
        required=True, metadata=MINOR_UNITS | {"description": f"In minor units, from 1 to {LARGEST_AMOUNT:,}."}
    )
    currency = currency_field()
    description = description_field()
    order_id = Text(
        load_default=None,
        metadata={"description": "The order that is paid, a basket's `id`; the amount must be what is due."} | ANY_TEXT,
    )
    tip_in_pence = tip_field()
    metadata = TextsByName(
        load_default=dict,
        metadata={
            "type": "object",
            "additionalProperties": {"type": "string", "maxLength": LONGEST_VALUE},
            "maxProperties": MOST_KEYS,
            "description": f"Texts by keys of at most {LONGEST_KEY} characters, without card numbers. The shop sets "
            "agentId, locationId, transactionId and siteId itself.",
        },
    )


class LastErrorShape(Shape):
    """Why the last card did not pay."""

    code = fields.Str(required=True, metadata={"example": "card_declined"})
    decline_code = fields.Str(required=True, allow_none=True, metadata={"example": "insufficient_funds"})


class PosPaymentIntentShape(Shape):
    id = fields.Str(required=True, metadata=INTENT_ID)
    client_secret = fields.Str(
        required=True,
        allow_none=True,
        metadata={"description": "For the SDK of the card reader; null for who did not create it, and once it ended."},
    )
    amount = fields.Int(required=True, metadata=MINOR_UNITS)
    currency = fields.Str(required=True)
    status = fields.Str(required=True, validate=validate.OneOf([status.value for status in IntentStatus]))
    transaction_id = fields.Str(required=True)


class PosPaymentIntentDetailShape(PosPaymentIntentShape):
    last_error = fields.Nested(LastErrorShape, required=True, allow_none=True)


class CapturedPosPaymentShape(Shape):
    id = fields.Str(required=True, metadata=INTENT_ID)
    status = fields.Str(required=True, validate=validate.OneOf([status.value for status in IntentStatus]))
    amount = fields.Int(required=True, metadata=MINOR_UNITS)
    currency = fields.Str(required=True)
    amount_received = fields.Int(required=True, metadata=MINOR_UNITS)
    transaction_id = fields.Str(required=True)
    transaction = fields.Nested(PosTransactionShape, required=True)


class CancelBody(Body):
    reason = fields.Str(validate=validate.OneOf(CANCEL_REASONS), load_default=None)


class CancelledPosPaymentShape(Shape):
    id = fields.Str(required=True, metadata=INTENT_ID)
    status = fields.Str(required=True, validate=validate.OneOf([status.value for status in IntentStatus]))
    amount = fields.Int(required=True, metadata=MINOR_UNITS)
    currency = fields.Str(required=True)
    transaction_id = fields.Str(required=True)


def intent_json(intent: Intent, transaction_id: str) -> dict[str, Any]:
    return {
        "id": intent.id,
        "client_secret": intent.client_secret,
        "amount": intent.amount,
        "currency": intent.currency,
        "status": intent.status.value,
        "transaction_id": transaction_id,
    }


@bp.post("/connectionToken")
@requires_till()
@rate_limited("pos-connection-token", 30)
@bp.described("createPosConnectionToken", 401, 403, 404, 429, 502, 503, 504)
@bp.response(200, PosConnectionTokenShape)
def connection_token() -> dict[str, str]:
    """A token by which the SDK of the reader connects, for one use."""
    token = new_connection_token(ports.payment_processor(), cashier())
    return {"secret": token.secret, "processor_account_id": token.account_id}


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
        tip=body["tip_in_pence"],
        metadata=body["metadata"],
        key=idempotency_key(),
    )
    return begin_payment(cashier(), wanted)


def may_begin() -> None:
    """Count a payment of the caller: 30 a minute. Raises TooManyRequests."""
    refuse_beyond("pos-create", Rate(30, 60))


def begin_payment(who: Cashier, wanted: PaymentRequest) -> Answer:
    """Begin a payment and return the answer about it. Refused and repeated ones are not counted."""
    location = till().location
    assert location is not None, "payments are created at a location"
    location_id = location.location_id  # Before the commit, after which it would be read again.
    created = creation.create_payment(work_context(), ports.payment_processor(), who, wanted, may_begin)
    headers = {"Location": f"/v1/pos/{location_id}/paymentIntents/{created.intent.id}"}
    if created.is_replayed:
        headers["Idempotent-Replayed"] = "true"
    return intent_json(created.intent, created.transaction_id), 201, headers


@bp.get(INTENT)
@requires_till(settles=True)
@rate_limited(*TILL_READS)
@bp.described("getPosPaymentIntent", 401, 403, 404, 429, 502, 503, 504)
@bp.response(200, PosPaymentIntentDetailShape)
def payment_intent(payment_intent_id: str) -> dict[str, Any]:
    """How a payment stands, after an app was closed or an answer got lost."""
    state = settlement.read_payment(work_context(), ports.payment_processor(), cashier(), payment_intent_id)
    return _intent_detail_json(state)


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
    return _answer_about(_captured_json(state), state)


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
    return _answer_about(_state_json(state), state)


def idempotency_key() -> str | None:
    """Return the request's Idempotency-Key, None without one. Raises Invalid."""
    key = request.headers.get("Idempotency-Key")
    if key is None or (0 < len(key) <= idempotency.LONGEST_KEY and key.isascii() and key.isprintable()):
        return key
    message = f"An Idempotency-Key has 1 to {idempotency.LONGEST_KEY} printable characters of ASCII."
    raise Invalid.one("invalid_idempotency_key", message)


def _intent_detail_json(state: PaymentState) -> dict[str, Any]:
    """Return the state of a payment as JSON; the client secret is for the user who created the payment."""
    payment = state.payment
    secret = state.intent.client_secret if state.intent and cashier().owns(payment) else None
    code = payment.last_error_code
    return {
        "id": payment.processor_intent_id,
        "client_secret": secret,
        "amount": payment.charged_amount,
        "currency": payment.currency,
        "status": state.intent_status.value,
        "transaction_id": payment.id,
        "last_error": {"code": code, "decline_code": payment.decline_code} if code else None,
    }


def _state_json(state: PaymentState) -> dict[str, Any]:
    payment = state.payment
    return {
        "id": payment.processor_intent_id,
        "status": state.intent_status.value,
        "amount": payment.charged_amount,
        "currency": payment.currency,
        "transaction_id": payment.id,
    }


def _captured_json(state: PaymentState) -> dict[str, Any]:
    payment = state.payment
    return _state_json(state) | {
        "amount_received": payment.captured_amount,
        "transaction": transaction_json(payment),
    }


def _answer_about(body: dict[str, Any], state: PaymentState) -> Answer:
    return (body, 200, {}) if state.is_settled else (body, 202, LATER)
