"""Synonyms as a spreadsheet: the whole list out, and a file in after a look at what it does."""

from __future__ import annotations

from flask import Response, flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response as AnyResponse

from app.blueprints.admin import spreadsheet
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.field_errors import FieldErrors
from app.blueprints.author import current_author
from app.domain.relevance.synonyms import importing, queries
from app.domain.relevance.synonyms.importing import ImportReport
from app.domain.relevance.synonyms.table import rows_of
from app.domain.shared.problems import Conflict, Invalid
from app.permissions import Permission, requires
from app.transaction import transaction

NO_ERRORS = FieldErrors()


@bp.get("/search/synonyms/export.csv")
@requires(Permission.MANAGE_SEARCH)
def search_synonyms_export() -> Response:
    groups = [synonym.group for synonym in queries.live_synonyms(current_user.site_id)]
    answer = Response(spreadsheet.BEGINNING + spreadsheet.lines(rows_of(groups)), mimetype="text/csv")
    answer.headers["Content-Disposition"] = "attachment; filename=synonyms.csv"
    return answer


@bp.get("/search/synonyms/import")
@requires(Permission.MANAGE_SEARCH)
def search_synonyms_import() -> AnyResponse:
    return _page()


@bp.post("/search/synonyms/import")
@requires(Permission.MANAGE_SEARCH)
def search_synonyms_import_look() -> AnyResponse:
    """Preview an import; nothing is written yet."""
    try:
        text = _sent_text()
        return _page(text, importing.preview(current_user.site_id, text))
    except Invalid as invalid:
        return _page(request.form.get("table", ""), errors=FieldErrors(invalid))


@bp.post("/search/synonyms/import/apply")
@requires(Permission.MANAGE_SEARCH)
def search_synonyms_import_apply() -> AnyResponse:
    text, digest = request.form.get("table", ""), request.form.get("digest", "")
    try:
        with transaction():
            done = importing.apply(current_author(), text, digest)
    except Invalid as invalid:
        return _page(text, errors=FieldErrors(invalid))
    except Conflict as conflict:
        return _page(text, importing.preview(current_user.site_id, text), FieldErrors(conflict))
    flash(f"Imported: {done.count('added'):,} added, {done.count('changed'):,} changed. They are live.", "good")
    return redirect(url_for("admin.search_synonyms"))


def _sent_text() -> str:
    """Return the text of the file, or the pasted one. Raises Invalid."""
    file = request.files.get("file")
    if file is None or not file.filename:
        return request.form.get("table", "")
    try:
        return file.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = "The file is not in UTF-8. In a spreadsheet, save it as “CSV UTF-8”."
        raise Invalid.one("not_utf8", message, "#/file") from error


def _page(text: str = "", report: ImportReport | None = None, errors: FieldErrors = NO_ERRORS) -> AnyResponse:
    context = {"text": text, "report": report, "errors": errors}
    page = render_template("admin/search/synonyms/import.html", **context)
    return make_response(page, errors.status if errors else 200)
