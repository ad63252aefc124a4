"""Who makes a change, where and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from app.domain.shared.clock import Clock


@dataclass(frozen=True, slots=True)
class Author:
    """The one who changes something of a site, as the activity log names them, and the clock that dates the change."""

    site_id: int
    name: str
    clock: Clock

    def now(self) -> datetime:
        return self.clock.now()
