"""Use cases of synonyms: added, changed and deleted by people, suggested by a source. Every change of what is live
raises the site's saved version, whose row lock serialises changes, so that two at once cannot both take a word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import select

from app.domain.catalogue.revisions import check_revision
from app.domain.relevance.synonyms.candidate import Candidate
from app.domain.relevance.synonyms.group import (
    MOST_GROUPS,
    Taken,
    check,
    fingerprint,
    words_digest,
)
from app.domain.relevance.synonyms.models import LIVE, MANUAL, REJECTED, SUGGESTED, Synonym
from app.domain.relevance.synonyms.rejected import RejectedWords, digests_of
from app.domain.search.serving import configuration
from app.domain.search.serving.synonyms import SynonymGroup
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.flushing import flush_or_conflict
from app.domain.shared.problems import Conflict, Invalid
from app.domain.shared.records import existing, find_record
from app.domain.sites import audit
from app.extensions import db

Record = Mapping[str, Any]
NOT_SO = {
    LIVE: "This synonym is live already.",
    SUGGESTED: "This is a suggestion: accept or reject it.",
    REJECTED: "This suggestion was rejected. Accept it to make it live.",
}
MOST_SUGGESTIONS = 500  # Suggestions of a site that await a decision.


def synonym_of(site_id: int, synonym_id: int, to_change: bool = False) -> Synonym:
    """Return a synonym of this site, whatever its status; `to_change` locks its row. Raises NotFound."""
    missing = "There is no such synonym on this site. Another user may have deleted it."
    return existing(find_record(Synonym, site_id, synonym_id, to_change), missing)


def live_groups(site_id: int, but: int | None = None) -> list[SynonymGroup]:
    """The live synonyms of a site as values, without the one whose id is `but`."""
    query = select(Synonym).where(Synonym.site_id == site_id, Synonym.status == LIVE).order_by(Synonym.id)
    return [synonym.group for synonym in db.session.scalars(query) if synonym.id != but]


def add(author: Author, sent: SynonymGroup) -> Synonym:
    """Add a live synonym; a suggested or rejected one of the same words becomes live instead. Raises Invalid,
    Conflict."""
    version = configuration.raise_version(author.site_id)
    others = live_groups(author.site_id)
    check_room(len(others))
    return add_checked(author, check(sent, others), version)


def add_checked(
    author: Author,
    group: SynonymGroup,
    version: int,
    source: str = MANUAL,
    evidence: dict[str, Any] | None = None,
) -> Synonym:
    """Add a group that is checked already; `version` is the one that publishes it."""
    known = of_fingerprint(author.site_id, fingerprint(group))
    if known is not None:
        return _accepted(author, known, group, version)
    synonym = Synonym(site_id=author.site_id, source=source, evidence=evidence, revision=1, created_at=author.now())
    db.session.add(synonym)
    _fill(author, synonym, group, version)
    note(author, synonym, "add", f"Added the synonym {group}", None)
    return synonym


def change(author: Author, synonym_id: int, revision: int, sent: SynonymGroup) -> bool:
    """Change a live synonym that was read at `revision`; False where nothing differs. Raises NotFound, Conflict where
    it is not live, StaleRevision, Invalid."""
    version = configuration.raise_version(author.site_id)
    synonym = _to_change(author.site_id, synonym_id, revision, (LIVE,))
    group = check(sent, live_groups(author.site_id, but=synonym.id))
    if group.as_json() == synonym.group.as_json():
        return False
    change_checked(author, synonym, group, version)
    return True


def change_checked(author: Author, synonym: Synonym, group: SynonymGroup, version: int) -> None:
    """Change a synonym to a group that is checked already; `version` is the one that publishes it."""
    before, was = synonym.record, synonym.group
    _remember(synonym)
    if synonym.group != group:
        synonym.live_since = None  # Its effect is measured from when these words are served.
    take_over(synonym, group)
    synonym.revision += 1
    _fill(author, synonym, group, version)
    note(author, synonym, "change", f"Changed the synonym {was} to {group}", before)


def delete(author: Author, synonym_id: int, revision: int) -> str:
    """Delete a synonym and return its text. One that was once suggested is kept as rejected, so that it is not
    suggested again. Raises NotFound, Conflict where it is rejected already, StaleRevision."""
    configuration.raise_version(author.site_id)
    synonym = _to_change(author.site_id, synonym_id, revision, (LIVE, SUGGESTED))
    before, written = synonym.record, str(synonym.group)
    after = None
    if not is_remembered(synonym):
        db.session.delete(synonym)
        db.session.flush()
    else:
        reject_anyhow(author, synonym)
        after = synonym.record
    audit.record(
        author, "synonym.delete", ("synonym", str(synonym_id)), f"Deleted the synonym {written}", before, after
    )
    return written


def accept(author: Author, synonym_id: int, revision: int, edited: SynonymGroup | None = None) -> Synonym:
    """Make a suggestion, or a rejected one, live as it is or edited. Raises NotFound, Conflict where it is live
    already, StaleRevision, Invalid."""
    version = configuration.raise_version(author.site_id)
    synonym = _to_change(author.site_id, synonym_id, revision, (SUGGESTED, REJECTED))
    others = live_groups(author.site_id)
    check_room(len(others))
    group = check(edited or synonym.group, others)
    take_over(synonym, group)
    return _accepted(author, synonym, group, version)


def reject(author: Author, synonym_id: int, revision: int) -> Synonym:
    """Reject a suggestion, so that it is never made again. Raises NotFound, Conflict where it is no suggestion,
    StaleRevision."""
    synonym = _to_change(author.site_id, synonym_id, revision, (SUGGESTED,))
    before = synonym.record
    reject_anyhow(author, synonym)
    note(author, synonym, "reject", f"Rejected the suggestion {synonym.group}", before)
    return synonym


def reject_shown(author: Author, shown: Mapping[int, int]) -> int:
    """Reject those of the suggestions that have not changed since they were shown, and return how many. `shown` maps
    ids to the revisions that the user saw."""
    query = select(Synonym).where(Synonym.site_id == author.site_id, Synonym.id.in_(shown), Synonym.status == SUGGESTED)
    waiting = db.session.scalars(query.order_by(Synonym.id).with_for_update()).all()
    unchanged = [synonym for synonym in waiting if synonym.revision == shown[synonym.id]]
    for synonym in unchanged:
        reject(author, synonym.id, synonym.revision)
    return len(unchanged)


def suggest(clock: Clock, site_id: int, candidates: Iterable[Candidate], source: str) -> int:
    """Store new candidates as suggestions of `source` (AI or MINED) and return how many. Left out are those whose words
    the site has had in one synonym before, in any direction and of any status, those that could not be accepted beside
    the live synonyms, and those beyond MOST_SUGGESTIONS."""
    rows = db.session.scalars(select(Synonym).where(Synonym.site_id == site_id)).all()
    known, taken = _words_had(rows), Taken.by(row.group for row in rows if row.status == LIVE)
    rejected = RejectedWords(site_id)
    room = MOST_SUGGESTIONS - sum(row.status == SUGGESTED for row in rows)
    added = 0
    for candidate in candidates:
        group = _sound(candidate, taken)
        if added >= room or group is None or words_digest(group) in known or words_digest(group) in rejected:
            continue
        known.add(words_digest(group))
        _suggested(clock, site_id, group, candidate, source)
        added += 1
    flush_or_conflict("Suggestions came in twice at the same moment. None of these were kept.")
    return added


def _words_had(synonyms: Iterable[Synonym]) -> set[str]:
    return {digest for one in synonyms for digest in digests_of(one)}


def _suggested(clock: Clock, site_id: int, group: SynonymGroup, candidate: Candidate, source: str) -> None:
    now = clock.now()
    evidence = dict(candidate.evidence) or None
    synonym = Synonym(site_id=site_id, status=SUGGESTED, source=source, evidence=evidence, revision=1, words_version=0)
    synonym.write(group)
    synonym.created_at = synonym.updated_at = now
    synonym.updated_by = "Suggested by AI" if source == "AI" else "Suggested by the shop"
    db.session.add(synonym)


def _sound(candidate: Candidate, taken: Taken) -> SynonymGroup | None:
    try:
        return check(SynonymGroup(candidate.type, candidate.root, candidate.words), taken)
    except Invalid:
        return None


def _to_change(site_id: int, synonym_id: int, revision: int, statuses: tuple[str, ...]) -> Synonym:
    synonym = synonym_of(site_id, synonym_id, to_change=True)
    check_revision(site_id, ("synonym", synonym.id), synonym.revision, revision)
    if synonym.status not in statuses:
        raise Conflict(NOT_SO[synonym.status])
    return synonym


def _accepted(author: Author, synonym: Synonym, group: SynonymGroup, version: int) -> Synonym:
    before = synonym.record
    _remember(synonym)
    synonym.status, synonym.live_since = LIVE, None
    synonym.revision += 1
    _fill(author, synonym, group, version)
    note(author, synonym, "accept", f"Accepted the suggestion {group}", before)
    return synonym


def _remember(synonym: Synonym) -> None:
    """Store the digest of the suggested words, so that the suggestion is recognised after people edited it."""
    if synonym.source != MANUAL and not synonym.suggested_as:
        synonym.suggested_as = [words_digest(synonym.group)]


def reject_anyhow(author: Author, synonym: Synonym) -> None:
    """Reject a synonym of any status; the caller raises the version and writes the activity log."""
    synonym.status, synonym.live_since = REJECTED, None
    synonym.revision += 1
    synonym.updated_at, synonym.updated_by = author.now(), author.name[:100]


def is_remembered(synonym: Synonym) -> bool:
    """Whether a synonym must stay as rejected instead of being deleted, so that its suggestion is not made again."""
    return synonym.source != MANUAL or bool(synonym.suggested_as)


def take_over(synonym: Synonym, group: SynonymGroup) -> None:
    """Merge into `synonym` the suggestion that has the words of `group`, which is decided with it, and delete that. A
    synonym made by hand gets its source and evidence, and so stays as rejected should it be deleted. Raises Conflict
    where a live synonym has these words."""
    other = of_fingerprint(synonym.site_id, fingerprint(group))
    if other is None or other.id == synonym.id:
        return
    if other.status == LIVE:
        raise Conflict(f"There is a live synonym of these words already: {other.group}.")
    _remember(other)
    if synonym.source == MANUAL:
        synonym.source, synonym.evidence = other.source, other.evidence
    synonym.suggested_as = sorted({*synonym.suggested_as, *other.suggested_as})
    db.session.delete(other)
    db.session.flush()


def of_fingerprint(site_id: int, written: str) -> Synonym | None:
    """Return the synonym with this fingerprint, None for none. Once a group is checked it can only be a suggested or a
    rejected one."""
    return db.session.scalar(select(Synonym).where(Synonym.site_id == site_id, Synonym.fingerprint == written))


def _fill(author: Author, synonym: Synonym, group: SynonymGroup, version: int) -> None:
    synonym.write(group)
    synonym.status, synonym.words_version = LIVE, version
    synonym.updated_at, synonym.updated_by = author.now(), author.name[:100]
    flush_or_conflict("Another user saved the same synonym at the same moment. Nothing was saved.")


def check_room(live: int) -> None:
    if live >= MOST_GROUPS:
        raise Invalid.one("too_many_synonyms", f"A shop has at most {MOST_GROUPS:,} synonyms. Delete one first.")


def note(author: Author, synonym: Synonym, act: str, summary: str, before: Record | None) -> None:
    audit.record(author, f"synonym.{act}", ("synonym", str(synonym.id)), summary, before, synonym.record)
