"""Products as a table: the export of all of them, and the import of a CSV file, whose columns are matched, previewed
and then imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import current_app, flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.datastructures import FileStorage, MultiDict
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin import spreadsheet
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors
from app.blueprints.callers import current_author
from app.config import Config
from app.domain.bundles import runs
from app.domain.bundles.archive import GONE, LARGEST_UPLOAD, BundleFolder, check_pictures
from app.domain.bundles.column_matches import remember_match, remembered_match
from app.domain.bundles.product_tables import (
    MOST_LINES,
    attribute_names,
    correction_lines,
    export_table,
    format_of,
    header_and_samples,
)
from app.domain.bundles.report import BrokenBundle
from app.domain.bundles.table_rows import (
    ATTRIBUTE,
    MOST_COLUMNS,
    NOT_IMPORTED,
    ColumnTarget,
    check_columns,
    column_targets,
    guess_columns,
)
from app.domain.shared.problems import Conflict, DomainError, Invalid, NotFound, Problem
from app.transaction import transaction
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires
from app.web.tokens import (
    ReceivedFile,
    current_signer,
    holder_of_permit,
    issue_received_file,
    issue_upload_permit,
    read_received_file,
)

MOST_ATTRIBUTES = 100  # In the menu of every column; of more only the one that a column names.


@dataclass(frozen=True, slots=True)
class ColumnChoice:
    """A column of the file: its name, what its first cells hold, and what it is about, of `options`."""

    place: int
    name: str
    samples: tuple[str, ...]
    chosen: str
    options: Sequence[ColumnTarget]


def column_choices(
    header: Sequence[str],
    samples: Sequence[Sequence[str]],
    attributes: Mapping[str, str],
    chosen: Sequence[str] | None,
) -> list[ColumnChoice]:
    """Return the columns with what each is about; `chosen` None guesses that by their names."""
    every = column_targets(attributes)
    shared = every if len(attributes) <= MOST_ATTRIBUTES else [one for one in every if not one.id.startswith(ATTRIBUTE)]
    by_id = {one.id: one for one in every}
    matched = list(chosen or guess_columns(header, attributes))
    matched += [NOT_IMPORTED] * (len(header) - len(matched))
    return [
        ColumnChoice(
            place=place,
            name=name.strip() or f"Column {place + 1}",
            samples=tuple(cells[place].strip()[:60] for cells in samples if cells[place].strip()),
            chosen=target,
            options=shared if target not in by_id or by_id[target] in shared else [*shared, by_id[target]],
        )
        for place, (name, target) in enumerate(zip(header, matched, strict=False))
    ]


def chosen_columns(sent: MultiDict[str, str]) -> list[str]:
    """Return what each column is about, as the form of the page sent it."""
    return sent.getlist("column")[:MOST_COLUMNS]


PAGE = "/catalogue/products/import"
RUN = f"{PAGE}/<table_run_id>"
SAMPLES = 3
TOO_OLD = "This page has expired. Choose the file again."
NO_ERRORS = FieldErrors()


@bp.get("/catalogue/products.csv")
@requires(Permission.MANAGE_CATALOGUE)
def products_export() -> Response:
    return spreadsheet.download(export_table(current_user.site_id), "products.csv")


@bp.get(PAGE)
@requires(Permission.MANAGE_CATALOGUE)
def products_import() -> Response:
    return _page()


@bp.post(f"{PAGE}/upload/<permit>")
@requires(Permission.MANAGE_CATALOGUE)
def products_import_upload(permit: str) -> Response:
    """Store the table, and the archive of its pictures. The web server takes so large a body for the permit alone."""
    folder = _folder()
    try:
        if holder_of_permit(current_signer(), permit, ports.clock().now()) != _holder():
            raise Conflict(TOO_OLD)
        sent = request.files.get("table")
        if sent is None or not sent.filename:
            raise Invalid.one("required", "Choose a .csv file first.", "#/table")
        name = sent.filename[: runs.LONGEST_NAME]
        pictures = request.files.get("pictures")
        with folder.received(sent.stream, "csv", MOST_LINES) as file:
            header_and_samples(folder.path(file), name, 1)
            if pictures is not None and pictures.filename:
                _receive_pictures(folder, file, pictures)
    except DomainError as refused:
        return _page(FieldErrors(_at_table(refused)))
    received = ReceivedFile(*_holder(), file, name, ports.machine_id())
    token = issue_received_file(received, ports.clock().now())
    return redirect(url_for("admin.products_import_columns", token=token))


def _receive_pictures(folder: BundleFolder, table: str, sent: FileStorage) -> None:
    """Store the archive of a table's pictures beside it. Raises Invalid for one that is none, or unsafe."""
    try:
        archive = folder.receive(sent.stream, beside=table)
        check_pictures(folder.path(archive), (sent.filename or "")[: runs.LONGEST_NAME])
    except Invalid as refused:
        raise Invalid([Problem(one.code, one.message, "#/pictures") for one in refused.problems]) from refused


