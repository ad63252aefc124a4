"""The simulated card reader on the wire."""

from __future__ import annotations

from typing import Any

from marshmallow import fields, validate

from app.blueprints.v1.api import Body, Shape
from app.blueprints.v1.fields import ANY_TEXT, UtcTime
from app.blueprints.v1.payment_tokens import TYPE
from app.blueprints.v1.pos_payment_shapes import INTENT_ID, MINOR_UNITS, LastErrorShape
from app.domain.pos.processor import IntentStatus
from app.domain.pos.simulated_reader import PresentedCard
from app.domain.pos.simulator import CARDS
from app.domain.shared.schema import Text


class PaymentTokenShape(Shape):
    token = fields.Str(required=True, metadata={"description": "For the card reader alone."})
    token_type = fields.Str(required=True, metadata={"example": TYPE})
    expires_at = UtcTime(required=True)
    processor = fields.Str(required=True, metadata={"example": "simulator"})
    processor_account_id = fields.Str(
        required=True, metadata={"description": "The processor's account; empty for the platform's own."}
    )
    processor_location_id = fields.Str(required=True, metadata={"description": "For the SDK of the card reader."})
    publishable_key = fields.Str(metadata={"description": "Of the processor's account, where it has one."})


class PresentBody(Body):
    client_secret = Text(
        required=True, metadata={"description": "Of the payment, as it was created.", "maxLength": 200} | ANY_TEXT
    )
    card = Text(
        required=True,
        validate=validate.OneOf(list(CARDS)),
        metadata={"description": "What the simulated card does: docs/payments.md.", "example": "visa"},
    )
    pin = Text(
        load_default=None,
        allow_none=True,
        validate=validate.Length(min=1, max=12),
        metadata={"description": "Typed into the reader, for the card `pin_required`.", "example": "1234"},
    )


class PresentedCardShape(Shape):
    """The payment as the reader left it; capture brings the shop up to date."""

    id = fields.Str(required=True, metadata=INTENT_ID)
    status = fields.Str(required=True, validate=validate.OneOf([status.value for status in IntentStatus]))
    amount = fields.Int(required=True, metadata=MINOR_UNITS)
    currency = fields.Str(required=True)
    transaction_id = fields.Str(required=True)
    card_brand = fields.Str(required=True, allow_none=True)
    card_last4 = fields.Str(required=True, allow_none=True)
    last_error = fields.Nested(LastErrorShape, required=True, allow_none=True)


def presented_json(presented: PresentedCard) -> dict[str, Any]:
    intent = presented.intent
    error = intent.last_error
    return {
        "id": intent.id,
        "status": intent.status.value,
        "amount": intent.amount,
        "currency": intent.currency,
        "transaction_id": presented.transaction_id,
        "card_brand": intent.card.brand if intent.card else None,
        "card_last4": intent.card.last4 if intent.card else None,
        "last_error": {"code": error.code, "decline_code": error.decline_code or None} if error else None,
    }
