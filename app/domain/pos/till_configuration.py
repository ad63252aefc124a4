"""The configuration of a till: what its app needs to know of the shop, the location and its user before anything is
sold. Every call checks again what it says."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.pos.models import PosAgent, PosLocation
from app.domain.pos.payments.cashier import site_terms
from app.domain.pos.processor import PaymentProcessor
from app.domain.pos.rules import SiteTerms, effective_limit, minimum_of
from app.domain.pos.simulator import CARDS, PaymentSimulator
from app.domain.sites.models import Site
from app.domain.sites.settings import settings_of
from app.extensions import db


@dataclass(frozen=True, slots=True)
class TillPermissions:
    """What a user may do at a till now, by the switches of the shop and the user's own permissions."""

    quick_payments: bool
    orders: bool
    refunds: bool
    cash: bool
    cash_movements: bool


@dataclass(frozen=True, slots=True)
class TillConfiguration:
    """The configuration of a till. Amounts in minor units of `currency`; `min_amount` is the smallest card payment,
    `max_amount` the largest payment of the user. Cash is rounded to a multiple of `cash_rounding`, 0 for none.
    `simulated_cards` is empty unless payments are simulated. `takes_payments` is False while the shop or the location
    takes no new ones."""

    shop_name: str
    time_zone: str
    currency: str
    location: PosLocation
    processor: str
    is_live: bool
    simulated_cards: tuple[str, ...]
    takes_payments: bool
    allows_quick_payments: bool
    max_amount: int
    min_amount: int
    allows_cash: bool
    cash_rounding: int
    allows_tips: bool
    unlock_required: bool
    permissions: TillPermissions


def permissions_of(site: SiteTerms, agent: PosAgent | None, is_admin: bool) -> TillPermissions:
    """Return the permissions of an agent or an admin. Taking payments needs an enabled agent; an admin without one may
    build orders, refund and move cash."""
    acting = agent if agent is not None and agent.enabled else None
    return TillPermissions(
        quick_payments=site.allows_quick_payments and acting is not None and acting.can_process_quick_payments,
        orders=is_admin if acting is None else acting.can_build_orders,
        refunds=is_admin or (acting is not None and acting.can_refund),
        cash=site.allows_cash and acting is not None and acting.can_take_cash,
        cash_movements=site.allows_cash and (is_admin or (acting is not None and acting.can_move_cash)),
    )


def configuration_of(
    location: PosLocation, agent: PosAgent | None, is_admin: bool, processor: PaymentProcessor
) -> TillConfiguration:
    """Return the configuration of a till at a location for its user; `agent` None is an admin who is no agent."""
    settings, shop = settings_of(location.site_id), db.session.get_one(Site, location.site_id)
    site = site_terms(location.site_id, settings)
    return TillConfiguration(
        shop_name=shop.name,
        time_zone=shop.time_zone,
        currency=site.currency,
        location=location,
        processor=processor.name,
        is_live=processor.live,
        simulated_cards=tuple(CARDS) if isinstance(processor, PaymentSimulator) else (),
        takes_payments=settings["posEnabled"] and location.enabled,
        allows_quick_payments=site.allows_quick_payments,
        max_amount=effective_limit(agent.max_transaction_amount if agent else None, site.max_amount).amount,
        min_amount=minimum_of(site.currency),
        allows_cash=site.allows_cash,
        cash_rounding=site.cash_rounding,
        allows_tips=site.allows_tips,
        unlock_required=settings["posUnlockRequired"],
        permissions=permissions_of(site, agent, is_admin),
    )
