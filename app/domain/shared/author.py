"""The author of a change: name, site, clock and origin."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from app.domain.shared.clock import Clock


class Origin(StrEnum):
    """The surface by which a change was made."""

    ADMIN = "ADMIN"
    API = "API"
    COMMAND_LINE = "COMMAND_LINE"
    MCP = "MCP"


@dataclass(frozen=True, slots=True)
class Author:
    """The one who changes something of a site, as the activity log names them, and the clock that dates the change.
    `origin` is None for what the shop does by itself."""

    site_id: int
    name: str
    clock: Clock
    origin: Origin | None = None

    def now(self) -> datetime:
        return self.clock.now()
