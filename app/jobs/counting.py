"""Brings what was noted about searches into the daily counts."""

from __future__ import annotations

from app.domain.search.counting.writing import count_batch
from app.domain.search.index.indexing import read_afresh
from app.ports import clock, counting
from app.transaction import transaction


def drain() -> None:
    """Everything that waits. Killed anywhere, it counts each batch once: the database remembers which it has."""
    read_afresh()
    with counting().batches() as waiting:
        for batch in waiting:
            with transaction():
                count_batch(clock(), batch)
            counting().done(batch.id)