def _at_table(refused: DomainError) -> DomainError:
    """Return the refusal of an upload at the field of this page, for those that the folder gives at that of bundles."""
    if not isinstance(refused, Invalid) or all(one.pointer != "#/bundle" for one in refused.problems):
        return refused
    return Invalid([Problem(one.code, one.message, "#/table") for one in refused.problems])


@bp.get(f"{PAGE}/upload/<permit>")
@requires(Permission.MANAGE_CATALOGUE)
def products_import_again(permit: str) -> Response:
    """Lead back from the address at which a file was refused, which browsers keep and reload."""
    return redirect(url_for("admin.products_import"))


@bp.get(f"{PAGE}/columns/<token>")
@requires(Permission.MANAGE_CATALOGUE)
def products_import_columns(token: str) -> Response:
    """Show the columns as they were matched in the last file of this form; with `match=names` by their names alone."""
    return _columns_page(token, _received(token), is_anew=request.args.get("match") == "names")


@bp.post(f"{PAGE}/columns/<token>")
@requires(Permission.MANAGE_CATALOGUE)
def products_import_preview(token: str) -> Response:
    """Request the dry run of the import, with the columns as they were matched."""
    received, columns = _received(token), chosen_columns(request.form)
    try:
        check_columns(columns, attribute_names(current_user.site_id), _has_pictures(received))
        header, _ = header_and_samples(_folder().existing(received.file), received.name, 1)
        with transaction():
            author, user_id = current_author(), current_user.user_id
            remember_match(author, header, columns)
            file = received.file, columns, received.machine
            run = runs.request_table_import(author, user_id, received.name, *file)
            run_id = run.id
    except (Invalid, Conflict) as refused:
        return _columns_page(token, received, columns, FieldErrors(refused))
    return _redirect_to_run(run_id)


@bp.get(RUN)
@requires(Permission.MANAGE_CATALOGUE)
def products_import_run(table_run_id: str) -> Response:
    """Show an import; the page reloads it while it is unfinished."""
    return _run_page(table_run_id)


@bp.post(f"{RUN}/confirm")
@requires(Permission.MANAGE_CATALOGUE)
def products_import_confirm(table_run_id: str) -> Response:
    """Request the import of which this run was the dry run."""
    runs.table_run_of(current_user.site_id, table_run_id)
    try:
        with transaction():
            run_id = runs.confirm_run(current_author(), current_user.user_id, table_run_id, removes=False).id
    except Conflict as conflict:
        return _run_page(table_run_id, FieldErrors(conflict))
    return _redirect_to_run(run_id)


@bp.post(f"{RUN}/cancel")
@requires(Permission.MANAGE_CATALOGUE)
def products_import_cancel(table_run_id: str) -> Response:
    runs.table_run_of(current_user.site_id, table_run_id)
    try:
        with transaction():
            runs.cancel_run(current_author(), table_run_id)
    except Conflict as conflict:
        flash(conflict.message, "bad")
    return _redirect_to_run(table_run_id)


