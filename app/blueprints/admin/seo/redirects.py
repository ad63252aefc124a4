"""Redirects: the list, the form of one, and many at once as a CSV file."""

from __future__ import annotations

from functools import partial

from flask import Response, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response as AnyResponse

from app import ports
from app.blueprints.admin import csv_import, spreadsheet
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors, sent_revision
from app.blueprints.admin.shell import flash_saved
from app.blueprints.callers import current_author
from app.domain.catalogue.listing import page_number
from app.domain.merchandising.shop import Shop, read_shop
from app.domain.seo.landing.pages import LandingPagesOf
from app.domain.seo.models import Redirect
from app.domain.seo.redirects import redirect_table, stored_redirects
from app.domain.seo.redirects.rules import SOURCE_LABELS, Source
from app.domain.seo.redirects.stored_redirects import RedirectDraft, RedirectFilter
from app.domain.shared.problems import Conflict, Invalid
from app.transaction import transaction
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires

NO_ERRORS = FieldErrors()
NOTHING = RedirectDraft("", "")
ONE = "/seo/redirects/<int(max=2147483647):redirect_id>"


@bp.get("/seo/redirects")
@requires(Permission.MANAGE_MERCHANDISING)
def seo_redirects() -> str:
    filters = RedirectFilter.read(request.args)
    found = stored_redirects.list_redirects(*_shop(), filters, page_number(request.args.get("p")))
    template = "admin/seo/redirects/_results.html" if wants_fragment() else "admin/seo/redirects/list.html"
    return render_template(template, found=found, filters=filters, sources=SOURCE_LABELS)


@bp.get("/seo/redirects/new")
@requires(Permission.MANAGE_MERCHANDISING)
def seo_redirect_new() -> AnyResponse:
    """Show the form of a new redirect; `from` fills in its old address."""
    return _form(RedirectDraft(request.args.get("from", "")[:500], ""))


@bp.post("/seo/redirects/new")
@requires(Permission.MANAGE_MERCHANDISING)
def seo_redirect_create() -> AnyResponse:
    draft = _posted_draft()
    try:
        with transaction():
            added = stored_redirects.add(current_author(), *_shop(), draft, Source.PERSON)
            redirect_id, old, new = added.id, added.old_path, RedirectDraft.of(added).new
    except Invalid as invalid:
        return _form(draft, errors=FieldErrors(invalid))
    return _answer(True, f"Added: {old} leads to {new} from now on.", redirect_id)


@bp.get(ONE)
@requires(Permission.MANAGE_MERCHANDISING)
def seo_redirect(redirect_id: int) -> AnyResponse:
    row = stored_redirects.redirect_of(current_user.site_id, redirect_id)
    return _form(RedirectDraft.of(row), row)


@bp.post(ONE)
@requires(Permission.MANAGE_MERCHANDISING)
def seo_redirect_save(redirect_id: int) -> AnyResponse:
    draft, revision = _posted_draft(), sent_revision(request.form)
    try:
        with transaction():
            saved = stored_redirects.save(current_author(), *_shop(), redirect_id, revision, draft)
            old, new = saved[0].old_path, RedirectDraft.of(saved[0]).new
    except (Invalid, Conflict) as error:
        row = stored_redirects.redirect_of(current_user.site_id, redirect_id)
        return _form(draft, row, FieldErrors(error))
    return _answer(saved[1], f"Saved: {old} leads to {new}.", redirect_id)


@bp.post(f"{ONE}/delete")
@requires(Permission.MANAGE_MERCHANDISING)
def seo_redirect_delete(redirect_id: int) -> AnyResponse:
    with transaction():
        old = stored_redirects.remove(current_author(), redirect_id)
    return _answer(True, f"Deleted: {old} answers 404 from now on.", redirect_id)


def _answer(changed: bool, message: str, redirect_id: int) -> AnyResponse:
    address = url_for("admin.seo_redirects")
    flash_saved(changed, message, "redirect", redirect_id, address)
    return redirect(address)


@bp.get("/seo/redirects/export.csv")
@requires(Permission.MANAGE_MERCHANDISING)
def seo_redirects_export() -> Response:
    return spreadsheet.download(redirect_table.table_rows(current_user.site_id), "redirects.csv")


@bp.get("/seo/redirects/import")
@requires(Permission.MANAGE_MERCHANDISING)
def seo_redirects_import() -> AnyResponse:
    return csv_import.show(_import_into())


@bp.post("/seo/redirects/import")
@requires(Permission.MANAGE_MERCHANDISING)
def seo_redirects_import_look() -> AnyResponse:
    return csv_import.preview(_import_into())


@bp.post("/seo/redirects/import/apply")
@requires(Permission.MANAGE_MERCHANDISING)
def seo_redirects_import_apply() -> AnyResponse:
    return csv_import.apply(_import_into())


def _import_into() -> csv_import.CsvImport:
    shop = _shop()
    return csv_import.CsvImport(
        title="redirects",
        noun="redirect",
        into="Redirects",
        list_url=url_for("admin.seo_redirects"),
        import_url=url_for("admin.seo_redirects_import"),
        apply_url=url_for("admin.seo_redirects_import_apply"),
        most=redirect_table.MOST_LINES,
        columns="A CSV file with the columns from and to, as the export makes it.",
        pasted="The first line names the columns: from,to. Then a redirect a line: /shop/tents.html,/c/tents",
        stays="Redirects that the file does not name stay.",
        preview=partial(redirect_table.preview, *shop),
        apply=partial(redirect_table.apply, current_author(), *shop),
        section="seo",
    )


def _shop() -> tuple[Shop, LandingPagesOf]:
    shop = read_shop(current_user.site_id)
    return shop, partial(ports.landing_directory().of, ports.search_engine(), ports.clock(), shop)


def _posted_draft() -> RedirectDraft:
    return RedirectDraft(request.form.get("from", ""), request.form.get("to", ""))


def _form(draft: RedirectDraft, row: Redirect | None = None, errors: FieldErrors = NO_ERRORS) -> AnyResponse:
    context = {"draft": draft, "row": row, "errors": errors, "sources": SOURCE_LABELS}
    return make_response(render_template("admin/seo/redirects/edit.html", **context), errors.status if errors else 200)
