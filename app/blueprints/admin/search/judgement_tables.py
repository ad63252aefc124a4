"""The ratings of a judgement list as a spreadsheet: the export, and the import of a file after a preview."""

from __future__ import annotations

from functools import partial

from flask import url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app.blueprints.admin import csv_import, spreadsheet
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.search.judgements import LIST
from app.blueprints.callers import current_author
from app.domain.relevance.judgements import lists, table
from app.web.permissions import Permission, requires


@bp.get(f"{LIST}/export.csv")
@requires(Permission.MANAGE_SEARCH)
def judgement_table_export(judgement_list_id: int) -> Response:
    row = lists.list_of(current_user.site_id, judgement_list_id)
    return spreadsheet.download(table.table_rows(row), "ratings.csv")


@bp.get(f"{LIST}/import")
@requires(Permission.MANAGE_SEARCH)
def judgement_table_import(judgement_list_id: int) -> Response:
    return csv_import.show(_import_into(judgement_list_id))


@bp.post(f"{LIST}/import")
@requires(Permission.MANAGE_SEARCH)
def judgement_table_import_look(judgement_list_id: int) -> Response:
    return csv_import.preview(_import_into(judgement_list_id))


@bp.post(f"{LIST}/import/apply")
@requires(Permission.MANAGE_SEARCH)
def judgement_table_import_apply(judgement_list_id: int) -> Response:
    return csv_import.apply(_import_into(judgement_list_id))


def _import_into(list_id: int) -> csv_import.CsvImport:
    return csv_import.CsvImport(
        title="ratings",
        noun="rating",
        into=lists.list_of(current_user.site_id, list_id).name,
        list_url=url_for("admin.judgement_list", judgement_list_id=list_id),
        import_url=url_for("admin.judgement_table_import", judgement_list_id=list_id),
        apply_url=url_for("admin.judgement_table_import_apply", judgement_list_id=list_id),
        most=table.MOST_LINES,
        columns="A CSV file with the columns query, sku and rating, as Quepid and the export write it.",
        pasted="The first line names the columns: query,sku,rating. Then a rating a line: rain coat,COAT-1,3",
        stays="Ratings that people gave in the admin stay, and count beside these.",
        preview=partial(table.preview, current_user.site_id, list_id),
        apply=partial(table.apply, current_author(), list_id),
    )
