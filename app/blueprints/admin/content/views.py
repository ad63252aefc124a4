"""The views that every kind of content has: list, create, edit, save, delete."""

from __future__ import annotations

from typing import Any

from flask import Response, flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response as AnyResponse

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.content.editor import ContentEditor, ContentForm
from app.blueprints.admin.field_errors import FieldErrors
from app.blueprints.author import current_author
from app.domain.catalogue import content, queries
from app.domain.catalogue.listing import LONGEST_WORDS, page_number
from app.domain.shared.problems import Conflict, Invalid
from app.htmx import redirect_page, wants_fragment
from app.permissions import requires
from app.transaction import transaction

NO_ERRORS = FieldErrors()


def add_editor(editor: ContentEditor) -> None:
    """Register the views of an editor as `admin.pages_list`, `admin.page_new`, `page_create`, `page_edit`, ..."""
    noun = editor.noun
    new, one = f"{editor.folder}/{noun}/new", f"{editor.folder}/{noun}/<int(max=2147483647):{noun}_id>"
    views: list[tuple[str, str, str, Any]] = [("GET", one, f"{noun}_edit", _edit), ("POST", one, f"{noun}_save", _save)]
    if editor.has_list:
        views += [
            ("GET", f"{editor.folder}/{editor.plural}", f"{editor.plural}_list", _list),
            ("GET", new, f"{noun}_new", _new),
            ("POST", new, f"{noun}_create", _create),
            ("POST", f"{one}/delete", f"{noun}_delete", _delete),
        ]
    for method, rule, endpoint, view in views:
        checked = requires(editor.permission)(_bound(view, editor))
        bp.add_url_rule(rule, endpoint, checked, methods=[method])


def _bound(view: Any, editor: ContentEditor) -> Any:
    def bound(**record_id: int) -> AnyResponse | str:
        answer: AnyResponse | str = view(editor, *record_id.values())
        return answer

    return bound


def _list(editor: ContentEditor) -> str:
    words = " ".join(request.args.get("q", "")[:LONGEST_WORDS].split())
    found = content.list_content(editor.kind, current_user.site_id, words, page_number(request.args.get("p")))
    template = "admin/content/_results.html" if wants_fragment() else "admin/content/list.html"
    return render_template(template, editor=editor, found=found, words=words)


def _new(editor: ContentEditor) -> Response:
    return _page(editor, None, ContentForm.empty(editor))


def _create(editor: ContentEditor) -> AnyResponse:
    form = ContentForm.sent(editor, request.form)
    if editor.holds_products and request.form.get("intent"):
        return _products(editor, None, form)
    try:
        with transaction():
            record_id = content.create(current_author(), editor.kind, form.draft(editor)).id
    except (Invalid, Conflict) as error:
        return _page(editor, None, form, FieldErrors(error))
    flash("Added. Search shows it in a few seconds.", "good")
    return _go(_address(editor, record_id))


def _edit(editor: ContentEditor, record_id: int) -> Response:
    record = _stored(editor, record_id)
    return _page(editor, record, ContentForm.of(editor, record))


def _save(editor: ContentEditor, record_id: int) -> AnyResponse:
    form = ContentForm.sent(editor, request.form)
    if (editor.holds_products or editor.parts) and request.form.get("intent"):
        return _products(editor, _stored(editor, record_id), form)
    old_address = editor.address_of(_stored(editor, record_id))
    try:
        with transaction():
            record, changed = content.save(current_author(), editor.kind, record_id, form.revision, form.draft(editor))
    except (Invalid, Conflict) as error:
        return _page(editor, _stored(editor, record_id), form, FieldErrors(error))
    if warning := editor.moved(record, old_address):
        flash(warning, "warn")
    if wants_fragment():
        return _page(editor, record, ContentForm.of(editor, record), saved=changed)
    flash("Saved. Search shows it in a few seconds." if changed else "No changes to save.", "good")
    return redirect(_address(editor, record_id))


def _delete(editor: ContentEditor, record_id: int) -> AnyResponse:
    with transaction():
        title = content.delete(current_author(), editor.kind, record_id)
    flash(f"Deleted {title}.{editor.deleted}", "good")
    return _go(url_for(f"admin.{editor.plural}_list"))


def _stored(editor: ContentEditor, record_id: int) -> Any:
    return content.record_of(editor.kind, current_user.site_id, record_id)


def _address(editor: ContentEditor, record_id: int) -> str:
    values: dict[str, Any] = {f"{editor.noun}_id": record_id}
    return url_for(f"admin.{editor.noun}_edit", **values)


def _go(address: str) -> AnyResponse:
    return redirect_page(address) if wants_fragment() else redirect(address)


def _products(editor: ContentEditor, record: Any, form: ContentForm) -> Response:
    """Change the list of products in the form; nothing is saved."""
    form = form.after(intent := request.form["intent"])
    if not wants_fragment():
        return _page(editor, record, form)
    rows = queries.products_by_id(current_user.site_id, form.product_ids)
    context = {"rows": rows, "changed": True}
    context |= {"moved_focus": intent.startswith("remove"), "adds_another": intent.startswith("add")}
    return make_response(render_template("admin/content/_products.html", products_help=editor.products_help, **context))


def _page(
    editor: ContentEditor,
    record: Any,
    form: ContentForm,
    errors: FieldErrors = NO_ERRORS,
    saved: tuple[str, ...] | None = None,
) -> Response:
    """The editor of a record, or of a new one. Over a stale revision it shows what was typed beside what is stored."""
    context: dict[str, Any] = {"editor": editor, "record": record, "errors": errors, "saved": saved}
    context |= {"form": form, "stored": None, "changed": False, "back": editor.back(record)}
    context["products_help"] = editor.products_help
    context |= editor.context(record, form) if record is not None else {}
    if record is not None:
        context |= {"title": editor.kind.title_of(record), "address": _address(editor, record.id)}
        if errors.is_stale:
            context |= {"stored": ContentForm.of(editor, record), "form": form.on(record.revision)}
    else:
        context |= {"title": f"Add a {editor.noun}", "address": url_for(f"admin.{editor.noun}_new")}
    if editor.holds_products:
        context["rows"] = queries.products_by_id(current_user.site_id, form.product_ids)
    template = "admin/content/_edit.html" if wants_fragment() else "admin/content/edit.html"
    return make_response(render_template(template, **context), errors.status if errors else 200)
