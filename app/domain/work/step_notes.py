"""The progress of leased work that goes through steps, noted in its row as it goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from app.domain.work import leases
from app.domain.work.context import WorkContext
from app.domain.work.leases import Claim
from app.domain.work.models import LeasedWork

BETWEEN_NOTES = 1.0  # Seconds.

W = TypeVar("W", bound=LeasedWork)


def go_on(row: Any) -> None:
    """Work that nobody can cancel."""


@dataclass(slots=True)
class StepNotes(Generic[W]):
    """The watch of a piece of work whose row has `step`, `done` and `total`: it notes the progress there, each step at
    once and a step's own progress at intervals. `look` gets the row within that transaction, and may end the work by
    raising."""

    context: WorkContext
    claim: Claim[W]
    look: Callable[[W], None] = go_on
    noted_at: float = field(default=float("-inf"))
    step: str = ""

    def __call__(self, step: str, done: int, total: int | None) -> None:
        """Note the progress. Raises LeaseLost, and what `look` raises."""
        now = self.context.clock.monotonic()
        if step == self.step and now - self.noted_at < BETWEEN_NOTES:
            return
        self.step, self.noted_at = step, now
        columns = {"step": step, "done": done, "total": total}
        self.context.commit(lambda: self.look(leases.renew(self.context.clock, self.claim, **columns)))
