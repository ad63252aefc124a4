"""The change log of a taxonomy: its state after every save, by revision."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError

from app.domain.shared.author import Author
from app.domain.shared.paging import Paged
from app.domain.shared.records import existing
from app.domain.taxonomy.diff import StructureDiff, compare
from app.domain.taxonomy.models import Taxonomy, TaxonomyDraft, TaxonomyRevision
from app.domain.taxonomy.renames import ValueRename, renames_back, renames_on
from app.domain.taxonomy.tree import TaxonomyTree
from app.extensions import db

KEPT = 100  # Revisions of a taxonomy; beyond them only those that a draft is based on.
PAGE_SIZE = 25
LONGEST_NOTE = 500
MOST_SENTENCES = 500  # Of one comparison; each save keeps fewer.
BEFORE_THE_LOG = "Saved before the change log began, or by an import."


class TaxonomyTexts(Protocol):
    """A taxonomy, or what it was at a revision."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...


@dataclass(frozen=True, slots=True)
class RevisionRow:
    """A line of the change log. `changes` are sentences; `is_current` marks what the taxonomy is now."""

    revision: int
    name: str
    changes: Sequence[str]
    note: str
    saved_by: str
    saved_at: datetime
    is_current: bool


@dataclass(frozen=True, slots=True)
class Revision:
    """A taxonomy as it was after one save."""

    revision: int
    name: str
    description: str
    root_levels: list[dict[str, Any]]
    saved_by: str
    saved_at: datetime

    @property
    def tree(self) -> TaxonomyTree:
        return TaxonomyTree.parse(self.root_levels)


def record_revision(
    author: Author, taxonomy: Taxonomy, changes: Sequence[str], note: str = "", renames: Sequence[ValueRename] = ()
) -> None:
    """Add the present state of the taxonomy and its renames to the change log, in the transaction of the change. The
    oldest revisions beyond KEPT are deleted, except those that a draft is based on."""
    row = _revision_row(taxonomy, list(changes), note, author.name, author.now())
    row.renames = [rename.as_json() for rename in renames]
    db.session.add(row)
    db.session.flush()
    _delete_oldest(taxonomy)


def keep_stored_state(taxonomy: Taxonomy) -> None:
    """Note the present state of the taxonomy where the log lacks it: one that was imported has no line of its own."""
    keep_state(stored_state(taxonomy))


def stored_state(taxonomy: Taxonomy) -> TaxonomyRevision:
    """Return the state of the taxonomy before a change, for `keep_state` to note once the change holds."""
    return _revision_row(taxonomy, [BEFORE_THE_LOG], "", "", taxonomy.updated_at)


def keep_state(state: TaxonomyRevision) -> None:
    """Add a state to the change log where the log lacks it. Another caller may add the same one at the same moment."""
    log = TaxonomyRevision
    same = (log.site_id == state.site_id, log.taxonomy_id == state.taxonomy_id, log.revision == state.revision)
    if db.session.scalar(select(log.revision).where(*same)) is not None:
        return
    with suppress(IntegrityError), db.session.begin_nested():
        db.session.add(state)
        db.session.flush()


def _revision_row(taxonomy: Taxonomy, changes: list[str], note: str, saved_by: str, when: datetime) -> TaxonomyRevision:
    return TaxonomyRevision(
        site_id=taxonomy.site_id,
        taxonomy_id=taxonomy.id,
        revision=taxonomy.revision,
        name=taxonomy.name,
        description=taxonomy.description,
        root_levels=taxonomy.root_levels,
        changes=changes,
        note=note[:LONGEST_NOTE],
        saved_by=saved_by[:100],
        saved_at=when,
    )


def _delete_oldest(taxonomy: Taxonomy) -> None:
    drafts = select(TaxonomyDraft.base_revision).where(
        TaxonomyDraft.site_id == taxonomy.site_id, TaxonomyDraft.taxonomy_id == taxonomy.id
    )
    old = delete(TaxonomyRevision).where(
        TaxonomyRevision.site_id == taxonomy.site_id,
        TaxonomyRevision.taxonomy_id == taxonomy.id,
        TaxonomyRevision.revision <= taxonomy.revision - KEPT,
        TaxonomyRevision.revision.not_in(drafts),
    )
    db.session.execute(old.execution_options(synchronize_session=False))


def revisions(site_id: int, taxonomy_id: str, page: int) -> Paged[RevisionRow]:
    """The change log, newest first. Raises NotFound for an unknown taxonomy."""
    taxonomy = _taxonomy_in_session(site_id, taxonomy_id)
    rows = _read_log(taxonomy)
    if not rows or rows[0].revision != taxonomy.revision:
        stored = taxonomy.revision, taxonomy.name, [BEFORE_THE_LOG], "", "", taxonomy.updated_at
        rows.insert(0, RevisionRow(*stored, is_current=True))
    return Paged.cut(rows, page, PAGE_SIZE)


