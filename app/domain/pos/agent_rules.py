"""Permissions and limits of an agent at a till: pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from app.domain.pos.typed_text import note_problems
from app.domain.shared.problems import Problem

LONGEST_NAME = 100
LARGEST_LIMIT = 99_999_999  # The longest amount that a processor takes has eight digits.


@dataclass(frozen=True, slots=True)
class AgentFields:
    """The fields of an agent that an admin sets. `max_transaction_amount` in minor units, None is the site's limit;
    `location_ids` are the processor's."""

    display_name: str
    can_process_quick_payments: bool = True
    can_build_orders: bool = True
    can_refund: bool = False
    can_discount: bool = False
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
    problems = note_problems(fields.display_name, "The name", LONGEST_NAME, "#/displayName")
    limit = fields.max_transaction_amount
    if limit is not None and not 1 <= limit <= LARGEST_LIMIT:
        message = "The limit must be more than nothing, and at most 999,999.99."
        problems.append(Problem("amount_invalid", message, "#/maxTransactionAmount"))
    return problems
