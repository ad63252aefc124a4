"""The editor's draft: what one person changed in a taxonomy and has not saved. It lives on the server as the edits made
since the revision on which it is based, so it survives a reload, and undo and redo move within it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property

from sqlalchemy import delete, select

from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, NotFound
from app.domain.shared.records import flush_or_conflict
from app.domain.taxonomy.diff import StructureDiff, compare
from app.domain.taxonomy.editor.level_edits import Edit
from app.domain.taxonomy.editor.rebase import Rebased, rebase
from app.domain.taxonomy.editor.steps import Step, apply_steps, cut_steps, merge_edits, redo_step, undo_step
from app.domain.taxonomy.models import Taxonomy, TaxonomyDraft
from app.domain.taxonomy.renames import ValueRename, draft_renames, without_renames
from app.domain.taxonomy.revisions import RevisionRow, base_tree, keep_stored_state, renames_between, revisions
from app.domain.taxonomy.saves import Prepared, SavedTaxonomy, prepare, prepare_texts, store
from app.domain.taxonomy.taxonomies import taxonomy_of
from app.domain.taxonomy.tree import Level, TaxonomyTree
from app.domain.taxonomy.validation.sent_tree import StructureProblem
from app.domain.taxonomy.validation.structure import draft_problems
from app.extensions import db

VERSIONS_SINCE = datetime(2026, 1, 1, tzinfo=UTC)

Wanted = Callable[[TaxonomyTree], Edit | Sequence[Edit]]


class StaleDraft(Conflict):
    """The draft was changed in another window after the requesting window had read it."""

    code = "stale_draft"


def token_of(base_revision: int, version: int) -> str:
    return f"{base_revision}.{version}"


@dataclass(frozen=True)
class Editing:
    """A taxonomy with a user's draft on top. `base` is the tree at `base_revision`, `tree` that of the draft: the first
    `applied` of `steps` done. `version` is 0 without a draft. `lost` are the labels of a draft's edits that can neither
    be shown nor done again, since the revision that it was based on is no longer kept; the tree is the stored one then,
    and nothing can be edited before that draft is discarded."""

    taxonomy: Taxonomy
    base_revision: int
    base: TaxonomyTree
    tree: TaxonomyTree
    steps: Sequence[Step] = ()
    applied: int = 0
    version: int = 0
    lost: Sequence[str] = ()

    @property
    def is_stale(self) -> bool:
        """Whether the taxonomy was saved since the draft was begun."""
        return self.base_revision != self.taxonomy.revision

    @property
    def token(self) -> str:
        """The version of the draft that a window has read; it differs after every change."""
        return token_of(self.base_revision, self.version)

    @property
    def done(self) -> Sequence[Step]:
        return self.steps[: self.applied]

    @property
    def undone(self) -> Sequence[Step]:
        return self.steps[self.applied :]

    @property
    def levels(self) -> Mapping[str, Level]:
        return self.tree.levels

    @property
    def proposal(self) -> TaxonomyTree:
        """The tree of the draft as a save would send it."""
        return without_renames(self.tree)

    @property
    def renames(self) -> list[ValueRename]:
        return draft_renames(self.tree.changed_since(self.base))

    @cached_property
    def problems(self) -> tuple[StructureProblem, ...]:
        """The problems for which the draft cannot be saved as it is."""
        return draft_problems(self.tree, self.base)

    @cached_property
    def changes(self) -> StructureDiff:
        return compare(self.base, self.tree, self.renames)


@dataclass(frozen=True, slots=True)
class Edited:
    """The outcome of an edit, an undo or a redo. `step` is None where nothing changed."""

    before: Editing
    after: Editing
    step: Step | None


def open_draft(site_id: int, taxonomy_id: str, user_id: int) -> Editing:
    """Return the taxonomy with the user's draft, if there is one. Raises NotFound."""
    taxonomy = taxonomy_of(site_id, taxonomy_id)
    return _read_editing(taxonomy, _draft(taxonomy, user_id))


def edit(author: Author, taxonomy_id: str, user_id: int, wanted: Edit | Wanted, token: str | None = None) -> Edited:
    """Do an edit, or the edits that `wanted` returns for the draft's tree, as one step; undone steps are dropped.
    `token` is that of the draft that the window shows. Raises NotFound, Invalid, StaleDraft."""
    editing = _open_to_change(author.site_id, taxonomy_id, user_id, token)
    edits = wanted(editing.tree) if callable(wanted) else wanted
    step = merge_edits(editing.tree, edits if isinstance(edits, Sequence) else (edits,))
    if not step.changes:
        return Edited(editing, editing, None)
    steps = cut_steps([*editing.done, step], editing.base)
    return Edited(editing, _write_step(author, editing, user_id, steps, len(steps)), step)


