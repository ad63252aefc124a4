"""Which batches of events were counted, so that each is counted exactly once."""

from __future__ import annotations

from hashlib import sha256

from app.domain.search_statistics.counting.models import CountedBatch
from app.domain.shared.clock import Clock
from app.extensions import db


def note_batch(clock: Clock, batch_id: str) -> bool:
    """Note that a batch is counted, in the transaction that counts it; return False for one that was counted before."""
    id = sha256(batch_id.encode()).hexdigest()
    if db.session.get(CountedBatch, id) is not None:
        return False
    midnight = clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
    db.session.add(CountedBatch(id=id, at=midnight))
    return True
