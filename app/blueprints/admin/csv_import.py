"""The import of a CSV file into a list of the admin: the choice of a file, a preview line by line, and the import of
exactly what was previewed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from flask import flash, make_response, redirect, render_template, request
from werkzeug.wrappers import Response

from app.blueprints.admin.forms import FieldErrors
from app.domain.shared.csv_tables import ImportReport
from app.domain.shared.problems import Conflict, Invalid
from app.transaction import transaction

NO_ERRORS = FieldErrors()


@dataclass(frozen=True, slots=True)
class CsvImport:
    """An import of `title` into the list `into` at `list_url`. `noun` names one line, of which at most `most` are
    imported at once; `columns` says how lines are written, `pasted` how people paste them, `stays` what a file does not
    change, `effect` what follows an import, `section` whose pages these are. `preview` takes the text of a file,
    `apply` that and the digest of the report that was shown; both raise Invalid, and `apply` Conflict where the list
    has changed since."""

    title: str
    noun: str
    into: str
    list_url: str
    import_url: str
    apply_url: str
    most: int
    columns: str
    pasted: str
    stays: str
    preview: Callable[[str], ImportReport[Any]]
    apply: Callable[[str, str], ImportReport[Any]]
    effect: str = ""
    section: Literal["search", "seo"] = "search"


def show(sheet: CsvImport) -> Response:
    return _page(sheet)


def preview(sheet: CsvImport) -> Response:
    """Preview the file or the lines that were sent; nothing is written."""
    try:
        text = sent_table()
        return _page(sheet, text, sheet.preview(text))
    except Invalid as invalid:
        return _page(sheet, request.form.get("table", ""), errors=FieldErrors(invalid))


def apply(sheet: CsvImport) -> Response:
    """Import the lines that were previewed; where the list has changed since, preview them anew."""
    text, digest = request.form.get("table", ""), request.form.get("digest", "")
    try:
        with transaction():
            done = sheet.apply(text, digest)
    except Invalid as invalid:
        return _page(sheet, text, errors=FieldErrors(invalid))
    except Conflict as conflict:
        try:
            return _page(sheet, text, sheet.preview(text), FieldErrors(conflict))
        except Invalid as invalid:  # What changed since may make the whole file one that is not taken.
            return _page(sheet, text, errors=FieldErrors(invalid))
    counts = f"{done.count('added'):,} added, {done.count('changed'):,} changed."
    flash(f"Imported: {counts} {sheet.effect}".strip(), "good")
    return redirect(sheet.list_url)


def sent_table() -> str:
    """Return the text of the file, or the pasted one. Raises Invalid."""
    file = request.files.get("file")
    if file is None or not file.filename:
        return request.form.get("table", "")
    try:
        return file.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = "The file is not in UTF-8. In a spreadsheet, save it as “CSV UTF-8”."
        raise Invalid.one("not_utf8", message, "#/file") from error


def _page(
    sheet: CsvImport, text: str = "", report: ImportReport[Any] | None = None, errors: FieldErrors = NO_ERRORS
) -> Response:
    context = {"sheet": sheet, "text": text, "report": report, "errors": errors}
    page = render_template("admin/csv_import/page.html", **context)
    return make_response(page, errors.status if errors else 200)