def undo(author: Author, taxonomy_id: str, user_id: int, token: str | None = None) -> Edited:
    """Undo the last step of the draft. Raises NotFound, StaleDraft."""
    editing = _open_to_change(author.site_id, taxonomy_id, user_id, token)
    if not editing.applied:
        return Edited(editing, editing, None)
    step = editing.steps[editing.applied - 1]
    return Edited(editing, _write_step(author, editing, user_id, editing.steps, editing.applied - 1), step)


def redo(author: Author, taxonomy_id: str, user_id: int, token: str | None = None) -> Edited:
    """Redo the step that was undone last. Raises NotFound, StaleDraft."""
    editing = _open_to_change(author.site_id, taxonomy_id, user_id, token)
    if not editing.undone:
        return Edited(editing, editing, None)
    step = editing.steps[editing.applied]
    return Edited(editing, _write_step(author, editing, user_id, editing.steps, editing.applied + 1), step)


def discard(site_id: int, taxonomy_id: str, user_id: int) -> Editing:
    """Delete the draft, and return the taxonomy without it. Raises NotFound."""
    taxonomy = taxonomy_of(site_id, taxonomy_id)
    _delete_draft(taxonomy, user_id)
    return _read_editing(taxonomy, None)


def prepare_draft(site_id: int, taxonomy_id: str, user_id: int, token: str, note: str = "") -> Prepared:
    """Check the draft for a save. `token` is that of the draft that was reviewed, so that nothing is saved unseen.
    Raises NotFound, StaleDraft, Conflict without a draft, and what `prepare` raises: Invalid, and StaleRevision when
    another user saved in between. Like `prepare`, call it before the transaction."""
    editing = open_draft(site_id, taxonomy_id, user_id)
    _check_editable(editing, token)
    if not editing.applied:
        raise Conflict("There is nothing to save: no change is left.")
    texts = editing.taxonomy.name, editing.taxonomy.description
    return prepare(site_id, taxonomy_id, editing.base_revision, *texts, editing.proposal, note, editing.renames)


def save_draft(author: Author, user_id: int, token: str, prepared: Prepared) -> SavedTaxonomy:
    """Save the prepared draft as a new revision, and delete it. Raises NotFound, StaleDraft when it was changed since,
    and StaleRevision when another user saved since, which leaves the draft."""
    taxonomy = taxonomy_of(author.site_id, prepared.taxonomy_id, to_change=True)
    if _token_of_draft(taxonomy, user_id) != token:
        raise _stale_draft()
    saved = store(author, prepared)
    _delete_draft(taxonomy, user_id)
    return saved


def rebase_draft(author: Author, taxonomy_id: str, user_id: int) -> Rebased:
    """Rebase the draft on the newest revision; what cannot be done there is reported. Raises NotFound."""
    editing = _open_to_change(author.site_id, taxonomy_id, user_id, None)
    rebased = rebase(editing.base, editing.taxonomy.tree, editing.done)
    draft = _draft(editing.taxonomy, user_id)
    if draft is not None:
        keep_stored_state(editing.taxonomy)
        draft.base_revision = editing.taxonomy.revision
        _write(author, draft, rebased.steps, len(rebased.steps))
    return rebased


def change_details(
    author: Author, taxonomy_id: str, user_id: int, revision: int, name: str, description: str
) -> SavedTaxonomy:
    """Change name and description of the taxonomy, which were read at `revision`, at once. A draft of this user that
    was up to date is based on the new revision then, whose levels are the same. Raises NotFound, Invalid, and
    StaleRevision when another user saved since."""
    taxonomy = taxonomy_of(author.site_id, taxonomy_id, to_change=True)
    draft, known = _draft(taxonomy, user_id), taxonomy.revision
    saved = store(author, prepare_texts(author.site_id, taxonomy_id, revision, name, description))
    if draft is not None and draft.base_revision == known:
        draft.base_revision = saved.taxonomy.revision
        db.session.flush()
    return saved


def _open_to_change(site_id: int, taxonomy_id: str, user_id: int, token: str | None) -> Editing:
    """Return the draft for a change. The row of the taxonomy is locked, so that two windows of one user change the
    draft one after the other. Raises NotFound, Conflict, StaleDraft."""
    taxonomy = taxonomy_of(site_id, taxonomy_id, to_change=True)
    editing = _read_editing(taxonomy, _draft(taxonomy, user_id))
    _check_editable(editing, token)
    return editing


def _check_editable(editing: Editing, token: str | None) -> None:
    if editing.lost:
        raise Conflict("Your earlier edits cannot be done again here. Look at what they were, then discard them.")
    if token is not None and token != editing.token:
        raise _stale_draft()


def _stale_draft() -> StaleDraft:
    return StaleDraft("You changed this taxonomy in another window. Nothing was done here yet: look, then do it again.")


