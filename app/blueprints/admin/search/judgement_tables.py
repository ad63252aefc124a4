"""The ratings of a judgement list as a spreadsheet: the export, and the import of a file after a preview."""

from __future__ import annotations

from flask import flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app.blueprints.admin import spreadsheet
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors
from app.blueprints.admin.search.judgements import LIST, NO_ERRORS
from app.blueprints.admin.search.tables import sent_table
from app.blueprints.callers import current_author
from app.domain.relevance.judgements import lists, table
from app.domain.relevance.judgements.table import RatingLine
from app.domain.shared.csv_tables import ImportReport
from app.domain.shared.problems import Conflict, Invalid
from app.transaction import transaction
from app.web.permissions import Permission, requires


@bp.get(f"{LIST}/export.csv")
@requires(Permission.MANAGE_SEARCH)
def judgement_table_export(judgement_list_id: int) -> Response:
    row = lists.list_of(current_user.site_id, judgement_list_id)
    return spreadsheet.download(table.table_rows(row), "ratings.csv")


@bp.get(f"{LIST}/import")
@requires(Permission.MANAGE_SEARCH)
def judgement_table_import(judgement_list_id: int) -> Response:
    return _show_import(judgement_list_id)


@bp.post(f"{LIST}/import")
@requires(Permission.MANAGE_SEARCH)
def judgement_table_import_look(judgement_list_id: int) -> Response:
    """Preview an import; nothing is written yet."""
    try:
        text = sent_table()
        return _show_import(judgement_list_id, text, table.preview(current_user.site_id, judgement_list_id, text))
    except Invalid as invalid:
        return _show_import(judgement_list_id, request.form.get("table", ""), errors=FieldErrors(invalid))


@bp.post(f"{LIST}/import/apply")
@requires(Permission.MANAGE_SEARCH)
def judgement_table_import_apply(judgement_list_id: int) -> Response:
    text, digest = request.form.get("table", ""), request.form.get("digest", "")
    try:
        with transaction():
            done = table.apply(current_author(), judgement_list_id, text, digest)
    except Invalid as invalid:
        return _show_import(judgement_list_id, text, errors=FieldErrors(invalid))
    except Conflict as conflict:
        report = table.preview(current_user.site_id, judgement_list_id, text)
        return _show_import(judgement_list_id, text, report, FieldErrors(conflict))
    flash(f"Imported: {done.count('added'):,} added, {done.count('changed'):,} changed.", "good")
    return redirect(url_for("admin.judgement_list", judgement_list_id=judgement_list_id))


def _show_import(
    list_id: int, text: str = "", report: ImportReport[RatingLine] | None = None, errors: FieldErrors = NO_ERRORS
) -> Response:
    row = lists.list_of(current_user.site_id, list_id)
    context = {"row": row, "text": text, "report": report, "errors": errors, "most": table.MOST_LINES}
    page = render_template("admin/search/judgement_tables/import.html", **context)
    return make_response(page, errors.status if errors else 200)
