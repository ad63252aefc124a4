"""The number of records that a purge may remove at once without a person. Pure.

Where the clock is wrong unnoticed, everything looks old; the allowance keeps most of it until that is noticed.
Where much is old for a good reason, it goes within a few nights.
"""

from __future__ import annotations

from datetime import timedelta

SHARE = 4  # A quarter; a shop that is in use loses a ninetieth of its counts in a night.
FEW = 20  # Of a handful of records even all may be old.
OVERDUE = timedelta(days=30)  # Records that should have been removed that long ago are waiting for a person.


def most_at_once(kept: int) -> int:
    """Return how many of `kept` records one purge may remove."""
    return max(FEW, kept // SHARE)
