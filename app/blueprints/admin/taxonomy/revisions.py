"""A taxonomy's change log: its revisions, the comparison of two, and the revert to one."""

from __future__ import annotations

from flask import flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response as AnyResponse

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors
from app.blueprints.admin.taxonomy.review import consequences, shoppers_of
from app.blueprints.callers import current_author
from app.domain.catalogue.listing import page_number
from app.domain.shared.problems import Conflict, Invalid
from app.domain.taxonomy import revisions
from app.domain.taxonomy.impact import impact
from app.domain.taxonomy.saves import prepare_earlier, store
from app.domain.taxonomy.taxonomies import is_active, taxonomy_of
from app.transaction import transaction
from app.web.permissions import Permission, requires

REVISIONS = "/catalogue/taxonomy/<taxonomy_id>/revisions"
LARGEST = 2_147_483_647
BACK = f"{REVISIONS}/<int(max={LARGEST}):revision>/back"
NO_ERRORS = FieldErrors()
Answer = str | AnyResponse


@bp.get(REVISIONS)
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_revisions(taxonomy_id: str) -> Answer:
    return _log_page(taxonomy_id)


@bp.get(f"{REVISIONS}/compare")
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_revisions_compare(taxonomy_id: str) -> Answer:
    """Compare two revisions, parameters `revision` in any order; one alone is compared with the present one."""
    site_id = current_user.site_id
    taxonomy = taxonomy_of(site_id, taxonomy_id)
    sent = request.args.getlist("revision", type=int)
    picked = {revision for revision in sent if 0 <= revision <= LARGEST}
    if len(picked) == 1:
        picked |= {taxonomy.revision}
    if len(picked) != 2:
        return _log_page(taxonomy_id, "Tick the two revisions that you want to compare.", 400)
    older, newer = sorted(picked)
    return render_template(
        "admin/taxonomy/revisions/compare.html",
        taxonomy=taxonomy,
        older=revisions.revision_of(site_id, taxonomy_id, older),
        newer=revisions.revision_of(site_id, taxonomy_id, newer),
        sentences=revisions.describe_changes(site_id, taxonomy_id, older, newer),
    )


@bp.get(BACK)
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_revision_back(taxonomy_id: str, revision: int) -> Answer:
    taxonomy = taxonomy_of(current_user.site_id, taxonomy_id)
    if revision == taxonomy.revision:
        flash(f"Revision {revision:,} is what the taxonomy is now.", "good")
        return redirect(url_for("admin.taxonomy_revisions", taxonomy_id=taxonomy_id))
    return _back_page(taxonomy_id, revision)


@bp.post(BACK)
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_revision_bring_back(taxonomy_id: str, revision: int) -> Answer:
    """Revert the taxonomy to a revision. `seen` is the revision over which the preview was made."""
    site_id, note = current_user.site_id, request.form.get("note", "")
    seen = request.form.get("seen", 0, type=int)
    try:
        prepared = prepare_earlier(site_id, taxonomy_id, revision, seen, note)
        with transaction():
            saved = store(current_author(), prepared)
            message = f"Restored revision {revision:,} as revision {saved.taxonomy.revision:,}."
    except (Invalid, Conflict) as error:
        return _back_page(taxonomy_id, revision, FieldErrors(error), note)
    flash(message, "good")
    return redirect(url_for("admin.taxonomy_editor", taxonomy_id=taxonomy_id, saved=1))


def _log_page(taxonomy_id: str, refusal: str = "", status: int = 200) -> Answer:
    site_id = current_user.site_id
    page = render_template(
        "admin/taxonomy/revisions/list.html",
        taxonomy=taxonomy_of(site_id, taxonomy_id),
        page=revisions.revisions(site_id, taxonomy_id, page_number(request.args.get("p"))),
        href=lambda number: url_for("admin.taxonomy_revisions", taxonomy_id=taxonomy_id, p=number),
        refusal=refusal,
    )
    return make_response(page, status)


def _back_page(taxonomy_id: str, revision: int, errors: FieldErrors = NO_ERRORS, note: str = "") -> Answer:
    """Show the changes of a revert, and their effects on products, over the taxonomy as it is now."""
    site_id = current_user.site_id
    taxonomy = taxonomy_of(site_id, taxonomy_id)
    wanted = revisions.revision_of(site_id, taxonomy_id, revision)
    renames = revisions.renames_between(site_id, taxonomy_id, taxonomy.revision, revision)
    found = impact(site_id, taxonomy, wanted.tree, renames)
    page = render_template(
        "admin/taxonomy/revisions/revert.html",
        taxonomy=taxonomy,
        wanted=wanted,
        sentences=revisions.describe_changes(site_id, taxonomy_id, taxonomy.revision, revision),
        active=is_active(taxonomy),
        consequences=list(consequences(found)),
        truncated=found.values_truncated,
        shoppers=shoppers_of(taxonomy, wanted.tree),
        errors=errors,
        note=note,
    )
    return make_response(page, errors.status if errors else 200)
