"""The category trees of the shop: the list, adding, renaming, choosing the primary one, deleting."""

from __future__ import annotations

from flask import flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response as AnyResponse

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors
from app.blueprints.admin.shell import flash_saved
from app.blueprints.callers import current_author
from app.domain.merchandising import trees
from app.domain.shared.problems import Conflict, Invalid
from app.transaction import transaction
from app.web.permissions import Permission, requires

LIST = "/merchandising"
TREE = f"{LIST}/<int(max=2147483647):tree_id>"
NO_ERRORS = FieldErrors()
Answer = str | AnyResponse


@bp.get(LIST)
@requires(Permission.MANAGE_MERCHANDISING)
def trees_list() -> Answer:
    return render_template("admin/merchandising/trees/list.html", found=trees.tree_list(current_user.site_id))


@bp.get(f"{LIST}/new")
@requires(Permission.MANAGE_MERCHANDISING)
def tree_new() -> Answer:
    return _name_page(None, "")


@bp.post(f"{LIST}/new")
@requires(Permission.MANAGE_MERCHANDISING)
def tree_create() -> Answer:
    name = request.form.get("name", "")
    try:
        with transaction():
            tree_id = trees.create(current_author(), name).id
    except (Invalid, Conflict) as error:
        return _name_page(None, name, FieldErrors(error))
    flash("Added the tree. Add its first categories here.", "good")
    return redirect(url_for("admin.tree_page", tree_id=tree_id))


@bp.get(f"{TREE}/name")
@requires(Permission.MANAGE_MERCHANDISING)
def tree_name(tree_id: int) -> Answer:
    return _name_page(tree_id, trees.tree_of(current_user.site_id, tree_id).name)


@bp.post(f"{TREE}/name")
@requires(Permission.MANAGE_MERCHANDISING)
def tree_rename(tree_id: int) -> Answer:
    name = request.form.get("name", "")
    try:
        with transaction():
            before = trees.tree_of(current_user.site_id, tree_id).name
            changed = trees.rename(current_author(), tree_id, name).name != before
    except (Invalid, Conflict) as error:
        return _name_page(tree_id, name, FieldErrors(error))
    address = url_for("admin.tree_page", tree_id=tree_id)
    flash_saved(changed, "Saved the name.", "tree_name", tree_id, address)
    return redirect(address)


@bp.get(f"{TREE}/primary")
@requires(Permission.MANAGE_MERCHANDISING)
def tree_primary(tree_id: int) -> Answer:
    return render_template("admin/merchandising/trees/primary.html", **_consequences(tree_id))


@bp.post(f"{TREE}/primary")
@requires(Permission.MANAGE_MERCHANDISING)
def tree_make_primary(tree_id: int) -> Answer:
    with transaction():
        name = trees.make_primary(current_author(), tree_id).name
    flash(f"Shoppers browse “{name}” now.", "good")
    return redirect(url_for("admin.trees_list"))


@bp.get(f"{TREE}/removal")
@requires(Permission.MANAGE_MERCHANDISING)
def tree_removal(tree_id: int) -> Answer:
    return render_template("admin/merchandising/trees/removal.html", **_consequences(tree_id))


@bp.post(f"{TREE}/removal")
@requires(Permission.MANAGE_MERCHANDISING)
def tree_remove(tree_id: int) -> Answer:
    try:
        with transaction():
            name = trees.delete(current_author(), tree_id)
    except Conflict as error:
        page = render_template("admin/merchandising/trees/removal.html", **_consequences(tree_id))
        flash(error.message, "bad")
        return make_response(page, 409)
    flash(f"Deleted the tree “{name}”. Its products stay in the shop.", "good")
    return redirect(url_for("admin.trees_list"))


def _consequences(tree_id: int) -> dict[str, object]:
    """Return the rows of the tree and of the primary one. Raises NotFound."""
    trees.tree_of(current_user.site_id, tree_id)
    rows = trees.tree_list(current_user.site_id)
    return {"row": next(row for row in rows if row.id == tree_id), "primary": rows[0]}


def _name_page(tree_id: int | None, name: str, errors: FieldErrors = NO_ERRORS) -> Answer:
    tree = trees.tree_of(current_user.site_id, tree_id) if tree_id is not None else None
    page = render_template("admin/merchandising/trees/name.html", tree=tree, name=name, errors=errors)
    return make_response(page, errors.status if errors else 200)
