"""The address where users revert the changes of an agent."""

from __future__ import annotations

from app.domain.relevance.history import latest_entry_of
from app.mcp.registry import Call

UNDO = "The page in the admin that takes this change back, where the activity log can; null where nothing was written."


def undo_address(call: Call, kind: str, record_id: int | str) -> str | None:
    """Return the address of the latest activity entry about a record of the Search section; None in a dry run and
    without an entry."""
    entry = None if call.dry_run else latest_entry_of(call.site_id, kind, str(record_id))
    return f"/admin/search/activity/{entry}" if entry else None
