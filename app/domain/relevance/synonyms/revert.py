"""Revert a synonym to an earlier record of the activity log."""

from __future__ import annotations

from sqlalchemy import select

from app.domain.relevance.synonyms.editing import (
    Record,
    check_room,
    live_groups,
    note,
    of_fingerprint,
    reject_anyhow,
    take_over,
)
from app.domain.relevance.synonyms.group import check, fingerprint
from app.domain.relevance.synonyms.models import LIVE, REJECTED, SUGGESTED, Synonym
from app.domain.search.serving import configuration
from app.domain.search.serving.synonyms import SynonymGroup
from app.domain.shared.author import Author
from app.domain.shared.flushing import flush_or_conflict
from app.domain.shared.problems import Conflict
from app.domain.shared.records import find_record
from app.domain.sites import audit
from app.extensions import db


def records(site_id: int, ids: list[int]) -> dict[str, Record]:
    """Return the current records of those synonyms that exist, by their ids as text."""
    rows = db.session.scalars(select(Synonym).where(Synonym.site_id == site_id, Synonym.id.in_(ids)))
    return {str(row.id): row.record for row in rows}


def revert(author: Author, synonym_id: int, before: Record | None) -> None:
    """Restore a synonym to its earlier record, or remove it for None. Raises Invalid where it conflicts with live
    synonyms, and Conflict where another synonym has the words of one that was suggested or rejected."""
    version = configuration.raise_version(author.site_id)
    synonym = find_record(Synonym, author.site_id, synonym_id, to_change=True)
    if before is None:
        if synonym is not None:
            _remove(author, synonym)
        return
    was = synonym.record if synonym is not None else None
    _fill(author, synonym or _anew(author, synonym_id), before, version, was)


def _remove(author: Author, synonym: Synonym) -> None:
    summary, before = f"Took back the synonym {synonym.group}", synonym.record
    if synonym.suggested_as:
        # It took over a suggestion, which must not be made again.
        reject_anyhow(author, synonym)
        note(author, synonym, "undo", summary, before)
        return
    subject = "synonym", str(synonym.id)
    audit.record(author, "synonym.undo", subject, summary, before=before)
    db.session.delete(synonym)
    db.session.flush()


def _anew(author: Author, synonym_id: int) -> Synonym:
    return Synonym(
        id=synonym_id, site_id=author.site_id, revision=0, words_version=0, suggested_as=[], created_at=author.now()
    )


def _fill(author: Author, synonym: Synonym, before: Record, version: int, was: Record | None) -> None:
    others = live_groups(synonym.site_id, but=synonym.id) if before["status"] == LIVE else []
    check_room(len(others))
    group = check(SynonymGroup.of_json(before), others)
    if before["status"] != LIVE:
        _check_alone(synonym, group)
    take_over(synonym, group)
    synonym.write(group)
    synonym.status, synonym.source, synonym.evidence = before["status"], before["source"], before["evidence"]
    synonym.words_version, synonym.revision, synonym.live_since = version, synonym.revision + 1, None
    synonym.updated_at, synonym.updated_by = author.now(), author.name[:100]
    db.session.add(synonym)
    flush_or_conflict("Another user saved the same synonym at the same moment. Nothing was undone.")
    done = "Brought back" if was is None else "Undid a change of"
    note(author, synonym, "undo", f"{done} the synonym {group}", was)


def _check_alone(synonym: Synonym, group: SynonymGroup) -> None:
    """Check that no other synonym has the words of one to be restored as suggested or rejected. Raises Conflict."""
    other = of_fingerprint(synonym.site_id, fingerprint(group))
    if other is not None and other.id != synonym.id:
        state = {LIVE: "live", SUGGESTED: "suggested", REJECTED: "rejected"}[other.status]
        raise Conflict(f"This cannot be undone: {other.group} is {state} as a synonym of its own by now.")
