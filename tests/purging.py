"""A purge of some records."""

from __future__ import annotations

from app.domain.retention.purging import Retention, purge
from app.domain.shared.clock import Clock
from app.transaction import transaction


def purged(clock: Clock, *retentions: Retention, is_confirmed: bool = False) -> int:
    """Return how many records went."""
    with transaction():
        return sum(purged.removed for purged in purge(clock, retentions, is_confirmed))
