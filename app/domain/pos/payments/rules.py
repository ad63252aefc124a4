"""Rules that a payment must satisfy before the processor is called: pure. Source: the specification's limits, and the
order of checks in docs/payments.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.domain.pos.agent_rules import LARGEST_LIMIT, effective_limit
from app.domain.shared.card_numbers import names_card
from app.domain.shared.money import decimals, format_money
from app.domain.shared.problems import Forbidden, Problem, Unprocessable

LARGEST_AMOUNT = LARGEST_LIMIT
RESERVED_KEYS = frozenset(("agentId", "locationId", "transactionId", "siteId"))
MOST_KEYS, LONGEST_KEY, LONGEST_VALUE = 20, 40, 500
LONGEST_DESCRIPTION = 1_000
# The smallest card payment by currency, in minor units; elsewhere half of the major unit.
MINIMUM = {
    "aed": 200, "bgn": 100, "czk": 1500, "dkk": 250, "gbp": 30, "hkd": 400, "huf": 17500, "jpy": 50, "mxn": 1000,
    "myr": 200, "nok": 300, "pln": 200, "ron": 200, "sek": 300, "thb": 1000,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SiteTerms:
    currency: str
    allows_quick_payments: bool
    max_amount: int


@dataclass(frozen=True, slots=True)
class AgentTerms:
    """The permissions and the limit of an agent for payments. `max_amount` None is the site's."""

    can_process_quick_payments: bool
    can_build_orders: bool
    max_amount: int | None


def check_amount(amount: int) -> None:
    """Check the amount of a payment. Raises Unprocessable."""
    if not 0 < amount <= LARGEST_AMOUNT:
        raise Unprocessable(f"An amount is from 1 to {LARGEST_AMOUNT:,} in minor units.", "amount_invalid")


def check_texts(description: str, metadata: Mapping[str, str]) -> None:
    """Check the texts of a payment. Card numbers are refused and not repeated. Raises Unprocessable."""
    if names_card(description):
        raise Unprocessable("The description contains a card number. Leave it out.", "description_invalid")
    if reason := _metadata_problem(metadata):
        raise Unprocessable(reason, "metadata_invalid")


def _metadata_problem(metadata: Mapping[str, str]) -> str | None:
    if reserved := sorted(RESERVED_KEYS.intersection(metadata)):
        return f"The shop itself sets {', '.join(reserved)} in the metadata."
    if len(metadata) > MOST_KEYS:
        return f"Metadata has at most {MOST_KEYS} keys."
    if any(not 0 < len(key) <= LONGEST_KEY or "[" in key or "]" in key for key in metadata):
        return f"A key of the metadata has 1 to {LONGEST_KEY} characters without square brackets."
    if any(len(value) > LONGEST_VALUE for value in metadata.values()):
        return f"A value of the metadata has at most {LONGEST_VALUE} characters."
    if any(map(names_card, (*metadata, *metadata.values()))):
        return "The metadata contains a card number. Leave it out."
    return None


def check_permission(site: SiteTerms, agent: AgentTerms, is_for_order: bool) -> None:
    """Check the permission for a payment. It depends on the purpose of the payment; the client cannot choose. Raises
    Forbidden."""
    if is_for_order:
        if not agent.can_build_orders:
            raise Forbidden("You may not take payments of orders.", "orders_not_permitted")
    elif not site.allows_quick_payments:
        raise Forbidden("This shop takes payments of orders only.", "quick_payments_disabled")
    elif not agent.can_process_quick_payments:
        raise Forbidden("You may not take payments without an order.", "quick_payments_not_permitted")


def check_limit(site: SiteTerms, agent: AgentTerms, amount: int, currency: str) -> None:
    """Check the currency of a payment, and its amount against the largest and the smallest one. Raises
    Unprocessable."""
    if currency != site.currency:
        raise Unprocessable(f"This shop takes payments in {site.currency.upper()}.", "currency_not_supported")
    limit = effective_limit(agent.max_amount, site.max_amount)
    if amount > limit.amount:
        raise Unprocessable(
            f"A payment here is at most {format_money(limit.amount, currency)}.",
            "amount_exceeds_limit",
            maxAmountInPence=limit.amount,
            limitSource=limit.source.value,
        )
    if amount < (least := minimum_of(currency)):
        raise amount_too_small(f"A card payment is at least {format_money(least, currency)}.", least)


def limit_problems(limit: int, currency: str, pointer: str) -> list[Problem]:
    """Return the problem of a limit that is out of range: below the smallest payment that the processor takes it would
    allow none."""
    least = minimum_of(currency)
    if least <= limit <= LARGEST_LIMIT:
        return []
    allowed = f"{format_money(least, currency)} to {format_money(LARGEST_LIMIT, currency)}"
    return [Problem("amount_invalid", f"The largest payment must be an amount from {allowed}.", pointer)]


def minimum_of(currency: str) -> int:
    half: int = 10 ** decimals(currency) // 2
    return MINIMUM.get(currency, max(1, half))


def amount_too_small(message: str, least: int) -> Unprocessable:
    return Unprocessable(message, "amount_too_small", minAmountInPence=least)
