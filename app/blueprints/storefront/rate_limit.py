"""Rate limits of requests that leave a record: a counted search, a new basket. Requests of every browser count,
whatever it calls itself, because programs drive real browsers too."""

from __future__ import annotations

from app.blueprints.rate_limit import seconds_to_wait
from app.domain.shared.rate_limit import Rate

SEARCHES, BASKETS = "searches", "baskets"
PER_MINUTE = 60  # More than a person does; an office that shares an address stays below it, too.


def allows(action: str) -> bool:
    """Whether the client may do one more of SEARCHES or BASKETS now."""
    return seconds_to_wait(action, Rate(PER_MINUTE)) == 0
