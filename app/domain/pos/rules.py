"""Rules of the till: typed text, the fields of locations and agents, and what a payment must satisfy before the
processor is called. Pure. Source: the specification's limits, and the order of checks in docs/payments.md."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum

from app.domain.orders.basket import CONTACT_EMAIL, LONGEST_EMAIL
from app.domain.pos.over_limit import AmountExceedsLimit, RefusedAmount
from app.domain.pos.processor import Address
from app.domain.shared.card_numbers import names_card
from app.domain.shared.money import decimals, format_money
from app.domain.shared.problems import Forbidden, Problem, Unprocessable
from app.domain.shared.text import line_problems, one_line

RANDOM_ID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)  # A UUID.
LONGEST_PROGRAM = 200
COUNTRY = re.compile("[A-Z]{2}", re.ASCII)
PROCESSOR_ID = re.compile("[A-Za-z0-9_.-]{1,255}", re.ASCII)
# By field: the label, the longest text and the name in JSON.
PARTS = {
    "line1": ("The first line of the address", 200, "line1"),
    "line2": ("The second line of the address", 200, "line2"),
    "city": ("The town", 100, "city"),
    "state": ("The county or state", 100, "state"),
    "postal_code": ("The postcode", 20, "postalCode"),
}
LONGEST_AGENT_NAME = 100
LONGEST_REASON = 200  # Of a refund, a void or a cash movement.
LARGEST_AMOUNT = 99_999_999  # The longest amount that a processor takes has eight digits.
RESERVED_KEYS = frozenset(("agentId", "locationId", "transactionId", "siteId"))
MOST_KEYS, LONGEST_KEY, LONGEST_VALUE = 20, 40, 500  # Of the metadata.
LONGEST_DESCRIPTION = 1_000
# The smallest card payment by currency, in minor units; elsewhere half of the major unit.
MINIMUM = {
    "aed": 200, "bgn": 100, "czk": 1500, "dkk": 250, "gbp": 30, "hkd": 400, "huf": 17500, "jpy": 50, "mxn": 1000,
    "myr": 200, "nok": 300, "pln": 200, "ron": 200, "sek": 300, "thb": 1000,
}  # fmt: skip


def note_problems(text: str, label: str, longest: int, pointer: str, required: bool = True) -> list[Problem]:
    """Return the problems of a note of one line; no problem repeats the note."""
    problems = line_problems(text, label, longest, pointer, required)
    return problems or card_problems(text, pointer)


def email_problems(email: str, pointer: str = "#/email") -> list[Problem]:
    """Return the problems of an email address that every mail server must take."""
    problems = note_problems(email, "The email address", LONGEST_EMAIL, pointer)
    if problems or (CONTACT_EMAIL.fullmatch(email) and email.isascii()):
        return problems
    return [Problem("invalid_email", "This email address is not like name@example.com.", pointer)]


def device_problems(device_id: str | None, device_name: str | None) -> list[Problem]:
    """Return the problems of the id and the name that a device gives itself. A random id (a UUID) is no card number,
    whatever its digits are."""
    is_random = device_id is None or RANDOM_ID.fullmatch(device_id)
    about_id = [] if is_random else card_problems(device_id or "", "#/deviceId")
    return about_id + card_problems(device_name or "", "#/deviceName")


def program_name(user_agent: str) -> str:
    """Return the user agent of a program as it is stored: cut to LONGEST_PROGRAM, and empty where it holds the number
    of a card."""
    return "" if names_card(user_agent) else user_agent[:LONGEST_PROGRAM]


def is_other_program(stored: str, user_agent: str) -> bool:
    """Whether a user agent is another program's than the stored one, which is empty where nothing is known of it. An
    app that was updated is the same program: versions, and what else it says of its surroundings, count for nothing."""
    return bool(stored) and _product_of(stored) != _product_of(program_name(user_agent))


def _product_of(user_agent: str) -> str:
    """Return the name of the first product (RFC 9110): what comes before its version and before a comment."""
    return user_agent.partition("/")[0].partition("(")[0].strip()


def card_problems(text: str, pointer: str) -> list[Problem]:
    if not names_card(text):
        return []
    return [Problem("card_number", "Leave card numbers out: they must not be stored.", pointer)]


@dataclass(frozen=True, slots=True)
class LocationFields:
    """The fields of a location that an admin sets. `processor_account_id` None is the site's own account."""

    display_name: str
    address: Address
    processor_account_id: str | None = None


