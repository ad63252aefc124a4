"""How long suggestions keep the words of shoppers: as long as searches are kept. Of those that were rejected, hashes
with a key of their own stay, so that none is made again; those that nobody decided about may be made again."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import null, select

from app.domain.relevance.synonyms.group import words_digest
from app.domain.relevance.synonyms.models import REJECTED, SUGGESTED, RejectedSuggestion, Synonym
from app.domain.retention.purging import Retention
from app.domain.search_statistics.counting.purge import KEEP_WORDS
from app.domain.sites.models import AuditEntry
from app.extensions import db


def digests_of(synonym: Synonym) -> set[str]:
    """Return the digests of the words that a synonym has, and of those that it was suggested with."""
    return {words_digest(synonym.group), *synonym.suggested_as}


class RejectedWords:
    """The words of a site's rejected suggestions of which hashes alone are kept."""

    def __init__(self, site_id: int) -> None:
        rows = select(RejectedSuggestion.key, RejectedSuggestion.digest).where(RejectedSuggestion.site_id == site_id)
        self._hashes = [(key, digest) for key, digest in db.session.execute(rows)]

    def __contains__(self, digest: str) -> bool:
        return any(hmac.compare_digest(_hash(key, digest), known) for key, known in self._hashes)


def _hash(key: str, digest: str) -> str:
    return hmac.digest(bytes.fromhex(key), digest.encode(), "sha256").hex()


def _are_old(now: datetime) -> Iterable[Synonym]:
    old = select(Synonym).where(Synonym.status == REJECTED, Synonym.updated_at < now - KEEP_WORDS)
    return db.session.scalars(old.order_by(Synonym.id))


def _keep_hashes(now: datetime) -> None:
    """Keep the hashes of suggestions whose words are about to be removed. A key of its own for each of them tells
    nobody which shops rejected the same."""
    known: dict[int, RejectedWords] = {}
    for synonym in _are_old(now):
        words = known.setdefault(synonym.site_id, RejectedWords(synonym.site_id))
        for digest in sorted(digests_of(synonym)):
            if digest not in words:
                key = secrets.token_hex(16)
                db.session.add(RejectedSuggestion(site_id=synonym.site_id, key=key, digest=_hash(key, digest)))
    db.session.flush()


FORGOTTEN = "Rejected a suggestion whose words are not kept any more"
RETENTIONS = (
    Retention(
        "rejected suggestions",
        Synonym,
        dated=Synonym.updated_at,
        is_old=lambda now: Synonym.updated_at < now - KEEP_WORDS,
        among=Synonym.status == REJECTED,
        prepare=_keep_hashes,
    ),
    Retention(
        "undecided suggestions",
        Synonym,
        dated=Synonym.updated_at,
        is_old=lambda now: Synonym.updated_at < now - KEEP_WORDS,
        among=Synonym.status == SUGGESTED,
    ),
    Retention(
        "words of rejected suggestions in the activity log",
        AuditEntry,
        dated=AuditEntry.at,
        is_old=lambda now: AuditEntry.at < now - KEEP_WORDS,
        among=AuditEntry.action.in_(("synonym.reject", "synonym.delete")) & AuditEntry.after.is_not(None),
        emptied={"summary": FORGOTTEN, "before": null(), "after": null()},
    ),
)
