"""Synonyms written: by people, and by what suggests them. Each change of what is live is told to publishing, whose
lock of the site makes changes come one after the other, so that two at once cannot both take a word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import select

from app.domain.catalogue.saving import check_revision
from app.domain.search.live import publishing
from app.domain.search.live.models import Synonym
from app.domain.search.live.served import SynonymGroup, SynonymType
from app.domain.search.live.snapshot import group_of
from app.domain.search.synonyms.candidate import Candidate
from app.domain.search.synonyms.group import (
    MOST_GROUPS,
    SynonymDraft,
    Taken,
    check_draft,
    fingerprint,
    told,
    words_digest,
)
from app.domain.search.synonyms.record import LIVE, REJECTED, SUGGESTED, record_of
from app.domain.shared.clock import Clock
from app.domain.shared.flushing import flush_or_conflict
from app.domain.shared.problems import Conflict, Invalid, NotFound
from app.domain.sites import audit
from app.extensions import db

Record = Mapping[str, Any]
MANUAL = "MANUAL"
NOT_SO = {
    LIVE: "This synonym is live already.",
    SUGGESTED: "This is a suggestion: accept or reject it.",
    REJECTED: "This suggestion was rejected. Accept it to make it live.",
}
MOST_SUGGESTIONS = 500  # That wait for an answer; nobody reads more.


def synonym_of(site_id: int, synonym_id: int, to_change: bool = False) -> Synonym:
    """A synonym of this site, whatever its status. Raises NotFound."""
    query = select(Synonym).where(Synonym.site_id == site_id, Synonym.id == synonym_id)
    synonym = db.session.scalar(query.with_for_update() if to_change else query)
    if synonym is None:
        raise NotFound("There is no such synonym on this site. Somebody may have deleted it.")
    return synonym


def live_groups(site_id: int, but: int | None = None) -> list[SynonymGroup]:
    """The live synonyms of a site as values, without the one whose id is `but`."""
    query = select(Synonym).where(Synonym.site_id == site_id, Synonym.status == LIVE).order_by(Synonym.id)
    return [group_of(synonym) for synonym in db.session.scalars(query) if synonym.id != but]


def add(clock: Clock, site_id: int, draft: SynonymDraft, actor: str) -> Synonym:
    """A new live synonym; one that was suggested or rejected before becomes live. Raises Invalid."""
    version = publishing.touch(site_id)
    others = live_groups(site_id)
    check_room(len(others))
    return add_checked(clock, site_id, check_draft(draft, others), version, actor)


def add_checked(
    clock: Clock,
    site_id: int,
    group: SynonymGroup,
    version: int,
    actor: str,
    source: str = MANUAL,
    evidence: dict[str, Any] | None = None,
) -> Synonym:
    """What `add` does with a group that is checked already; `version` is publishing's."""
    known = of_fingerprint(site_id, fingerprint(group))
    if known is not None:
        return _accepted(clock, known, group, version, actor)
    synonym = Synonym(site_id=site_id, source=source, evidence=evidence, revision=1, created_at=clock.now())
    db.session.add(synonym)
    _fill(clock, synonym, group, version, actor)
    note(clock, synonym, actor, "add", f"Added the synonym {told(group)}", None)
    return synonym


def change(clock: Clock, site_id: int, synonym_id: int, revision: int, draft: SynonymDraft, actor: str) -> bool:
    """Change a live synonym that was read at `revision`; False where nothing differs. Raises NotFound, Conflict where
    it is not live, StaleRevision, Invalid."""
    version = publishing.touch(site_id)
    synonym = _to_change(site_id, synonym_id, revision, (LIVE,))
    group = check_draft(draft, live_groups(site_id, but=synonym.id))
    if _parts(group) == _parts(group_of(synonym)):
        return False
    change_checked(clock, synonym, group, version, actor)
    return True


def change_checked(clock: Clock, synonym: Synonym, group: SynonymGroup, version: int, actor: str) -> None:
    """What `change` does with a group that is checked already; `version` is publishing's."""
    before, was = record_of(synonym), told(group_of(synonym))
    _remember(synonym)
    if group_of(synonym) != group:
        synonym.live_since = None  # Whether it helped is asked of the words that it has.
    take_over(synonym, group)
    synonym.revision += 1
    _fill(clock, synonym, group, version, actor)
    note(clock, synonym, actor, "change", f"Changed the synonym {was} to {told(group)}", before)


