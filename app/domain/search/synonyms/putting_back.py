"""A synonym made again what it was, from the whole record that the activity log kept."""

from __future__ import annotations

from sqlalchemy import select

from app.domain.search.live import publishing
from app.domain.search.live.models import Synonym
from app.domain.search.live.served import SynonymGroup
from app.domain.search.live.snapshot import group_of
from app.domain.search.synonyms.editing import (
    Record,
    check_room,
    live_groups,
    note,
    of_fingerprint,
    reject_anyhow,
    take_over,
    write,
)
from app.domain.search.synonyms.group import SynonymDraft, check_draft, fingerprint, told
from app.domain.search.synonyms.record import LIVE, REJECTED, SUGGESTED, record_of
from app.domain.shared.clock import Clock
from app.domain.shared.flushing import flush_or_conflict
from app.domain.shared.problems import Conflict
from app.domain.sites import audit
from app.extensions import db


def put_back(clock: Clock, site_id: int, synonym_id: int, before: Record | None, actor: str) -> None:
    """`before` is what `record_of` gave; None for a synonym that was not there. Raises Invalid where live synonyms of
    today leave no place for it, and Conflict where what would wait or be rejected again is there a second time."""
    version = publishing.touch(site_id)
    query = select(Synonym).where(Synonym.site_id == site_id, Synonym.id == synonym_id)
    synonym = db.session.scalar(query.with_for_update())
    if before is None:
        if synonym is not None:
            _remove(clock, synonym, actor)
        return
    was = record_of(synonym) if synonym is not None else None
    _fill(clock, synonym or _anew(clock, site_id, synonym_id), before, version, actor, was)


def _remove(clock: Clock, synonym: Synonym, actor: str) -> None:
    summary, before = f"Took back the synonym {told(group_of(synonym))}", record_of(synonym)
    if synonym.suggested_as:
        # It took a suggestion's place for a while, which must not be made again.
        reject_anyhow(clock, synonym, actor)
        note(clock, synonym, actor, "undo", summary, before)
        return
    subject = "synonym", str(synonym.id)
    audit.record(clock, synonym.site_id, actor, "synonym.undo", subject, summary, before=before)
    db.session.delete(synonym)
    db.session.flush()


def _anew(clock: Clock, site_id: int, synonym_id: int) -> Synonym:
    return Synonym(id=synonym_id, site_id=site_id, revision=0, words_version=0, suggested_as=[], created_at=clock.now())


def _fill(clock: Clock, synonym: Synonym, before: Record, version: int, actor: str, was: Record | None) -> None:
    others = live_groups(synonym.site_id, but=synonym.id) if before["status"] == LIVE else []
    check_room(len(others))
    group = check_draft(SynonymDraft.of_record(before), others)
    if before["status"] != LIVE:
        _check_alone(synonym, group)
    take_over(synonym, group)
    write(synonym, group)
    synonym.status, synonym.source, synonym.evidence = before["status"], before["source"], before["evidence"]
    synonym.words_version, synonym.revision, synonym.live_since = version, synonym.revision + 1, None
    synonym.updated_at, synonym.updated_by = clock.now(), actor[:100]
    db.session.add(synonym)
    flush_or_conflict("Somebody else saved the same synonym at the same moment. Nothing was undone.")
    done = "Brought back" if was is None else "Undid a change of"
    note(clock, synonym, actor, "undo", f"{done} the synonym {told(group)}", was)


def _check_alone(synonym: Synonym, group: SynonymGroup) -> None:
    """A suggestion that comes back takes nothing away that others made or decided since."""
    other = of_fingerprint(synonym.site_id, fingerprint(group))
    if other is not None and other.id != synonym.id:
        state = {LIVE: "live", SUGGESTED: "suggested", REJECTED: "rejected"}[other.status]
        raise Conflict(f"This cannot be undone: {told(group_of(other))} is {state} as a synonym of its own by now.")