@bp.get(f"{RUN}/corrections.csv")
@requires(Permission.MANAGE_CATALOGUE)
def products_import_corrections(table_run_id: str) -> Response:
    """Return the lines that were left out, each with what is wrong with it. Raises NotFound once the file is gone,
    Conflict where it is on another machine."""
    run = runs.table_run_of(current_user.site_id, table_run_id)
    if not runs.has_table(ports.clock(), run):
        raise NotFound(GONE)
    runs.check_place(run, ports.machine_id())
    path, table = _folder().existing(run.file), format_of(current_user.site_id, run.columns or [])
    refused = (runs.report_of(run.id) or {}).get("refused", [])
    return spreadsheet.download(correction_lines(path, run.name, table, refused), "corrections.csv")


def _page(errors: FieldErrors = NO_ERRORS) -> Response:
    clock = ports.clock()
    page = render_template(
        "admin/products/tables/page.html",
        latest=runs.latest_runs(clock, current_user.site_id, only_tables=True),
        permit=issue_upload_permit(current_signer(), *_holder(), clock.now()),
        most=LARGEST_UPLOAD // 1024**2,
        most_lines=MOST_LINES,
        errors=errors,
    )
    return make_response(page, errors.status if errors else 200)


def _columns_page(
    token: str,
    received: ReceivedFile,
    columns: Sequence[str] | None = None,
    errors: FieldErrors = NO_ERRORS,
    is_anew: bool = False,
) -> Response:
    try:
        header, samples = header_and_samples(_folder().existing(received.file), received.name, SAMPLES)
    except BrokenBundle as broken:
        return _page(FieldErrors(broken))
    attributes = attribute_names(current_user.site_id)
    targets = {target.id for target in column_targets(attributes)}
    known = None if is_anew or columns else remembered_match(current_user.site_id, header, targets)
    choices = column_choices(header, samples, attributes, columns or (known.columns if known else None))
    context = {"token": token, "name": received.name, "choices": choices, "errors": errors}
    context |= {"has_pictures": _has_pictures(received), "matched_at": known.matched_at if known else None}
    return make_response(
        render_template("admin/products/tables/columns.html", **context), errors.status if errors else 200
    )


def _run_page(run_id: str, errors: FieldErrors = NO_ERRORS) -> Response:
    record = runs.table_run_of(current_user.site_id, run_id)
    run = runs.summary_of(ports.clock(), record)
    context = {
        "run": run,
        "was_followed": record.is_dry_run and runs.was_followed(record),
        "has_table": runs.has_table(ports.clock(), record),
        "report": _report_by_lines(run_id) if run.is_done and not run.is_refused else None,
        "errors": errors,
    }
    template = "admin/products/tables/_run.html" if wants_fragment() else "admin/products/tables/run.html"
    return make_response(render_template(template, **context), errors.status if errors else 200)


def _report_by_lines(run_id: str) -> dict[str, Any] | None:
    """Return the report of an import with what it refused in the order of the lines; what is of no line comes first."""
    report = runs.report_of(run_id)
    return report and report | {"refused": sorted(report.get("refused", []), key=lambda one: one["line"] or 0)}


def _received(token: str) -> ReceivedFile:
    """Return the file that the user sent. Raises NotFound for a file of another user, and for one that was sent too
    long ago."""
    received = read_received_file(token, ports.clock().now())
    if received is None or (received.site_id, received.user_id) != _holder():
        raise NotFound(TOO_OLD)
    return received


def _has_pictures(received: ReceivedFile) -> bool:
    """Whether a .zip of pictures came with the table."""
    folder = _folder()
    return folder.path(folder.pictures_of(received.file)).is_file()


def _redirect_to_run(run_id: str) -> Response:
    return redirect(url_for("admin.products_import_run", table_run_id=run_id))


def _holder() -> tuple[int, int]:
    return current_user.site_id, current_user.user_id


def _folder() -> BundleFolder:
    return BundleFolder(_config().bundle_folder)


def _config() -> Config:
    config: Config = current_app.config["SHOP"]
    return config
