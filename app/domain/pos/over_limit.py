"""Amounts above the limit that a session tries: when its user is warned, and when the session ends. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from app.domain.shared.problems import Unprocessable

MOST_COUNTED = 3  # The last of them ends the session.
WARNED_FROM = 2  # Different amounts.
FAR_ABOVE = 2  # Times the limit: hardly a slip of the finger.


@dataclass(frozen=True, slots=True)
class RefusedAmount:
    """An amount that was refused, and the limit that it exceeds, in minor units."""

    amount: int
    limit: int

    @property
    def is_far_above(self) -> bool:
        return self.amount > FAR_ABOVE * self.limit


class AmountExceedsLimit(Unprocessable):
    """The refusal of an amount above the limit, which `source` set: AGENT or SITE. It names the attempts that are left
    where the user is warned."""

    code = "amount_exceeds_limit"

    def __init__(self, message: str, refused: RefusedAmount, source: str, attempts_left: int | None = None) -> None:
        warning = {} if attempts_left is None else {"attemptsLeft": attempts_left}
        super().__init__(message, None, maxAmountInPence=refused.limit, limitSource=source, **warning)
        self.refused = refused
        self.source = source

    def with_warning(self, tries: TriesOverLimit) -> AmountExceedsLimit:
        """Return the refusal with what the user is warned of, where that is due."""
        if tries.attempts_left is None:
            return self
        message = f"{self.message} {tries.warning}"
        return AmountExceedsLimit(message, self.refused, self.source, tries.attempts_left)


@dataclass(frozen=True, slots=True)
class TriesOverLimit:
    """The tries of a session within the time in which they count. `amounts` are different ones; `counted` is the number
    of those that count towards its end."""

    amounts: int
    counted: int

    @property
    def attempts_left(self) -> int | None:
        """The number of further amounts above the limit after which the session ends; None before the warning."""
        return max(0, MOST_COUNTED - self.counted) if self.amounts >= WARNED_FROM else None

    @property
    def ends_session(self) -> bool:
        return self.counted >= MOST_COUNTED

    @property
    def warning(self) -> str:
        if self.ends_session:
            return "So many different amounts above it were tried that this session was ended. Sign in again."
        if self.attempts_left == 1:
            return "Another amount above it within ten minutes ends this session."
        return f"After {self.attempts_left} more amounts above it within ten minutes this session ends."


def count_tries(refused: Iterable[RefusedAmount]) -> TriesOverLimit:
    """Count refused amounts, the oldest first. The same amount again is no other try. One counts where it is far above
    the limit, or came after the warning."""
    amounts: set[int] = set()
    counted = 0
    for each in refused:
        if each.amount not in amounts:
            is_warned = len(amounts) >= WARNED_FROM
            counted += is_warned or each.is_far_above
            amounts.add(each.amount)
    return TriesOverLimit(len(amounts), counted)
