"""A synonym as the activity log keeps it and as JSON shows it."""

from __future__ import annotations

from typing import Any

from app.domain.search.live.models import ServedWords, Synonym
from app.domain.search.live.publishing import is_live
from app.domain.shared.times import rfc3339

LIVE, SUGGESTED, REJECTED = "LIVE", "SUGGESTED", "REJECTED"


def record_of(synonym: Synonym) -> dict[str, Any]:
    """The whole record, as it is kept before and after a change: equal where a synonym is what it was."""
    return {
        "type": synonym.type,
        "root": synonym.root,
        "synonyms": list(synonym.words),
        "status": synonym.status,
        "source": synonym.source,
        "evidence": synonym.evidence,
    }


def view_of(synonym: Synonym, state: ServedWords | None) -> dict[str, Any]:
    """The JSON of contracts: Synonyms. Only what is live can be out of step with what shoppers are served."""
    return (
        {"id": str(synonym.id)}
        | record_of(synonym)
        | {
            "synced": is_synced(synonym, state),
            "revision": synonym.revision,
            "updatedBy": synonym.updated_by,
            "updatedAt": rfc3339(synonym.updated_at),
        }
    )


def is_synced(synonym: Synonym, state: ServedWords | None) -> bool:
    return synonym.status != LIVE or is_live(synonym, state)