def clean_location(location: LocationFields) -> LocationFields:
    """Return the fields of a location without surplus spaces; an empty account becomes None."""
    address = location.address
    parts = {part.name: one_line(getattr(address, part.name)) for part in fields(address)}
    parts["country"] = parts["country"].upper()
    account = (location.processor_account_id or "").strip() or None
    return replace(
        location, display_name=one_line(location.display_name), address=Address(**parts), processor_account_id=account
    )


def location_problems(location: LocationFields) -> list[Problem]:
    problems = note_problems(location.display_name, "The name", 100, "#/displayName")
    for part, (label, longest, name) in PARTS.items():
        text, pointer = getattr(location.address, part), f"#/address/{name}"
        problems += note_problems(text, label, longest, pointer, required=False)
    if not COUNTRY.fullmatch(location.address.country):
        message = "The country is two letters, such as GB (ISO 3166-1)."
        problems.append(Problem("invalid_country", message, "#/address/country"))
    account = location.processor_account_id
    return problems if account is None else problems + id_problems(account, "The account", "#/processorAccountId")


def id_problems(processor_id: str, label: str, pointer: str) -> list[Problem]:
    """Return the problems of an id of the processor's, which becomes part of URLs."""
    if PROCESSOR_ID.fullmatch(processor_id):
        return []
    return [Problem("invalid_id", f"{label} has letters, digits, “_”, “-” and “.” alone, at most 255.", pointer)]


@dataclass(frozen=True, slots=True)
class AgentFields:
    """The fields of an agent that an admin sets. `max_transaction_amount` in minor units, None is the site's limit;
    `location_ids` are the processor's."""

    display_name: str
    can_process_quick_payments: bool = True
    can_build_orders: bool = True
    can_refund: bool = False
    can_discount: bool = False
    can_take_cash: bool = True
    can_move_cash: bool = False
    max_transaction_amount: int | None = None
    location_ids: tuple[str, ...] = ()


class LimitSource(StrEnum):
    AGENT = "AGENT"
    SITE = "SITE"


@dataclass(frozen=True, slots=True)
class Limit:
    """The largest amount of one payment in minor units, which is itself allowed, and who set it."""

    amount: int
    source: LimitSource


def effective_limit(agents: int | None, sites: int) -> Limit:
    """Return the lower of the agent's limit, None for none, and the site's."""
    if agents is not None and agents < sites:
        return Limit(agents, LimitSource.AGENT)
    return Limit(sites, LimitSource.SITE)


def agent_problems(fields: AgentFields) -> list[Problem]:
    problems = note_problems(fields.display_name, "The name", LONGEST_AGENT_NAME, "#/displayName")
    limit = fields.max_transaction_amount
    if limit is not None and not 1 <= limit <= LARGEST_AMOUNT:
        message = "The limit must be more than nothing, and at most 999,999.99."
        problems.append(Problem("amount_invalid", message, "#/maxTransactionAmount"))
    return problems


@dataclass(frozen=True, slots=True)
class SiteTerms:
    """The terms of a site for payments. `cash_rounding` in minor units, 0 for none."""

    currency: str
    allows_quick_payments: bool
    max_amount: int
    allows_cash: bool = True
    cash_rounding: int = 0
    allows_tips: bool = False


@dataclass(frozen=True, slots=True)
class AgentTerms:
    """The permissions and the limit of an agent for payments. `max_amount` None is the site's."""

    can_process_quick_payments: bool
    can_build_orders: bool
    max_amount: int | None
    can_take_cash: bool = True


