"""Card payments on the wire."""

from __future__ import annotations

from typing import Any

from marshmallow import fields, validate

from app.blueprints.v1.api import Body, Shape
from app.blueprints.v1.fields import ANY_TEXT, UtcTime
from app.blueprints.v1.merchandising_shapes import ListShape
from app.blueprints.v1.taxonomy_shapes import PageQuery
from app.domain.pos.models import PosTransaction
from app.domain.pos.payments.creation import DEFAULT_CURRENCY, ORDER_PAYMENT, QUICK_PAYMENT
from app.domain.pos.processor import Intent, IntentStatus
from app.domain.pos.rules import LARGEST_AMOUNT, LONGEST_DESCRIPTION, LONGEST_KEY, LONGEST_VALUE, MOST_KEYS
from app.domain.pos.states import TransactionStatus
from app.domain.shared.schema import Text, TextsByName, Whole

SHOWN = [status.value for status in TransactionStatus if status.shown is status]
CANCEL_REASONS = ("duplicate", "fraudulent", "requested_by_customer", "abandoned")
MINOR_UNITS = {"description": "In minor units.", "example": 1_250}
INTENT_ID = {"example": "pi_3Qk1"}
PAYMENT_EXAMPLE: dict[str, Any] = {"amountInPence": 1_250, "currency": "gbp", "description": "Two mugs"}


class PosConnectionTokenShape(Shape):
    """For the SDK of the card reader, once and at once: fetch another whenever it wants one."""

    secret = fields.Str(required=True)
    processor_account_id = fields.Str(
        required=True, metadata={"description": "The processor's account; empty for the platform's own."}
    )


class CreatePosPaymentIntent(Body):
    amount_in_pence = Whole(
        required=True, metadata=MINOR_UNITS | {"description": f"In minor units, from 1 to {LARGEST_AMOUNT:,}."}
    )
    currency = Text(
        load_default=DEFAULT_CURRENCY,
        metadata={"description": "ISO 4217; must be the shop's.", "default": DEFAULT_CURRENCY} | ANY_TEXT,
    )
    description = Text(
        load_default="",
        validate=validate.Length(max=LONGEST_DESCRIPTION),
        metadata={"description": "Without card numbers."} | ANY_TEXT,
    )
    order_id = Text(
        load_default=None,
        metadata={"description": "The order that is paid, a basket's `id`; the amount must be its total."} | ANY_TEXT,
    )
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


class PosTransactionShape(Shape):
    id = fields.Str(required=True)
    agent_id = fields.Str(required=True)
    amount_in_pence = fields.Int(required=True, metadata=MINOR_UNITS)
    currency = fields.Str(required=True)
    status = fields.Str(required=True, validate=validate.OneOf(SHOWN))
    transaction_type = fields.Str(required=True, validate=validate.OneOf([QUICK_PAYMENT, ORDER_PAYMENT]))
    order_id = fields.Str(required=True, allow_none=True)
    order_number = fields.Str(required=True, allow_none=True)
    card_brand = fields.Str(required=True, allow_none=True, metadata={"example": "visa"})
    card_last4 = fields.Str(required=True, allow_none=True, metadata={"example": "4242"})
    created = UtcTime(required=True)


class PosTransactionDetailShape(PosTransactionShape):
    """With what an app needs to go on with a payment whose answer it lost."""

    payment_intent_id = fields.Str(
        required=True,
        allow_none=True,
        metadata={"description": "null: not known yet whether there is one."} | INTENT_ID,
    )
    refunded_amount = fields.Int(required=True, metadata=MINOR_UNITS)


class PosTransactionsShape(ListShape):
    """A page; past the last one `items` is empty."""

    items = fields.List(fields.Nested(PosTransactionShape), required=True)


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


DAY_OR_TIME = {
    "description": "A day in the shop's time zone, or a time (RFC 3339).",
    "example": "2026-11-20",
} | ANY_TEXT


class TransactionsQuery(PageQuery):
    start_date = fields.Str(load_default=None, metadata=DAY_OR_TIME)
    end_date = fields.Str(
        load_default=None,
        metadata=DAY_OR_TIME | {"description": "A day in the shop's time zone, which counts as well, or a time."},
    )
    status = fields.Str(load_default=None, validate=validate.OneOf(SHOWN))
    agent_id = fields.Str(load_default=None, metadata=ANY_TEXT)


def intent_json(intent: Intent, transaction_id: str) -> dict[str, Any]:
    return {
        "id": intent.id,
        "client_secret": intent.client_secret,
        "amount": intent.amount,
        "currency": intent.currency,
        "status": intent.status.value,
        "transaction_id": transaction_id,
    }


def transaction_json(payment: PosTransaction) -> dict[str, Any]:
    return {
        "id": payment.id,
        "agent_id": str(payment.agent_id),
        "amount_in_pence": payment.amount_in_pence,
        "currency": payment.currency,
        "status": TransactionStatus(payment.status).shown.value,
        "transaction_type": payment.type,
        "order_id": payment.order_id,
        "order_number": payment.order_number,
        "card_brand": payment.card_brand,
        "card_last4": payment.card_last4,
        "created": payment.created_at,
    }
