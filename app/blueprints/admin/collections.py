"""Collections: the list and the editor, in which products are looked up and put in order."""

from __future__ import annotations

from typing import Any

from flask import Response, flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response as AnyResponse

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.content_form import CollectionForm
from app.blueprints.admin.field_errors import FieldErrors
from app.domain.catalogue import collections, queries
from app.domain.catalogue.listing import LONGEST_WORDS, page_number
from app.domain.catalogue.models import Collection
from app.domain.shared.problems import Conflict, Invalid
from app.htmx import redirect_page, wants_fragment
from app.permissions import Permission, requires
from app.transaction import transaction

COLLECTION = "/catalogue/collection/<int(max=2147483647):collection_id>"
NOT_REFUSED = FieldErrors()


@bp.get("/catalogue/collections")
@requires(Permission.MANAGE_CATALOGUE)
def collections_list() -> str:
    words = " ".join(request.args.get("q", "")[:LONGEST_WORDS].split())
    found = queries.collections(current_user.site_id, words, page_number(request.args.get("p")))
    template = "admin/collections/_results.html" if wants_fragment() else "admin/collections/list.html"
    return render_template(template, found=found, words=words)


@bp.get("/catalogue/products/lookup")
@requires(Permission.MANAGE_CATALOGUE)
def products_lookup() -> str:
    """Products to add, for what was typed into the lookup of an editor."""
    words = request.args.get("lookup", "")[:LONGEST_WORDS]
    found = queries.find_products(current_user.site_id, words)
    return render_template("admin/collections/_lookup.html", found=found, words=words.strip())


@bp.get("/catalogue/collection/new")
@requires(Permission.MANAGE_CATALOGUE)
def collection_new() -> Response:
    return _editor(None, CollectionForm())


@bp.post("/catalogue/collection/new")
@requires(Permission.MANAGE_CATALOGUE)
def collection_create() -> AnyResponse:
    form = CollectionForm.typed(request.form)
    if intent := request.form.get("intent"):
        return _products(None, form.after(intent))
    try:
        with transaction():
            made = collections.create(ports.clock(), current_user.site_id, form.draft(), current_user.display_name)
            collection_id = made.id
    except (Invalid, Conflict) as error:
        return _editor(None, form, FieldErrors(error))
    flash("Added. Search shows it in a few seconds.", "good")
    return _go(url_for("admin.collection_edit", collection_id=collection_id))


@bp.get(COLLECTION)
@requires(Permission.MANAGE_CATALOGUE)
def collection_edit(collection_id: int) -> Response:
    collection = collections.collection_of(current_user.site_id, collection_id)
    return _editor(collection, CollectionForm.of(collection))


@bp.post(COLLECTION)
@requires(Permission.MANAGE_CATALOGUE)
def collection_save(collection_id: int) -> AnyResponse:
    form, site_id, actor = CollectionForm.typed(request.form), current_user.site_id, current_user.display_name
    if intent := request.form.get("intent"):
        return _products(collections.collection_of(site_id, collection_id), form.after(intent))
    try:
        with transaction():
            collection, changed = collections.save(
                ports.clock(), site_id, collection_id, form.revision, form.draft(), actor
            )
    except (Invalid, Conflict) as error:
        return _editor(collections.collection_of(site_id, collection_id), form, FieldErrors(error))
    if wants_fragment():
        return _editor(collection, CollectionForm.of(collection), saved=changed)
    flash("Saved. Search shows it in a few seconds." if changed else "Nothing had changed.", "good")
    return redirect(url_for("admin.collection_edit", collection_id=collection_id))


@bp.post(f"{COLLECTION}/delete")
@requires(Permission.MANAGE_CATALOGUE)
def collection_delete(collection_id: int) -> AnyResponse:
    with transaction():
        name = collections.delete(ports.clock(), current_user.site_id, collection_id, current_user.display_name)
    flash(f"Deleted {name}. Its products stay.", "good")
    return _go(url_for("admin.collections_list"))


def _go(address: str) -> AnyResponse:
    return redirect_page(address) if wants_fragment() else redirect(address)


def _products(collection: Collection | None, form: CollectionForm) -> Response:
    """A button of the products was pressed: nothing is saved, only the list changes."""
    if not wants_fragment():
        return _editor(collection, form)
    rows = queries.products_by_id(current_user.site_id, form.product_ids)
    moved_focus = request.form["intent"].startswith("remove")
    return make_response(
        render_template("admin/collections/_products.html", rows=rows, changed=True, moved_focus=moved_focus)
    )


def _editor(
    collection: Collection | None,
    form: CollectionForm,
    errors: FieldErrors = NOT_REFUSED,
    saved: tuple[str, ...] | None = None,
) -> Response:
    """The editor of a collection, or of a new one. Over a stale revision it shows what was typed beside what is
    stored."""
    rows = queries.products_by_id(current_user.site_id, form.product_ids)
    context: dict[str, Any] = {"collection": collection, "errors": errors, "saved": saved, "rows": rows}
    context |= {"form": form, "stored": None, "changed": False}
    if collection is not None and errors.is_stale:
        context |= {"stored": CollectionForm.of(collection), "form": form.on(collection.revision)}
    template = "admin/collections/_edit.html" if wants_fragment() else "admin/collections/edit.html"
    return make_response(render_template(template, **context), errors.status if errors else 200)
