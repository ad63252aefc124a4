"""A draft whose taxonomy another user saved meanwhile: both changes, and what a rebase of the draft would give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.shared.problems import NotFound
from app.domain.taxonomy.diff.changes import StructureDiff
from app.domain.taxonomy.diff.comparison import compare
from app.domain.taxonomy.editor.drafts import Editing
from app.domain.taxonomy.editor.rebase import Rebased, rebase
from app.domain.taxonomy.levels.flat import flatten
from app.domain.taxonomy.levels.renames import ValueRename
from app.domain.taxonomy.lifecycle.revisions import RevisionRow, renames_between, revisions


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
    taxonomy = editing.taxonomy
    log = revisions(taxonomy.site_id, taxonomy.id, page=1)
    renames = _renames(editing)
    return DraftConflict(
        saves=[row for row in log.items if row.revision > editing.base_revision],
        theirs=compare(editing.base_root_levels, taxonomy.root_levels, renames),
        mine=editing.changes,
        outcome=rebase(editing.base, flatten(taxonomy.root_levels), editing.done),
    )


def _renames(editing: Editing) -> Sequence[ValueRename]:
    """Return the renames of the saves since the draft was begun; none where the log no longer reaches back that far."""
    taxonomy = editing.taxonomy
    try:
        return renames_between(taxonomy.site_id, taxonomy.id, editing.base_revision, taxonomy.revision)
    except NotFound:
        return ()
