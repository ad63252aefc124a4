"""Pages of text: the list and the editor."""

from __future__ import annotations

from typing import Any

from flask import Response, flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response as AnyResponse

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.content_form import PageForm
from app.blueprints.admin.field_errors import FieldErrors
from app.domain.catalogue import pages, queries
from app.domain.catalogue.listing import LONGEST_WORDS, page_number
from app.domain.catalogue.models import Page
from app.domain.shared.problems import Conflict, Invalid
from app.htmx import redirect_page, wants_fragment
from app.permissions import Permission, requires
from app.transaction import transaction

PAGE = "/content/page/<int(max=2147483647):page_id>"
NOT_REFUSED = FieldErrors()


@bp.get("/content/pages")
@requires(Permission.MANAGE_CONTENT)
def pages_list() -> str:
    words = " ".join(request.args.get("q", "")[:LONGEST_WORDS].split())
    found = queries.pages(current_user.site_id, words, page_number(request.args.get("p")))
    template = "admin/pages/_results.html" if wants_fragment() else "admin/pages/list.html"
    return render_template(template, found=found, words=words)


@bp.get("/content/page/new")
@requires(Permission.MANAGE_CONTENT)
def page_new() -> Response:
    return _editor(None, PageForm())


@bp.post("/content/page/new")
@requires(Permission.MANAGE_CONTENT)
def page_create() -> AnyResponse:
    form = PageForm.typed(request.form)
    try:
        with transaction():
            page = pages.create(ports.clock(), current_user.site_id, form.draft(), current_user.display_name)
            page_id = page.id
    except (Invalid, Conflict) as error:
        return _editor(None, form, FieldErrors(error))
    flash("Added. Search shows it in a few seconds.", "good")
    return _go(url_for("admin.page_edit", page_id=page_id))


@bp.get(PAGE)
@requires(Permission.MANAGE_CONTENT)
def page_edit(page_id: int) -> Response:
    page = pages.page_of(current_user.site_id, page_id)
    return _editor(page, PageForm.of(page))


@bp.post(PAGE)
@requires(Permission.MANAGE_CONTENT)
def page_save(page_id: int) -> AnyResponse:
    form, site_id = PageForm.typed(request.form), current_user.site_id
    try:
        with transaction():
            page, changed = pages.save(
                ports.clock(), site_id, page_id, form.revision, form.draft(), current_user.display_name
            )
    except (Invalid, Conflict) as error:
        return _editor(pages.page_of(site_id, page_id), form, FieldErrors(error))
    if wants_fragment():
        return _editor(page, PageForm.of(page), saved=changed)
    flash("Saved. Search shows it in a few seconds." if changed else "Nothing had changed.", "good")
    return redirect(url_for("admin.page_edit", page_id=page_id))


@bp.post(f"{PAGE}/delete")
@requires(Permission.MANAGE_CONTENT)
def page_delete(page_id: int) -> AnyResponse:
    with transaction():
        title = pages.delete(ports.clock(), current_user.site_id, page_id, current_user.display_name)
    flash(f"Deleted {title}.", "good")
    return _go(url_for("admin.pages_list"))


def _go(address: str) -> AnyResponse:
    return redirect_page(address) if wants_fragment() else redirect(address)


def _editor(
    page: Page | None, form: PageForm, errors: FieldErrors = NOT_REFUSED, saved: tuple[str, ...] | None = None
) -> Response:
    """The editor of a page, or of a new one. Over a stale revision it shows what was typed beside what is stored."""
    context: dict[str, Any] = {"page": page, "errors": errors, "saved": saved, "stored": None, "form": form}
    if page is not None and errors.is_stale:
        context |= {"stored": PageForm.of(page), "form": form.on(page.revision)}
    template = "admin/pages/_edit.html" if wants_fragment() else "admin/pages/edit.html"
    return make_response(render_template(template, **context), errors.status if errors else 200)
