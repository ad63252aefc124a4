"""The taxonomies of the shop: the list, adding, copying and deleting one."""

from __future__ import annotations

from flask import flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response as AnyResponse

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors
from app.blueprints.admin.taxonomy.banner import to_restore
from app.blueprints.callers import current_author
from app.domain.shared.problems import Conflict, Invalid
from app.domain.taxonomy import tasks
from app.domain.taxonomy.lifecycle import creation
from app.domain.taxonomy.lifecycle.listing import count_levels, taxonomy_list
from app.domain.taxonomy.taxonomies import LONGEST_NAME, is_active, taxonomy_of
from app.domain.taxonomy.validation.sample import SAMPLE_LEVELS
from app.permissions import Permission, allowed, requires
from app.transaction import transaction

LIST = "/catalogue/taxonomy"
ONE = f"{LIST}/<taxonomy_id>"
COPY_OF = " (copy)"
NO_ERRORS = FieldErrors()
Answer = str | AnyResponse


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
            made = creation.create(current_author(), sent["name"], sent["description"], sample)
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
            made = creation.duplicate(current_author(), taxonomy_id, name)
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
            name = creation.delete(current_author(), taxonomy_id)
    except Conflict as error:
        return _removal_page(taxonomy_id, FieldErrors(error))
    flash(f"Deleted the taxonomy “{name}”.", "good")
    return redirect(url_for("admin.taxonomies_list"))


def _warn_of_namesakes(name: str) -> None:
    found = creation.namesakes(current_user.site_id, name)
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
