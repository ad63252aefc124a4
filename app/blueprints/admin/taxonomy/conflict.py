"""A draft whose taxonomy another user saved first: both changes, rebase and discard."""

from __future__ import annotations

from flask import flash, redirect, render_template, url_for
from flask_login import current_user
from werkzeug.wrappers import Response as AnyResponse

from app.blueprints.admin.blueprint import bp
from app.blueprints.callers import current_author
from app.domain.taxonomy.editor import drafts
from app.domain.taxonomy.editor.draft_conflict import draft_conflict
from app.permissions import Permission, requires
from app.transaction import transaction

CONFLICT = "/catalogue/taxonomy/<taxonomy_id>/conflict"
MOST_NAMED = 10
Answer = str | AnyResponse


@bp.get(CONFLICT)
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_conflict(taxonomy_id: str) -> Answer:
    editing = drafts.open_draft(current_user.site_id, taxonomy_id, current_user.user_id)
    if not editing.is_stale:
        return redirect(url_for("admin.taxonomy_editor", taxonomy_id=taxonomy_id))
    return render_template(
        "admin/taxonomy/conflict.html", editing=editing, taxonomy=editing.taxonomy, conflict=draft_conflict(editing)
    )


@bp.post(CONFLICT)
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_rebase(taxonomy_id: str) -> Answer:
    """Apply the user's own edits again, to what is stored now. Nothing is saved by that."""
    with transaction():
        rebased = drafts.rebase_draft(current_author(), taxonomy_id, current_user.user_id)
    for sentence in rebased.refused[:MOST_NAMED]:
        flash(f"Not reapplied: {sentence}", "warn")
    if len(rebased.refused) > MOST_NAMED:
        flash(f"… and {len(rebased.refused) - MOST_NAMED:,} more of your changes.", "warn")
    if rebased.steps:
        flash("Your changes were reapplied on the newest revision. Check them, then save.", "good")
    else:
        flash(
            "None of your changes is left to save: the newest revision has them already, or they cannot be applied.",
            "good",
        )
    return redirect(url_for("admin.taxonomy_editor", taxonomy_id=taxonomy_id))