def delete(clock: Clock, site_id: int, synonym_id: int, revision: int, actor: str) -> str:
    """Take a synonym out of search; how people write it. One that was suggested once is kept as rejected, so that it is
    not suggested again. Raises NotFound, Conflict where it is rejected already, StaleRevision."""
    publishing.touch(site_id)
    synonym = _to_change(site_id, synonym_id, revision, (LIVE, SUGGESTED))
    before, written = record_of(synonym), told(group_of(synonym))
    after = None
    if not is_remembered(synonym):
        db.session.delete(synonym)
        db.session.flush()
    else:
        reject_anyhow(clock, synonym, actor)
        after = record_of(synonym)
    subject = "synonym", str(synonym_id)
    audit.record(clock, site_id, actor, "synonym.delete", subject, f"Deleted the synonym {written}", before, after)
    return written


def accept(
    clock: Clock, site_id: int, synonym_id: int, revision: int, actor: str, draft: SynonymDraft | None = None
) -> Synonym:
    """A suggestion becomes live, as it is or edited; one that was rejected may become so too. Raises NotFound,
    Conflict where it is live already, StaleRevision, Invalid."""
    version = publishing.touch(site_id)
    synonym = _to_change(site_id, synonym_id, revision, (SUGGESTED, REJECTED))
    others = live_groups(site_id)
    check_room(len(others))
    group = check_draft(draft or SynonymDraft(*_parts(group_of(synonym))), others)
    take_over(synonym, group)
    return _accepted(clock, synonym, group, version, actor)


def reject(clock: Clock, site_id: int, synonym_id: int, revision: int, actor: str) -> Synonym:
    """The suggestion never comes back. Raises NotFound, Conflict where it is no suggestion, StaleRevision."""
    synonym = _to_change(site_id, synonym_id, revision, (SUGGESTED,))
    before = record_of(synonym)
    reject_anyhow(clock, synonym, actor)
    note(clock, synonym, actor, "reject", f"Rejected the suggestion {told(group_of(synonym))}", before)
    return synonym


def reject_shown(clock: Clock, site_id: int, shown: Mapping[int, int], actor: str) -> int:
    """Reject those of the suggestions, given as their ids with the revisions that were seen, that still are what
    somebody saw; how many."""
    query = select(Synonym).where(Synonym.site_id == site_id, Synonym.id.in_(shown), Synonym.status == SUGGESTED)
    waiting = db.session.scalars(query.order_by(Synonym.id).with_for_update()).all()
    unchanged = [synonym for synonym in waiting if synonym.revision == shown[synonym.id]]
    for synonym in unchanged:
        reject(clock, site_id, synonym.id, synonym.revision, actor)
    return len(unchanged)


def suggest(clock: Clock, site_id: int, candidates: Iterable[Candidate], source: str) -> int:
    """Keep what is new as suggestions of `source` (AI or MINED); how many were. Left out are those whose words the site
    has had together before, whichever found which and whatever became of them, those that could not be accepted beside
    the live synonyms, and what is more than MOST_SUGGESTIONS."""
    rows = db.session.scalars(select(Synonym).where(Synonym.site_id == site_id)).all()
    known, taken = _words_had(rows), Taken.by(group_of(row) for row in rows if row.status == LIVE)
    room = MOST_SUGGESTIONS - sum(row.status == SUGGESTED for row in rows)
    added = 0
    for candidate in candidates:
        group = _sound(candidate, taken)
        if added >= room or group is None or words_digest(group) in known:
            continue
        known.add(words_digest(group))
        _suggested(clock, site_id, group, candidate, source)
        added += 1
    flush_or_conflict("Suggestions came in twice at the same moment. None of these were kept.")
    return added


def _words_had(synonyms: Iterable[Synonym]) -> set[str]:
    return {digest for one in synonyms for digest in (words_digest(group_of(one)), *one.suggested_as)}


def _suggested(clock: Clock, site_id: int, group: SynonymGroup, candidate: Candidate, source: str) -> None:
    now = clock.now()
    evidence = dict(candidate.evidence) or None
    synonym = Synonym(site_id=site_id, status=SUGGESTED, source=source, evidence=evidence, revision=1, words_version=0)
    write(synonym, group)
    synonym.created_at = synonym.updated_at = now
    synonym.updated_by = "Suggested by AI" if source == "AI" else "Suggested by the shop"
    db.session.add(synonym)


