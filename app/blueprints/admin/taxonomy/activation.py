"""Activating a taxonomy, and restoring to products what that archived."""

from __future__ import annotations

from flask import flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response as AnyResponse

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors
from app.blueprints.admin.taxonomy.taxonomies import NO_ERRORS, ONE
from app.blueprints.callers import current_author
from app.domain.merchandising.shop import categories_by_level
from app.domain.shared.problems import Conflict, Invalid
from app.domain.taxonomy import tasks
from app.domain.taxonomy.lifecycle.activation import activate, activation_impact
from app.domain.taxonomy.lifecycle.listing import count_levels
from app.domain.taxonomy.models import TaxonomyTask
from app.domain.taxonomy.products.classification import has_engine
from app.domain.taxonomy.tasks.restore_preview import can_restore, restore, restore_preview, takes_back
from app.domain.taxonomy.taxonomies import is_active, taxonomy_of
from app.htmx import wants_fragment
from app.permissions import Permission, requires
from app.transaction import transaction

AFTER_A_SWITCH = " The shop follows once its index is rebuilt. “Restore…” gives back what fits of the archive."
Answer = str | AnyResponse


@bp.get(f"{ONE}/activation")
@requires(Permission.ACTIVATE_TAXONOMY)
def taxonomy_activation(taxonomy_id: str) -> Answer:
    return _activation_page(taxonomy_id)


@bp.post(f"{ONE}/activation")
@requires(Permission.ACTIVATE_TAXONOMY)
def taxonomy_activate(taxonomy_id: str) -> Answer:
    """Activate a taxonomy. Answers 403 where the plan lacks the taxonomy engine."""
    typed = request.form.get("confirmName", "")
    try:
        with transaction():
            name = taxonomy_of(current_user.site_id, taxonomy_id).name
            switched = activate(current_author(), taxonomy_id, typed)
    except Invalid as error:
        return _activation_page(taxonomy_id, FieldErrors(error), typed)
    flash(f"“{name}” is the active taxonomy now.{AFTER_A_SWITCH if switched else ''}", "good")
    return redirect(url_for("admin.taxonomies_list"))


@bp.get(f"{ONE}/restore")
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_restore(taxonomy_id: str) -> Answer:
    return _restore_page(taxonomy_id)


@bp.post(f"{ONE}/restore")
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_restore_begin(taxonomy_id: str) -> Answer:
    try:
        with transaction():
            restore(current_author(), taxonomy_id)
    except Conflict:
        return _restore_page(taxonomy_id)
    return redirect(url_for("admin.taxonomy_restore", taxonomy_id=taxonomy_id))


def _activation_page(taxonomy_id: str, errors: FieldErrors = NO_ERRORS, typed: str = "") -> Answer:
    site_id = current_user.site_id
    taxonomy = taxonomy_of(site_id, taxonomy_id)
    impact = activation_impact(site_id, taxonomy_id)
    page = render_template(
        "admin/taxonomy/activation/activate.html",
        taxonomy=taxonomy,
        levels=count_levels(taxonomy.root_levels),
        impact=impact,
        emptied=categories_by_level(site_id) if impact.switches else [],
        is_active=is_active(taxonomy),
        has_engine=has_engine(site_id),
        errors=errors,
        typed=typed,
    )
    return make_response(page, errors.status if errors else 200)


def _restore_page(taxonomy_id: str) -> Answer:
    """Return the page at once; the dry run, which takes seconds for a large archive, is requested by the page, or by
    its link without JavaScript. Answers 409 for a taxonomy that is not the active one, and says why nothing can be
    done."""
    site_id, is_dry_run = current_user.site_id, "dry-run" in request.args
    taxonomy = taxonomy_of(site_id, taxonomy_id)
    task, preview, refused = tasks.latest(site_id, (tasks.Kind.RESTORE,)), None, None
    is_busy = task is not None and task.is_unfinished
    try:
        takes_back(site_id, taxonomy_id)
        preview = restore_preview(ports.clock(), site_id, taxonomy_id) if is_dry_run and not is_busy else None
    except Conflict as error:
        refused = error.message
    context = {"taxonomy": taxonomy, "preview": preview, "refused": refused, "is_busy": is_busy}
    if is_dry_run and wants_fragment():
        return make_response(
            render_template("admin/taxonomy/activation/_restore_preview.html", **context), 409 if refused else 200
        )
    is_news = is_busy or (not refused and _is_news(task, taxonomy_id))
    page = render_template("admin/taxonomy/activation/restore.html", task=task if is_news else None, **context)
    return make_response(page, 409 if refused else 200)


def _is_news(task: TaxonomyTask | None, taxonomy_id: str) -> bool:
    """Whether the page shows the outcome of the last restore: of this taxonomy, until there is something to restore
    again."""
    if task is None or task.parameters["taxonomyId"] != taxonomy_id:
        return False
    return task.has_failed or not can_restore(task.site_id, taxonomy_id)
