"""The memory of a shop whose callers are not limited."""

from __future__ import annotations

from app.domain.shared.memory import MachineMemory
from app.domain.shared.rate_limit import Rate


class NoRateLimits(MachineMemory):
    def take(self, key: str, rate: Rate, now: float, counted: int = 1) -> int:
        return 0
