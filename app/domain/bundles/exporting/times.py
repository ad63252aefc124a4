"""Times as a bundle writes them."""

from __future__ import annotations

from datetime import UTC, datetime


def time_text(moment: datetime) -> str:
    """RFC 3339 in UTC, with parts of a second only where there are any."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"