def _token_of_draft(taxonomy: Taxonomy, user_id: int) -> str | None:
    """Return the token of the stored draft, None without one. Its steps, which may be many, are not read."""
    draft = TaxonomyDraft
    found = db.session.execute(
        select(draft.base_revision, draft.version).where(
            draft.site_id == taxonomy.site_id, draft.taxonomy_id == taxonomy.id, draft.user_id == user_id
        )
    ).first()
    return token_of(*found) if found else None


def _draft(taxonomy: Taxonomy, user_id: int) -> TaxonomyDraft | None:
    query = select(TaxonomyDraft).where(
        TaxonomyDraft.site_id == taxonomy.site_id,
        TaxonomyDraft.taxonomy_id == taxonomy.id,
        TaxonomyDraft.user_id == user_id,
    )
    return db.session.scalar(query.execution_options(populate_existing=True))


def _read_editing(taxonomy: Taxonomy, draft: TaxonomyDraft | None) -> Editing:
    if draft is None or not draft.steps:
        return _without_draft(taxonomy)
    steps = [Step.read(step) for step in draft.steps]
    base = base_tree(taxonomy.site_id, taxonomy.id, draft.base_revision)
    if base is None:
        lost = tuple(step.label for step in steps[: draft.applied])
        return replace(_without_draft(taxonomy), version=draft.version, lost=lost)
    tree = apply_steps(base, steps[: draft.applied])
    return Editing(taxonomy, draft.base_revision, base, tree, steps, draft.applied, draft.version)


def _without_draft(taxonomy: Taxonomy) -> Editing:
    base = taxonomy.tree
    return Editing(taxonomy, taxonomy.revision, base, base)


def _write_step(author: Author, before: Editing, user_id: int, steps: Sequence[Step], applied: int) -> Editing:
    """Write the draft, whose tree follows from the one before by one step."""
    taxonomy = before.taxonomy
    draft = _draft(taxonomy, user_id) or _begin(author, taxonomy, user_id)
    draft.base_revision = before.base_revision
    _write(author, draft, steps, applied)
    db.session.expunge(taxonomy)  # A commit would expire it, and its tree would be read once more.
    if applied < before.applied:
        tree = undo_step(before.tree, before.steps[applied])
    else:
        tree = redo_step(before.tree, steps[applied - 1])
    return Editing(taxonomy, before.base_revision, before.base, tree, steps, applied, draft.version)


def _begin(author: Author, taxonomy: Taxonomy, user_id: int) -> TaxonomyDraft:
    """Begin a draft. Its versions begin beyond those of any earlier draft, so that a window that shows one is known to
    be late. The state that it is based on is kept, also where the taxonomy is overwritten without a save."""
    keep_stored_state(taxonomy)
    draft = TaxonomyDraft(
        site_id=taxonomy.site_id,
        taxonomy_id=taxonomy.id,
        user_id=user_id,
        base_revision=taxonomy.revision,
        version=int((author.now() - VERSIONS_SINCE).total_seconds()),
        updated_at=author.now(),
    )
    db.session.add(draft)
    return draft


def _write(author: Author, draft: TaxonomyDraft, steps: Sequence[Step], applied: int) -> None:
    draft.steps = [step.as_json() for step in steps]
    draft.applied = applied
    draft.version += 1
    draft.updated_at = author.now()
    flush_or_conflict("Another window began the same draft at the same moment. Try again.")


def _delete_draft(taxonomy: Taxonomy, user_id: int) -> None:
    of_user = delete(TaxonomyDraft).where(
        TaxonomyDraft.site_id == taxonomy.site_id,
        TaxonomyDraft.taxonomy_id == taxonomy.id,
        TaxonomyDraft.user_id == user_id,
    )
    db.session.execute(of_user)


@dataclass(frozen=True, slots=True)
class DraftConflict:
    """A draft and the saves that came after it was begun. `saves` are these, newest first; `theirs` is what they
    changed together, `mine` what the draft does; `outcome` is what a rebase of the draft on the newest revision would
    give."""

    saves: Sequence[RevisionRow]
    theirs: StructureDiff
    mine: StructureDiff
    outcome: Rebased


def draft_conflict(editing: Editing) -> DraftConflict:
    """Return the changes of both sides and the outcome of a rebase; nothing is written. Raises NotFound for a taxonomy
    that is gone."""
    taxonomy, stored = editing.taxonomy, editing.taxonomy.tree
    log = revisions(taxonomy.site_id, taxonomy.id, page=1)
    try:
        renames = renames_between(taxonomy.site_id, taxonomy.id, editing.base_revision, taxonomy.revision)
    except NotFound:  # The log no longer reaches back that far.
        renames = []
    return DraftConflict(
        saves=[row for row in log.items if row.revision > editing.base_revision],
        theirs=compare(editing.base, stored, renames),
        mine=editing.changes,
        outcome=rebase(editing.base, stored, editing.done),
    )