def check_amount(amount: int) -> None:
    """Check the amount of a payment. Raises Unprocessable."""
    if not 0 < amount <= LARGEST_AMOUNT:
        raise Unprocessable(f"An amount is from 1 to {LARGEST_AMOUNT:,} in minor units.", "amount_invalid")


def check_tip(tip: int) -> None:
    """Check the tip of a payment, 0 for none. Raises Unprocessable."""
    if not 0 <= tip <= LARGEST_AMOUNT:
        raise Unprocessable(f"A tip is from 0 to {LARGEST_AMOUNT:,} in minor units.", "amount_invalid")


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


def check_cash(is_taken: bool, agent_may: bool) -> None:
    """Check that the shop takes cash, and the agent may. Raises Forbidden."""
    if not is_taken:
        raise Forbidden("This shop takes no cash.", "cash_disabled")
    if not agent_may:
        raise Forbidden("You may not take cash. Ask an admin.", "cash_not_permitted")


def check_limit(site: SiteTerms, agent: AgentTerms, amount: int, currency: str, tip: int = 0) -> None:
    """Check the currency of a card payment, and its amount with the tip against the largest and the smallest one.
    Raises Unprocessable."""
    check_largest(site, agent, amount + tip, currency)
    if tip and not site.allows_tips:
        raise Unprocessable("This shop takes no tips by card.", "tips_disabled")
    if amount + tip < (least := minimum_of(currency)):
        raise amount_too_small(f"A card payment is at least {format_money(least, currency)}.", least)


def check_largest(site: SiteTerms, agent: AgentTerms, amount: int, currency: str) -> None:
    """Check the currency of a payment, and its amount against the largest one. Raises Unprocessable."""
    if currency != site.currency:
        raise Unprocessable(f"This shop takes payments in {site.currency.upper()}.", "currency_not_supported")
    limit = effective_limit(agent.max_amount, site.max_amount)
    if amount > limit.amount:
        message = f"A payment here is at most {format_money(limit.amount, currency)}."
        raise AmountExceedsLimit(message, RefusedAmount(amount, limit.amount), limit.source.value)


def round_cash(amount: int, step: int) -> int:
    """Return an amount of cash rounded to a multiple of `step` minor units, half up; 0 rounds nothing."""
    return (2 * amount + step) // (2 * step) * step if step else amount


def change_of(tendered: int | None, to_pay: int, currency: str) -> int:
    """Return the change for what was handed over, None for exactly what is to be paid; all in minor units. Raises
    Unprocessable `amount_invalid` or `tendered_too_small`."""
    if tendered is None:
        return 0
    if not 0 <= tendered <= LARGEST_AMOUNT:
        raise Unprocessable(f"What is handed over is from 0 to {LARGEST_AMOUNT:,} in minor units.", "amount_invalid")
    if tendered < to_pay:
        message = (
            f"{format_money(to_pay, currency)} is to be paid, and {format_money(tendered, currency)} was handed over."
        )
        raise Unprocessable(message, "tendered_too_small", toPayInPence=to_pay)
    return tendered - to_pay


def limit_problems(limit: int, currency: str, pointer: str) -> list[Problem]:
    """Return the problem of a limit that is out of range: below the smallest payment that the processor takes it would
    allow none."""
    least = minimum_of(currency)
    if least <= limit <= LARGEST_AMOUNT:
        return []
    allowed = f"{format_money(least, currency)} to {format_money(LARGEST_AMOUNT, currency)}"
    return [Problem("amount_invalid", f"The largest payment must be an amount from {allowed}.", pointer)]


def minimum_of(currency: str) -> int:
    half: int = 10 ** decimals(currency) // 2
    return MINIMUM.get(currency, max(1, half))


def amount_too_small(message: str, least: int) -> Unprocessable:
    return Unprocessable(message, "amount_too_small", minAmountInPence=least)