def _read_log(taxonomy: Taxonomy) -> list[RevisionRow]:
    """Return the rows of the log without the trees, which are large."""
    log = TaxonomyRevision
    query = select(log.revision, log.name, log.changes, log.note, log.saved_by, log.saved_at)
    of_taxonomy = query.where(log.site_id == taxonomy.site_id, log.taxonomy_id == taxonomy.id)
    found = db.session.execute(of_taxonomy.order_by(log.revision.desc()))
    return [RevisionRow(*row, is_current=row.revision == taxonomy.revision) for row in found]


def revision_of(site_id: int, taxonomy_id: str, revision: int) -> Revision:
    """Return the taxonomy as it was at this revision; its present one is always known. Raises NotFound."""
    taxonomy = _taxonomy_in_session(site_id, taxonomy_id)
    if revision == taxonomy.revision:
        row = db.session.get(TaxonomyRevision, (site_id, taxonomy_id, revision))
        saved_by = row.saved_by if row is not None else ""
        return _revision(taxonomy, saved_by, taxonomy.updated_at)
    missing = "The change log of this taxonomy has no such revision. Only the newest are kept."
    row = existing(db.session.get(TaxonomyRevision, (site_id, taxonomy_id, revision)), missing)
    return _revision(row, row.saved_by, row.saved_at)


def _revision(state: Taxonomy | TaxonomyRevision, saved_by: str, saved_at: datetime) -> Revision:
    return Revision(state.revision, state.name, state.description, state.root_levels, saved_by, saved_at)


def compare_revisions(site_id: int, taxonomy_id: str, older: int, newer: int) -> StructureDiff:
    """Return the changes in the tree from one revision to another, which may be the earlier one. Raises NotFound."""
    before, after = (revision_of(site_id, taxonomy_id, revision).tree for revision in (older, newer))
    return compare(before, after, renames_between(site_id, taxonomy_id, older, newer))


def renames_between(site_id: int, taxonomy_id: str, start: int, end: int) -> list[ValueRename]:
    """Return the renames of values from the revision `start` to the revision `end`, earlier or later, as far as the
    saves between are in the log. Raises NotFound."""
    first, last = sorted((start, end))
    trees = [revision_of(site_id, taxonomy_id, revision).tree for revision in (first, last)]
    log = TaxonomyRevision
    between = select(log.renames).where(
        log.site_id == site_id, log.taxonomy_id == taxonomy_id, log.revision > first, log.revision <= last
    )
    rows = db.session.scalars(between.order_by(log.revision))
    saves = [[ValueRename.read(rename) for rename in renames] for renames in rows]
    return renames_on(saves, *trees) if start == first else renames_back(saves, *trees)


def describe_changes(site_id: int, taxonomy_id: str, older: int, newer: int) -> list[str]:
    """Return the changes from one revision to another as sentences, those of the taxonomy's own texts first. Raises
    NotFound."""
    texts = describe_changed_texts(revision_of(site_id, taxonomy_id, older), revision_of(site_id, taxonomy_id, newer))
    return [*texts, *compare_revisions(site_id, taxonomy_id, older, newer).sentences(MOST_SENTENCES)]


def describe_changed_texts(before: TaxonomyTexts, after: TaxonomyTexts) -> list[str]:
    """Return the changes of the taxonomy's own texts, in sentences."""
    sentences = []
    if before.name != after.name:
        sentences.append(f"Renamed the taxonomy “{before.name}” to “{after.name}”.")
    if before.description != after.description:
        sentences.append("Changed the description of the taxonomy.")
    return sentences


def base_tree(site_id: int, taxonomy_id: str, revision: int) -> TaxonomyTree | None:
    """The tree at a revision, on which a draft may be based; None when it is no longer kept.
    Raises NotFound for an unknown taxonomy."""
    taxonomy = _taxonomy_in_session(site_id, taxonomy_id)
    if revision == taxonomy.revision:
        return taxonomy.tree
    row = db.session.get(TaxonomyRevision, (site_id, taxonomy_id, revision))
    return None if row is None else row.tree


def _taxonomy_in_session(site_id: int, taxonomy_id: str) -> Taxonomy:
    """Return the taxonomy, from the session where it was read already: its tree is large."""
    return existing(db.session.get(Taxonomy, (site_id, taxonomy_id)), "There is no such taxonomy on this site.")
