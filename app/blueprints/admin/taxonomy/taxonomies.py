"""The taxonomies of the shop: the list, adding, copying, deleting and activating one.

Also the restoring of what activations archived to products.
"""

from __future__ import annotations

from flask import flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response as AnyResponse

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors
from app.blueprints.admin.taxonomy.tasks import to_restore
from app.blueprints.callers import current_author
from app.domain.merchandising.shop import categories_by_level
from app.domain.shared.problems import Conflict, Invalid
from app.domain.taxonomy import lifecycle, tasks
from app.domain.taxonomy.lifecycle import activate_taxonomy, activation_impact, taxonomy_list
from app.domain.taxonomy.models import TaxonomyTask
from app.domain.taxonomy.sample import SAMPLE_LEVELS
from app.domain.taxonomy.stored_tree import count_levels
from app.domain.taxonomy.tasks.restore import can_restore, restore, restore_preview, taxonomy_to_restore
from app.domain.taxonomy.taxonomies import LONGEST_NAME, has_engine, is_active, taxonomy_of
from app.transaction import transaction
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, allowed, requires

LIST = "/catalogue/taxonomy"
ONE = f"{LIST}/<taxonomy_id>"
COPY_OF = " (copy)"
NO_ERRORS = FieldErrors()
Answer = str | AnyResponse
AFTER_A_SWITCH = " The shop follows once its index is rebuilt. “Restore…” gives back what fits of the archive."


@bp.get(LIST)
@requires(Permission.MANAGE_TAXONOMY)
def taxonomies_list() -> Answer:
    site_id = current_user.site_id
    return render_template(
        "admin/taxonomy/taxonomies/list.html",
        found=taxonomy_list(site_id),
        tasks=tasks.unfinished(site_id),
        restorable=to_restore(site_id),
        may_activate=allowed(current_user.roles, Permission.ACTIVATE_TAXONOMY),
    )


@bp.get(f"{LIST}/new")
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_new() -> Answer:
    return _new_page({"start": request.args.get("start", "blank")})


@bp.post(f"{LIST}/new")
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_add() -> Answer:
    sent = {name: request.form.get(name, "") for name in ("name", "description", "start")}
    sample = sent["start"] == "sample"
    try:
        with transaction():
            made = lifecycle.create_taxonomy(current_author(), sent["name"], sent["description"], sample)
            taxonomy_id, name = made.id, made.name
    except (Invalid, Conflict) as error:
        return _new_page(sent, FieldErrors(error))
    flash(f"Added “{name}”. Products are classified by it once it is active.", "good")
    _warn_of_namesakes(name)
    return redirect(url_for("admin.taxonomy_editor", taxonomy_id=taxonomy_id))


@bp.get(f"{ONE}/copy")
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_copy(taxonomy_id: str) -> Answer:
    source = taxonomy_of(current_user.site_id, taxonomy_id)
    return _copy_page(taxonomy_id, source.name[: LONGEST_NAME - len(COPY_OF)] + COPY_OF)


@bp.post(f"{ONE}/copy")
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_copy_save(taxonomy_id: str) -> Answer:
    name = request.form.get("name", "")
    try:
        with transaction():
            made = lifecycle.duplicate_taxonomy(current_author(), taxonomy_id, name)
            made_id, made_name = made.id, made.name
    except (Invalid, Conflict) as error:
        return _copy_page(taxonomy_id, name, FieldErrors(error))
    flash(f"Copied as “{made_name}”. What you change here does not touch the original.", "good")
    _warn_of_namesakes(made_name)
    return redirect(url_for("admin.taxonomy_editor", taxonomy_id=made_id))


@bp.get(f"{ONE}/removal")
@requires(Permission.ACTIVATE_TAXONOMY)
def taxonomy_removal(taxonomy_id: str) -> Answer:
    return _removal_page(taxonomy_id)


@bp.post(f"{ONE}/removal")
@requires(Permission.ACTIVATE_TAXONOMY)
def taxonomy_remove(taxonomy_id: str) -> Answer:
    try:
        with transaction():
            name = lifecycle.delete_taxonomy(current_author(), taxonomy_id)
    except Conflict as error:
        return _removal_page(taxonomy_id, FieldErrors(error))
    flash(f"Deleted the taxonomy “{name}”.", "good")
    return redirect(url_for("admin.taxonomies_list"))


def _warn_of_namesakes(name: str) -> None:
    found = lifecycle.namesakes(current_user.site_id, name)
    if len(found) > 1:
        ids = ", ".join(found)
        flash(f"{len(found)} taxonomies are called “{name}” now (ids {ids}). Rename one to tell them apart.", "warn")


def _new_page(sent: dict[str, str], errors: FieldErrors = NO_ERRORS) -> Answer:
    levels = count_levels(SAMPLE_LEVELS)
    page = render_template("admin/taxonomy/taxonomies/new.html", sent=sent, errors=errors, sample_levels=levels)
    return make_response(page, errors.status if errors else 200)


def _copy_page(taxonomy_id: str, name: str, errors: FieldErrors = NO_ERRORS) -> Answer:
    source = taxonomy_of(current_user.site_id, taxonomy_id)
    levels = count_levels(source.root_levels)
    page = render_template(
        "admin/taxonomy/taxonomies/copy.html", source=source, levels=levels, name=name, errors=errors
    )
    return make_response(page, errors.status if errors else 200)


def _removal_page(taxonomy_id: str, errors: FieldErrors = NO_ERRORS) -> Answer:
    taxonomy = taxonomy_of(current_user.site_id, taxonomy_id)
    levels = count_levels(taxonomy.root_levels)
    context = {"taxonomy": taxonomy, "levels": levels, "is_active": is_active(taxonomy), "errors": errors}
    return make_response(
        render_template("admin/taxonomy/taxonomies/removal.html", **context), errors.status if errors else 200
    )


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
            switched = activate_taxonomy(current_author(), taxonomy_id, typed)
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
        "admin/taxonomy/taxonomies/activate.html",
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
        taxonomy_to_restore(site_id, taxonomy_id)
        preview = restore_preview(ports.clock(), site_id, taxonomy_id) if is_dry_run and not is_busy else None
    except Conflict as error:
        refused = error.message
    context = {"taxonomy": taxonomy, "preview": preview, "refused": refused, "is_busy": is_busy}
    if is_dry_run and wants_fragment():
        return make_response(
            render_template("admin/taxonomy/taxonomies/_restore_preview.html", **context), 409 if refused else 200
        )
    is_news = is_busy or (not refused and _is_news(task, taxonomy_id))
    page = render_template("admin/taxonomy/taxonomies/restore.html", task=task if is_news else None, **context)
    return make_response(page, 409 if refused else 200)


def _is_news(task: TaxonomyTask | None, taxonomy_id: str) -> bool:
    """Whether the page shows the outcome of the last restore: of this taxonomy, until there is something to restore
    again."""
    if task is None or task.parameters["taxonomyId"] != taxonomy_id:
        return False
    return task.has_failed or not can_restore(task.site_id, taxonomy_id)
