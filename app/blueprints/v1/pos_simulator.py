"""The simulated card reader: the token by which a till's reader takes payments, and holding a card to it."""

from __future__ import annotations

from functools import wraps
from typing import Any

from flask import g

from app import ports
from app.blueprints.hosts import request_host
from app.blueprints.rate_limit import rate_limited
from app.blueprints.v1 import payment_tokens
from app.blueprints.v1.api import ApiBlueprint
from app.blueprints.v1.bearer import sent_token
from app.blueprints.v1.payment_tokens import PaymentClaims
from app.blueprints.v1.pos_access import Till, admitted, cashier, requires_till, till
from app.blueprints.v1.pos_simulator_shapes import PaymentTokenShape, PresentBody, PresentedCardShape, presented_json
from app.domain.pos.locations import account_of
from app.domain.pos.simulated_reader import present_card
from app.domain.pos.simulator import CARDS, PaymentSimulator, Tap
from app.domain.shared.problems import NotFound, Unauthenticated
from app.domain.sites import api_sessions
from app.domain.sites.settings import settings_of
from app.permissions import DECLARED, Permission, View
from app.tokens.signed_tokens import not_ours
from app.work_context import work_context

bp = ApiBlueprint("v1_pos_simulator", __name__, url_prefix="/v1/pos", tag="POS")


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
        "token": payment_tokens.issue(caller, cashier().agent_id, location.location_id, now),
        "token_type": payment_tokens.TYPE,
        "expires_at": payment_tokens.expiry(caller, now),
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
        claims = payment_tokens.read(token)
        if claims.is_over(ports.clock().now()):
            raise Unauthenticated("token_expired", "This payment token is over. Get another.")
        g.till = _till(claims)
        return view(*args, **kwargs)

    setattr(checked, DECLARED, Permission.USE_POS.value)
    return checked  # type: ignore[return-value]


def _till(claims: PaymentClaims) -> Till:
    """Return the till of a payment token's holder. Raises Unauthenticated, also where the user is another agent by now,
    Forbidden and NotFound."""
    caller = api_sessions.find_caller(ports.clock(), claims.session_id, claims.user_id, request_host(), ())
    found = admitted(caller, claims.location_id, settles=True)
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
