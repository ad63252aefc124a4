"""The simulated card reader: the payment token by which a till's reader takes payments, and holding a card to it.

Payment tokens are JSON Web Tokens that hold for five minutes. They name the session, the agent and the location; the
API takes none of them, and the reader takes no others.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import Any

from flask import g
from marshmallow import fields, validate

from app import ports
from app.blueprints.callers import rate_limited, request_host
from app.blueprints.v1.api import ANY_TEXT, ApiBlueprint, Body, Shape, UtcTime
from app.blueprints.v1.callers import Till, admit_to_till, cashier, requires_till, sent_token, till
from app.blueprints.v1.pos_payments import INTENT_ID, MINOR_UNITS, LastErrorShape
from app.domain.pos.locations import account_of
from app.domain.pos.processor import IntentStatus
from app.domain.pos.simulated_reader import PresentedCard, present_card
from app.domain.pos.simulator import CARDS, PaymentSimulator, Tap
from app.domain.shared.problems import NotFound, Unauthenticated
from app.domain.shared.schema import Text
from app.domain.sites import api_sessions
from app.domain.sites.api_sessions import ApiCaller
from app.domain.sites.settings import settings_of
from app.operations.work_context import work_context
from app.web.permissions import DECLARED, Permission, View
from app.web.tokens import PAYMENT, issue_jwt, not_ours, read_jwt

bp = ApiBlueprint("v1_pos_simulator", __name__, url_prefix="/v1/pos", tag="POS")


@dataclass(frozen=True, slots=True)
class PaymentClaims:
    """The claims of a payment token. `agent_id` is None for an admin who is no agent; `location_id` is the one by which
    clients name the location."""

    user_id: int
    session_id: str
    agent_id: int | None
    location_id: str
    expires_at: int

    def is_over(self, now: datetime) -> bool:
        return now.timestamp() >= self.expires_at


def payment_token_expiry(caller: ApiCaller, now: datetime) -> datetime:
    return min(now + PAYMENT.lifetime, caller.expires_at)


def issue_payment_token(caller: ApiCaller, agent_id: int | None, location_id: str, now: datetime) -> str:
    agent = "" if agent_id is None else str(agent_id)
    claims = {"sid": caller.session_id, "agent": agent, "location": location_id}
    return issue_jwt(PAYMENT, str(caller.user_id), claims, now, payment_token_expiry(caller, now))


def read_payment_token(token: str) -> PaymentClaims:
    """Return the claims of a payment token that the shop issued, even of an expired one. Raises Unauthenticated for any
    other text."""
    claims = read_jwt(PAYMENT, token)
    agent_id = int(claims["agent"]) if claims["agent"] else None
    return PaymentClaims(int(claims["sub"]), claims["sid"], agent_id, claims["location"], claims["exp"])


class PaymentTokenShape(Shape):
    token = fields.Str(required=True, metadata={"description": "For the card reader alone."})
    token_type = fields.Str(required=True, metadata={"example": PAYMENT.typ})
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


@bp.get("/<location_id>/paymentToken")
@requires_till()
@rate_limited("pos-payment-token", 120)
@bp.described("generatePOSPaymentToken", 401, 403, 404, 429)
@bp.response(200, PaymentTokenShape)
def payment_token() -> dict[str, Any]:
    """A token by which the till's card reader takes payments, for five minutes. Only the reader takes it, not the
    API."""
    caller, location, now = till().caller, till().location, ports.clock().now()
    assert location is not None, "the address names a location"
    processor = ports.payment_processor()
    key = {"publishable_key": processor.publishable_key} if processor.publishable_key else {}
    return key | {
        "token": issue_payment_token(caller, cashier().agent_id, location.location_id, now),
        "token_type": PAYMENT.typ,
        "expires_at": payment_token_expiry(caller, now),
        "processor": processor.name,
        "processor_account_id": account_of(location.processor_account_id, settings_of(location.site_id)),
        "processor_location_id": location.location_id,
    }


def requires_reader(view: View) -> View:
    """Admit the holder of a payment token as if the token's location were called, to settle payments only. Answers 404
    unless payments are simulated, and 401, 403."""

    @wraps(view)
    def checked(*args: Any, **kwargs: Any) -> Any:
        token, g.simulator = sent_token(), ports.payment_simulator()
        if g.simulator is None:
            raise NotFound("The payments of this shop are not simulated.", "no_simulator")
        claims = read_payment_token(token)
        if claims.is_over(ports.clock().now()):
            raise Unauthenticated("token_expired", "This payment token is over. Get another.")
        g.till = _till_of_token(claims)
        return view(*args, **kwargs)

    setattr(checked, DECLARED, Permission.USE_POS.value)
    return checked  # type: ignore[return-value]


def _till_of_token(claims: PaymentClaims) -> Till:
    """Return the till of a payment token's holder. Raises Unauthenticated, also where the user is another agent by now,
    Forbidden and NotFound."""
    caller = api_sessions.find_caller(ports.clock(), claims.session_id, claims.user_id, request_host(), ())
    found = admit_to_till(caller, claims.location_id, settles=True)
    if (found.agent.id if found.agent else None) != claims.agent_id:
        raise not_ours()
    return found


@bp.post("/simulator/paymentIntents/<payment_intent_id>/present")
@requires_reader
@bp.for_readers
@rate_limited("pos-present", 120)
@bp.described("presentSimulatedCard", 401, 403, 404, 409, 413, 415, 422, 429, 503, 504)
@bp.arguments(PresentBody)
@bp.response(200, PresentedCardShape)
def present(body: dict[str, Any], payment_intent_id: str) -> dict[str, Any]:
    """Hold a simulated card to the reader. The bearer is a payment token (`generatePOSPaymentToken`).

    Only with the payment simulator; a real till taps real cards. A declined card is an answer like any other, with its
    `lastError`: the same payment takes another card. 422: the reader could not read the card (`pin_required`,
    `card_removed_early`, `reader_offline`), and no attempt was made. 504: the reader's answer was lost.
    """
    simulator: PaymentSimulator = g.simulator
    tap = Tap(CARDS[body["card"]], body["pin"])
    shown = present_card(work_context(), simulator, cashier(), payment_intent_id, body["client_secret"], tap)
    return presented_json(shown)
