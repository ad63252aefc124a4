"""The note about products whose levels are not in the active taxonomy. It comes first in the report: among its
consequences it would be overlooked."""

from __future__ import annotations

from app.domain.bundles.task import ImportTask
from app.domain.taxonomy.taxonomies import has_engine

WHERE = "Catalogue › Taxonomy"
AGAIN = "then import the same again: only the levels are added"


def explain_missing_levels(task: ImportTask, count: int) -> None:
    """Put a note before all others that `count` products come without their level, and why; none for 0."""
    if not count:
        return
    who = "1 product comes without its level" if count == 1 else f"{count:,} products come without their level"
    task.report.note_first(f"{who}: {_why(task)}")


def _why(task: ImportTask) -> str:
    active, wanted = task.taxonomy_id, task.wanted_taxonomy_id
    if task.site_id and not has_engine(task.site_id):
        return "the plan of this site has no taxonomies."
    if active is None and not task.tree.levels:
        return f"no taxonomy is active on this site. Make theirs active in {WHERE}, {AGAIN}."
    if wanted is not None:
        advice = f"{'Carry this out, make' if task.dry_run else 'Make'} “{wanted}” active in {WHERE}, {AGAIN}."
        return f"“{active}” is active on this site, while theirs is “{wanted}”. {advice}"
    return (
        f"the active taxonomy does not have it. Add these levels to it, or make the taxonomy that has them active, "
        f"in {WHERE}, {AGAIN}."
    )
