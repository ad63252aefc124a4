"""The configuration of a till: what its app shows and offers, before anything is sold."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from marshmallow import fields, validate

from app import ports
from app.blueprints.callers import TILL_READS, rate_limited
from app.blueprints.v1.api import ApiBlueprint, Shape
from app.blueprints.v1.callers import requires_till, till
from app.blueprints.v1.pos_agents import AddressShape
from app.domain.pos.till_configuration import TillConfiguration, configuration_of
from app.domain.sites.setting_keys import SETTINGS

bp = ApiBlueprint("v1_pos_configuration", __name__, url_prefix="/v1/pos/<location_id>", tag="POS")
ROUNDING_STEPS = list(SETTINGS["posCashRounding"].numbers)


class PosPermissionsShape(Shape):
    """What the caller may do, by the switches of the shop and the caller’s own permissions; each call checks again."""

    quick_payments = fields.Bool(required=True, metadata={"description": "Take payments without an order."})
    orders = fields.Bool(
        required=True, metadata={"description": "Build orders; having them paid takes an agent, as quick payments do."}
    )
    refunds = fields.Bool(required=True)
    cash = fields.Bool(required=True, metadata={"description": "Take payments in cash."})
    cash_movements = fields.Bool(required=True)


class PosConfigurationShape(Shape):
    """The shop, the location and the caller as a till needs to know them."""

    shop_name = fields.Str(required=True, metadata={"example": "Demo shop"})
    location_id = fields.Str(required=True)
    display_name = fields.Str(required=True, metadata={"description": "Of the location.", "example": "Spring fair"})
    address = fields.Nested(AddressShape, required=True)
    currency = fields.Str(required=True)
    time_zone = fields.Str(required=True, metadata={"description": "An IANA name.", "example": "Europe/London"})
    processor = fields.Str(
        required=True, metadata={"description": "`stripe`, `simulator`, or `none` where cards are not taken."}
    )
    live = fields.Bool(required=True, metadata={"description": "Whether cards move real money."})
    simulated_cards = fields.List(
        fields.Str(),
        required=True,
        metadata={"description": "The cards of the simulated reader; empty for real payments.", "example": ["visa"]},
    )
    takes_payments = fields.Bool(
        required=True, metadata={"description": "false: the shop or the location takes no new payments now."}
    )
    quick_payments = fields.Bool(required=True, metadata={"description": "Whether the shop allows them."})
    max_amount_in_pence = fields.Int(
        required=True,
        metadata={"description": "The largest payment: the lower one of the agent’s limit and the site’s."},
    )
    min_amount_in_pence = fields.Int(required=True, metadata={"description": "The smallest card payment."})
    cash = fields.Bool(required=True, metadata={"description": "Whether the shop takes cash."})
    cash_rounding = fields.Int(
        required=True,
        validate=validate.OneOf(ROUNDING_STEPS),
        metadata={"description": "Cash is rounded to a multiple of so many minor units, half up; 0: to none."},
    )
    tips = fields.Bool(required=True, metadata={"description": "Whether card payments may have a tip on top."})
    unlock_required = fields.Bool(
        required=True, metadata={"description": "Whether the app must be set up with a quick unlock."}
    )
    has_printer = fields.Bool(
        required=True, metadata={"description": "Whether the location has a network printer for receipts."}
    )
    permissions = fields.Nested(PosPermissionsShape, required=True)


@bp.get("/configuration")
@requires_till(settles=True)
@rate_limited(*TILL_READS)
@bp.described("getPosConfiguration", 401, 403, 404, 429)
@bp.response(200, PosConfigurationShape)
def configuration() -> dict[str, Any]:
    """What a till’s app shows and offers at a location. Nothing in it is a promise: every call checks again."""
    location = till().location
    assert location is not None, "the address names a location"
    return _configuration_json(configuration_of(location, till().agent, till().is_admin, ports.payment_processor()))


def _configuration_json(found: TillConfiguration) -> dict[str, Any]:
    return {
        "shop_name": found.shop_name,
        "location_id": found.location.location_id,
        "display_name": found.location.display_name,
        "address": found.location.address,
        "currency": found.currency,
        "time_zone": found.time_zone,
        "processor": found.processor,
        "live": found.is_live,
        "simulated_cards": found.simulated_cards,
        "takes_payments": found.takes_payments,
        "quick_payments": found.allows_quick_payments,
        "max_amount_in_pence": found.max_amount,
        "min_amount_in_pence": found.min_amount,
        "cash": found.allows_cash,
        "cash_rounding": found.cash_rounding,
        "tips": found.allows_tips,
        "unlock_required": found.unlock_required,
        "has_printer": bool(found.location.printer_address),
        "permissions": asdict(found.permissions),
    }
