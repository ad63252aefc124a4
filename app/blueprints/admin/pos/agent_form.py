"""The form of an agent."""

from __future__ import annotations

from werkzeug.datastructures import MultiDict

from app.blueprints.admin.form_numbers import read_money
from app.domain.pos.rules import LARGEST_AMOUNT, AgentFields, limit_problems
from app.domain.shared.problems import Problem

PERMISSIONS = (
    ("canProcessQuickPayments", "Quick payments", "Takes an amount without an order."),
    ("canBuildOrders", "Orders", "Builds an order from products and takes its payment."),
    ("canRefund", "Refunds", "Refunds payments."),
    ("canDiscount", "Discounts", "Gives discounts on orders."),
)


def read_agent(problems: list[Problem], sent: MultiDict[str, str], currency: str) -> AgentFields:
    """Return the fields of the form. The limit is typed in major units; without one, that of the site holds. One that
    is no amount is added to `problems`."""
    limit = read_limit(problems, sent, "maxTransactionAmount", currency)
    return AgentFields(
        display_name=sent.get("displayName", ""),
        can_process_quick_payments="canProcessQuickPayments" in sent,
        can_build_orders="canBuildOrders" in sent,
        can_refund="canRefund" in sent,
        can_discount="canDiscount" in sent,
        max_transaction_amount=limit,
        location_ids=tuple(sent.getlist("locations")),
    )


def read_limit(
    problems: list[Problem], sent: MultiDict[str, str], name: str, currency: str, required: bool = False
) -> int | None:
    """Return the largest payment in minor units; None without one, and for one that cannot be, whose problem is
    added."""
    pointer, typed = f"#/{name}", sent.get(name, "")
    limit = read_money(problems, typed, currency, pointer, required, largest=LARGEST_AMOUNT)
    found = [] if limit is None else limit_problems(limit, currency, pointer)
    problems += found
    return None if found else limit


def typed_agent(sent: MultiDict[str, str]) -> dict[str, object]:
    """The form as it was sent, for showing it again."""
    return {
        "name": sent.get("displayName", ""),
        "limit": sent.get("maxTransactionAmount", ""),
        "allowed": [name for name, _, _ in PERMISSIONS if name in sent],
        "locations": sent.getlist("locations"),
    }


def shown_agent(fields: AgentFields, limit: str) -> dict[str, object]:
    """The form of a stored agent, its limit as people type it."""
    held = {
        "canProcessQuickPayments": fields.can_process_quick_payments,
        "canBuildOrders": fields.can_build_orders,
        "canRefund": fields.can_refund,
        "canDiscount": fields.can_discount,
    }
    return {
        "name": fields.display_name,
        "limit": limit,
        "allowed": [name for name, holds in held.items() if holds],
        "locations": list(fields.location_ids),
    }