def _sound(candidate: Candidate, taken: Taken) -> SynonymGroup | None:
    try:
        return check_draft(SynonymDraft(candidate.type, candidate.root, candidate.words), taken)
    except Invalid:
        return None


def _to_change(site_id: int, synonym_id: int, revision: int, statuses: tuple[str, ...]) -> Synonym:
    synonym = synonym_of(site_id, synonym_id, to_change=True)
    check_revision(site_id, ("synonym", synonym.id), synonym.revision, revision)
    if synonym.status not in statuses:
        raise Conflict(NOT_SO[synonym.status])
    return synonym


def _accepted(clock: Clock, synonym: Synonym, group: SynonymGroup, version: int, actor: str) -> Synonym:
    before = record_of(synonym)
    _remember(synonym)
    synonym.status, synonym.live_since = LIVE, None
    synonym.revision += 1
    _fill(clock, synonym, group, version, actor)
    note(clock, synonym, actor, "accept", f"Accepted the suggestion {told(group)}", before)
    return synonym


def _remember(synonym: Synonym) -> None:
    """What was suggested is known again when people have made other words of it."""
    if synonym.source != MANUAL and not synonym.suggested_as:
        synonym.suggested_as = [words_digest(group_of(synonym))]


def reject_anyhow(clock: Clock, synonym: Synonym, actor: str) -> None:
    """Whatever it was before; publishing and the activity log are told by the caller."""
    synonym.status, synonym.live_since = REJECTED, None
    synonym.revision += 1
    synonym.updated_at, synonym.updated_by = clock.now(), actor[:100]


def is_remembered(synonym: Synonym) -> bool:
    """Whether it must stay as rejected so that it, or what it was made of, is not suggested again."""
    return synonym.source != MANUAL or bool(synonym.suggested_as)


def take_over(synonym: Synonym, group: SynonymGroup) -> None:
    """A suggestion that says what the synonym says from now on has been decided with it. Where it came from goes along,
    so that it is remembered should the synonym be deleted. Raises Conflict for another live synonym, which is
    nobody's to take away."""
    other = of_fingerprint(synonym.site_id, fingerprint(group))
    if other is None or other.id == synonym.id:
        return
    if other.status == LIVE:
        raise Conflict(f"There is a live synonym of these words already: {told(group_of(other))}.")
    _remember(other)
    if synonym.source == MANUAL:
        synonym.source, synonym.evidence = other.source, other.evidence
    synonym.suggested_as = sorted({*synonym.suggested_as, *other.suggested_as})
    db.session.delete(other)
    db.session.flush()


def of_fingerprint(site_id: int, written: str) -> Synonym | None:
    """A suggestion or a rejected one; live ones of the same words are told as conflicts before."""
    return db.session.scalar(select(Synonym).where(Synonym.site_id == site_id, Synonym.fingerprint == written))


def _fill(clock: Clock, synonym: Synonym, group: SynonymGroup, version: int, actor: str) -> None:
    write(synonym, group)
    synonym.status, synonym.words_version = LIVE, version
    synonym.updated_at, synonym.updated_by = clock.now(), actor[:100]
    flush_or_conflict("Somebody else saved the same synonym at the same moment. Nothing was saved.")


def write(synonym: Synonym, group: SynonymGroup) -> None:
    synonym.type, synonym.root, synonym.words = group.type.value, group.root, list(group.words)
    synonym.fingerprint = fingerprint(group)


def _parts(group: SynonymGroup) -> tuple[SynonymType, str | None, tuple[str, ...]]:
    return group.type, group.root, group.words


def check_room(live: int) -> None:
    if live >= MOST_GROUPS:
        raise Invalid.one("too_many_synonyms", f"A shop has at most {MOST_GROUPS:,} synonyms. Delete one first.")


def note(clock: Clock, synonym: Synonym, actor: str, act: str, summary: str, before: Record | None) -> None:
    subject = "synonym", str(synonym.id)
    audit.record(
        clock, synonym.site_id, actor, f"synonym.{act}", subject, summary, before=before, after=record_of(synonym)
    )
