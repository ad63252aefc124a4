"""Synonyms of a site: adding, changing, deciding on suggestions, reverting, and the lists of the page.

Call the use cases in a transaction. Every change of what is live raises the site's saved version, whose row lock
serialises changes, so that two at once cannot both take a word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, func, select

from app.domain.catalogue.revisions import check_revision
from app.domain.relevance.models import Synonym
from app.domain.relevance.synonym_definition import (
    LIVE,
    MANUAL,
    MOST_GROUPS,
    REJECTED,
    SUGGESTED,
    StatusFilter,
    SynonymList,
    SynonymOrder,
    SynonymState,
    check_synonym,
    fingerprint,
    words_digest,
)
from app.domain.relevance.synonym_mining import evidence_strength
from app.domain.search.models import ServedConfiguration
from app.domain.search.serving import configuration
from app.domain.search.serving.configuration import is_behind, serving_state
from app.domain.search.serving.synonyms import SynonymGroup
from app.domain.shared.author import Author
from app.domain.shared.paging import Paged
from app.domain.shared.problems import Conflict, Invalid
from app.domain.shared.records import existing, find_record, flush_or_conflict
from app.domain.shared.text import fold
from app.domain.sites import activity
from app.extensions import db

Record = Mapping[str, Any]
NOT_SO = {
    LIVE: "This synonym is live already.",
    SUGGESTED: "This is a suggestion: accept or reject it.",
    REJECTED: "This suggestion was rejected. Accept it to make it live.",
}
SHOWN_SUGGESTIONS = 8


def synonym_of(site_id: int, synonym_id: int, to_change: bool = False) -> Synonym:
    """Return a synonym of this site, whatever its status; `to_change` locks its row. Raises NotFound."""
    missing = "There is no such synonym on this site. Another user may have deleted it."
    return existing(find_record(Synonym, site_id, synonym_id, to_change), missing)


def live_groups(site_id: int, but: int | None = None) -> list[SynonymGroup]:
    """Return the live synonyms of a site as values, without the one whose id is `but`."""
    query = select(Synonym).where(Synonym.site_id == site_id, Synonym.status == LIVE).order_by(Synonym.id)
    return [synonym.group for synonym in db.session.scalars(query) if synonym.id != but]


def add(author: Author, sent: SynonymGroup) -> Synonym:
    """Add a live synonym; a suggested or rejected one of the same words becomes live instead. Raises Invalid,
    Conflict."""
    version = configuration.raise_version(author.site_id)
    others = live_groups(author.site_id)
    _check_room(len(others))
    return add_checked(author, check_synonym(sent, others), version)


def add_checked(
    author: Author,
    group: SynonymGroup,
    version: int,
    source: str = MANUAL,
    evidence: dict[str, Any] | None = None,
) -> Synonym:
    """Add a group that is checked already; `version` is the one that publishes it."""
    known = _synonym_with_fingerprint(author.site_id, fingerprint(group))
    if known is not None:
        return _make_live(author, known, group, version)
    synonym = Synonym(site_id=author.site_id, source=source, evidence=evidence, revision=1, created_at=author.now())
    db.session.add(synonym)
    _write_live(author, synonym, group, version)
    _record_change(author, synonym, "add", f"Added the synonym {group}", None)
    return synonym


def change(author: Author, synonym_id: int, revision: int, sent: SynonymGroup) -> bool:
    """Change a live synonym that was read at `revision`; False where nothing differs. Raises NotFound, Conflict where
    it is not live, StaleRevision, Invalid."""
    version = configuration.raise_version(author.site_id)
    synonym = _lock_for_change(author.site_id, synonym_id, revision, (LIVE,))
    group = check_synonym(sent, live_groups(author.site_id, but=synonym.id))
    if group.as_json() == synonym.group.as_json():
        return False
    change_checked(author, synonym, group, version)
    return True


def change_checked(author: Author, synonym: Synonym, group: SynonymGroup, version: int) -> None:
    """Change a synonym to a group that is checked already; `version` is the one that publishes it."""
    before, was = synonym.record, synonym.group
    _remember_suggested_words(synonym)
    if synonym.group.as_json(for_shoppers=True) != group.as_json(for_shoppers=True):
        synonym.live_since = None  # Its effect is measured from when these words are served.
    _merge_suggestion(synonym, group)
    synonym.revision += 1
    _write_live(author, synonym, group, version)
    _record_change(author, synonym, "change", f"Changed the synonym {was} to {group}", before)


def delete(author: Author, synonym_id: int, revision: int) -> str:
    """Delete a synonym and return its text. One that was once suggested is kept as rejected, so that it is not
    suggested again. Raises NotFound, Conflict where it is rejected already, StaleRevision."""
    configuration.raise_version(author.site_id)
    synonym = _lock_for_change(author.site_id, synonym_id, revision, (LIVE, SUGGESTED))
    before, written, after = synonym.record, str(synonym.group), None
    if synonym.source != MANUAL or synonym.suggested_as:
        _mark_rejected(author, synonym)
        after = synonym.record
    else:
        db.session.delete(synonym)
        db.session.flush()
    subject = "synonym", str(synonym_id)
    activity.record(author, "synonym.delete", subject, f"Deleted the synonym {written}", before, after)
    return written


def accept(author: Author, synonym_id: int, revision: int, edited: SynonymGroup | None = None) -> Synonym:
    """Make a suggestion, or a rejected one, live as it is or edited. Raises NotFound, Conflict where it is live
    already, StaleRevision, Invalid."""
    version = configuration.raise_version(author.site_id)
    synonym = _lock_for_change(author.site_id, synonym_id, revision, (SUGGESTED, REJECTED))
    others = live_groups(author.site_id)
    _check_room(len(others))
    group = check_synonym(edited or synonym.group, others)
    _merge_suggestion(synonym, group)
    return _make_live(author, synonym, group, version)


def reject(author: Author, synonym_id: int, revision: int) -> Synonym:
    """Reject a suggestion, so that it is never made again. Raises NotFound, Conflict where it is no suggestion,
    StaleRevision."""
    synonym = _lock_for_change(author.site_id, synonym_id, revision, (SUGGESTED,))
    before = synonym.record
    _mark_rejected(author, synonym)
    _record_change(author, synonym, "reject", f"Rejected the suggestion {synonym.group}", before)
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


def _lock_for_change(site_id: int, synonym_id: int, revision: int, statuses: tuple[str, ...]) -> Synonym:
    synonym = synonym_of(site_id, synonym_id, to_change=True)
    check_revision(site_id, ("synonym", synonym.id), synonym.revision, revision)
    if synonym.status not in statuses:
        raise Conflict(NOT_SO[synonym.status])
    return synonym


def _make_live(author: Author, synonym: Synonym, group: SynonymGroup, version: int) -> Synonym:
    before = synonym.record
    _remember_suggested_words(synonym)
    synonym.status, synonym.live_since = LIVE, None
    synonym.revision += 1
    _write_live(author, synonym, group, version)
    _record_change(author, synonym, "accept", f"Accepted the suggestion {group}", before)
    return synonym


def _remember_suggested_words(synonym: Synonym) -> None:
    """Store the digest of the suggested words, so that the suggestion is recognised after people edited it."""
    if synonym.source != MANUAL and not synonym.suggested_as:
        synonym.suggested_as = [words_digest(synonym.group)]


def _mark_rejected(author: Author, synonym: Synonym) -> None:
    """Reject a synonym of any status; the caller raises the version and writes the activity log."""
    synonym.status, synonym.live_since = REJECTED, None
    synonym.revision += 1
    synonym.updated_at, synonym.updated_by = author.now(), author.name[:100]


def _merge_suggestion(synonym: Synonym, group: SynonymGroup) -> None:
    """Merge into `synonym` the suggestion that has the words of `group`, which is decided with it, and delete that. A
    synonym made by hand gets its source and evidence, and so stays as rejected should it be deleted. Raises Conflict
    where a live synonym has these words."""
    other = _synonym_with_fingerprint(synonym.site_id, fingerprint(group))
    if other is None or other.id == synonym.id:
        return
    if other.status == LIVE:
        raise Conflict(f"There is a live synonym of these words already: {other.group}.")
    _remember_suggested_words(other)
    if synonym.source == MANUAL:
        synonym.source, synonym.evidence = other.source, other.evidence
    synonym.suggested_as = sorted({*synonym.suggested_as, *other.suggested_as})
    db.session.delete(other)
    db.session.flush()


def _synonym_with_fingerprint(site_id: int, written: str) -> Synonym | None:
    """Return the synonym with this fingerprint, None for none. Once a group is checked it can only be a suggested or a
    rejected one."""
    return db.session.scalar(select(Synonym).where(Synonym.site_id == site_id, Synonym.fingerprint == written))


def _write_live(author: Author, synonym: Synonym, group: SynonymGroup, version: int) -> None:
    synonym.write(group)
    synonym.status, synonym.words_version = LIVE, version
    synonym.updated_at, synonym.updated_by = author.now(), author.name[:100]
    flush_or_conflict("Another user saved the same synonym at the same moment. Nothing was saved.")


def _check_room(live: int) -> None:
    if live >= MOST_GROUPS:
        raise Invalid.one("too_many_synonyms", f"A shop has at most {MOST_GROUPS:,} synonyms. Delete one first.")


def _record_change(author: Author, synonym: Synonym, act: str, summary: str, before: Record | None) -> None:
    activity.record(author, f"synonym.{act}", ("synonym", str(synonym.id)), summary, before, synonym.record)


def records(site_id: int, ids: list[int]) -> dict[str, Record]:
    """Return the current records of those synonyms that exist, by their ids as text."""
    rows = db.session.scalars(select(Synonym).where(Synonym.site_id == site_id, Synonym.id.in_(ids)))
    return {str(row.id): row.record for row in rows}


def revert_synonym(author: Author, synonym_id: int, before: Record | None) -> None:
    """Restore a synonym to its earlier record, or remove it for None. Raises Invalid where it conflicts with live
    synonyms, and Conflict where another synonym has the words of one that was suggested or rejected."""
    version = configuration.raise_version(author.site_id)
    synonym = find_record(Synonym, author.site_id, synonym_id, to_change=True)
    if before is None:
        if synonym is not None:
            _take_back(author, synonym)
        return
    was = synonym.record if synonym is not None else None
    if synonym is None:
        added = {"revision": 0, "words_version": 0, "suggested_as": list[str](), "created_at": author.now()}
        synonym = Synonym(id=synonym_id, site_id=author.site_id, **added)
    others = live_groups(author.site_id, but=synonym_id) if before["status"] == LIVE else []
    _check_room(len(others))
    group = check_synonym(SynonymGroup.of_json(before), others)
    if before["status"] != LIVE:
        other = _synonym_with_fingerprint(author.site_id, fingerprint(group))
        if other is not None and other.id != synonym_id:
            state = {LIVE: "live", SUGGESTED: "suggested", REJECTED: "rejected"}[other.status]
            raise Conflict(f"This cannot be undone: {other.group} is {state} as a synonym of its own by now.")
    _merge_suggestion(synonym, group)
    synonym.write(group)
    SynonymState.of_json(before).write_row(synonym)
    synonym.words_version, synonym.revision, synonym.live_since = version, synonym.revision + 1, None
    synonym.updated_at, synonym.updated_by = author.now(), author.name[:100]
    db.session.add(synonym)
    flush_or_conflict("Another user saved the same synonym at the same moment. Nothing was undone.")
    done = "Brought back" if was is None else "Undid a change of"
    _record_change(author, synonym, "undo", f"{done} the synonym {group}", was)


def _take_back(author: Author, synonym: Synonym) -> None:
    """Delete a synonym again; one that took over a suggestion stays as rejected, so that it is not suggested again."""
    summary, before = f"Took back the synonym {synonym.group}", synonym.record
    if synonym.suggested_as:
        _mark_rejected(author, synonym)
        _record_change(author, synonym, "undo", summary, before)
        return
    activity.record(author, "synonym.undo", ("synonym", str(synonym.id)), summary, before=before)
    db.session.delete(synonym)
    db.session.flush()


@dataclass(frozen=True, slots=True)
class SynonymPage:
    """`waits` is true while something that is saved, or deleted, is not live yet. `suggestions` are the strongest ones;
    `counts` are those of each status."""

    listing: SynonymList
    found: Paged[Synonym]
    state: ServedConfiguration | None
    suggestions: Sequence[Synonym]
    counts: dict[str, int]

    @property
    def waits(self) -> bool:
        return is_behind(self.state)


def synonym_page(site_id: int, listing: SynonymList) -> SynonymPage:
    """Return the page of a list of synonyms, in a few statements however many there are."""
    state = serving_state(site_id)
    query = select(Synonym.status, func.count()).where(Synonym.site_id == site_id).group_by(Synonym.status)
    counts: dict[str, int] = {status: number for status, number in db.session.execute(query)}
    return SynonymPage(
        listing=listing,
        found=find_synonyms(site_id, listing, state),
        state=state,
        suggestions=_strongest_suggestions(site_id, listing) if listing.status is StatusFilter.LIVE else (),
        counts={status.value: counts.get(status.value, 0) for status in StatusFilter if status is not StatusFilter.ANY},
    )


def find_synonyms(site_id: int, listing: SynonymList, state: ServedConfiguration | None) -> Paged[Synonym]:
    """Return a page of synonyms. Words are looked for as search folds them, which no database does, so a light row of
    each synonym is read and the full ones of the page."""
    columns = select(Synonym.id, Synonym.root, Synonym.words).where(*_list_conditions(site_id, listing, state))
    rows = db.session.execute(columns.order_by(Synonym.updated_at.desc(), Synonym.id.desc())).all()
    wanted = fold(listing.words)
    kept = [row for row in rows if not wanted or wanted in _folded_words(row.root, row.words)]
    if listing.order is SynonymOrder.WORD:
        kept.sort(key=lambda row: _folded_words(row.root, row.words))
    if listing.status is StatusFilter.SUGGESTED and listing.order is SynonymOrder.CHANGED:
        kept = _sort_by_strength(kept)
    first = (listing.page - 1) * listing.page_size
    ids = [row.id for row in kept[first : first + listing.page_size]]
    on_page = select(Synonym).where(Synonym.site_id == site_id, Synonym.id.in_(ids))
    found = {synonym.id: synonym for synonym in db.session.scalars(on_page)}
    items = [found[synonym_id] for synonym_id in ids if synonym_id in found]
    return Paged(items, listing.page, listing.page_size, len(kept))


def live_synonyms(site_id: int) -> Sequence[Synonym]:
    """Return the live synonyms of a site, by type and words, as they are exported."""
    query = select(Synonym).where(Synonym.site_id == site_id, Synonym.status == StatusFilter.LIVE.value)
    return sorted(db.session.scalars(query), key=lambda row: (row.type, _folded_words(row.root, row.words)))


def _list_conditions(
    site_id: int, listing: SynonymList, state: ServedConfiguration | None
) -> list[ColumnElement[bool]]:
    conditions = [Synonym.site_id == site_id]
    if listing.type is not None:
        conditions.append(Synonym.type == listing.type.value)
    if listing.status is not StatusFilter.ANY:
        conditions.append(Synonym.status == listing.status.value)
    if listing.waiting:
        conditions += [
            Synonym.status == StatusFilter.LIVE.value,
            Synonym.words_version > (state.live_version if state else 0),
        ]
    return conditions


def _folded_words(root: str | None, words: Sequence[str]) -> str:
    return fold("\n".join([root, *words] if root else words))


def _sort_by_strength(rows: list[Any]) -> list[Any]:
    query = select(Synonym.id, Synonym.evidence).where(Synonym.id.in_([row.id for row in rows]))
    strengths = {row.id: evidence_strength(row.evidence) for row in db.session.execute(query)}
    return sorted(rows, key=lambda row: strengths[row.id], reverse=True)


def _strongest_suggestions(site_id: int, listing: SynonymList) -> list[Synonym]:
    """Return the strongest of the suggestions that fit the words and the kind of the list."""
    conditions = [Synonym.site_id == site_id, Synonym.status == SUGGESTED]
    if listing.type is not None:
        conditions.append(Synonym.type == listing.type.value)
    waiting = db.session.scalars(select(Synonym).where(*conditions).order_by(Synonym.id))
    wanted = fold(listing.words)
    fitting = [one for one in waiting if not wanted or wanted in _folded_words(one.root, one.words)]
    return sorted(fitting, key=lambda synonym: evidence_strength(synonym.evidence), reverse=True)[:SHOWN_SUGGESTIONS]
