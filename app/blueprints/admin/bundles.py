"""Import and export of the shop as a bundle, and transfer from another site: requested, followed, confirmed."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from flask import Response as Answer
from flask import abort, current_app, flash, redirect, render_template, request, send_file, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin import spreadsheet
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors
from app.blueprints.callers import current_author
from app.config import Config
from app.domain.bundles import runs
from app.domain.bundles.archive import LARGEST_UPLOAD, BundleFolder
from app.domain.bundles.parts import LABELS, OF_AN_ADMIN, TRANSFERRED, Part, in_order
from app.domain.shared.problems import Conflict, DomainError, Invalid, Problem
from app.domain.sites import accounts
from app.domain.sites.accounts import ReachableSite
from app.transaction import transaction
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, allowed, requires
from app.web.tokens import current_signer, holder_of_permit, issue_upload_permit

RUN = "/settings/import-export/<bundle_run_id>"
REFUSALS_SHOWN = 20
COLUMNS = ("File", "Line", "Field", "Reason")
NO_ERRORS = FieldErrors()


@bp.get("/settings/import-export")
@requires(Permission.MANAGE_SETTINGS)
def bundles_page() -> str:
    return _page()


@bp.post("/settings/import-export/export")
@requires(Permission.MANAGE_SETTINGS)
def bundle_export() -> Response | tuple[str, int]:
    name = f"{current_user.host.partition(':')[0]}-{ports.clock().now():%Y-%m-%d}.zip"
    try:
        with transaction():
            run_id = runs.request_export(current_author(), current_user.user_id, name, _chosen_parts()).id
    except (Invalid, Conflict) as refused:
        return _show_refusal(refused, "export")
    return _redirect_to_run(run_id)


@bp.post("/settings/import-export/upload/<permit>")
@requires(Permission.MANAGE_SETTINGS)
def bundle_upload(permit: str) -> Response | tuple[str, int]:
    """Store the file and request its dry run. The web server takes so large a body for the permit alone."""
    try:
        if holder_of_permit(current_signer(), permit, ports.clock().now()) != _permit_holder():
            raise Conflict("This page has expired. Choose the file again.")
        sent = request.files.get("bundle")
        if sent is None or not sent.filename:
            raise Invalid.one("required", "Choose a .zip file first.", "#/bundle")
        with _folder().received(sent.stream) as file, transaction():
            author, user_id, machine = current_author(), current_user.user_id, ports.machine_id()
            run_id = runs.request_import(author, user_id, sent.filename, file, _chosen_parts(), machine).id
    except (Invalid, Conflict) as refused:
        return _show_refusal(refused, "import")
    return _redirect_to_run(run_id)


@bp.get("/settings/import-export/upload/<permit>")
@requires(Permission.MANAGE_SETTINGS)
def bundle_upload_again(permit: str) -> Response:
    """Lead back from the address at which a file was refused, which browsers keep and reload."""
    return redirect(url_for("admin.bundles_page"))


@bp.post("/settings/import-export/transfer")
@requires(Permission.MANAGE_SETTINGS)
def bundle_transfer() -> Response | tuple[str, int]:
    chosen = [site for site in _source_sites() if str(site.id) == request.form.get("source")]
    try:
        if not chosen:
            raise Invalid.one("unknown_site", "Choose one of the sites that you administer.", "#/source")
        source = chosen[0].id, chosen[0].host
        with transaction():
            file = _folder().new_name()
            run_id = runs.request_transfer(current_author(), current_user.user_id, source, file, _chosen_parts()).id
    except (Invalid, Conflict) as refused:
        return _show_refusal(refused, "transfer")
    return _redirect_to_run(run_id)


@bp.get(RUN)
@requires(Permission.MANAGE_SETTINGS)
def bundle_run(bundle_run_id: str) -> str:
    """Show a run; the page reloads it while it is unfinished."""
    return _run_page(bundle_run_id, NO_ERRORS)


@bp.post(f"{RUN}/confirm")
@requires(Permission.MANAGE_SETTINGS)
def bundle_confirm(bundle_run_id: str) -> Response | tuple[str, int]:
    """Request the import or transfer of which this run was the dry run; a transfer only for a user who still
    administers the source."""
    tried = runs.run_of(current_user.site_id, bundle_run_id)
    if tried.source_site_id is not None and tried.source_site_id not in {site.id for site in _source_sites()}:
        abort(403)
    removes = "removes" in request.form
    try:
        with transaction():
            run_id = runs.confirm_run(current_author(), current_user.user_id, bundle_run_id, removes).id
    except Conflict as conflict:
        return _run_page(bundle_run_id, FieldErrors(conflict)), 409
    return _redirect_to_run(run_id)


@bp.post(f"{RUN}/cancel")
@requires(Permission.MANAGE_SETTINGS)
def bundle_cancel(bundle_run_id: str) -> Response:
    try:
        with transaction():
            runs.cancel_run(current_author(), bundle_run_id)
    except Conflict as conflict:
        flash(conflict.message, "bad")
    return _redirect_to_run(bundle_run_id)


@bp.get(f"{RUN}/shop.zip")
@requires(Permission.MANAGE_SETTINGS)
def bundle_download(bundle_run_id: str) -> Response:
    file, name = runs.export_file(ports.clock(), current_user.site_id, bundle_run_id, ports.machine_id())
    path = _folder().existing(file).absolute()
    answer = send_file(path, "application/zip", as_attachment=True, download_name=name)
    answer.headers["Cache-Control"] = "no-store"
    return answer


@bp.get(f"{RUN}/report.json")
@requires(Permission.MANAGE_SETTINGS)
def bundle_report(bundle_run_id: str) -> Response:
    text = json.dumps(_report_of(bundle_run_id), ensure_ascii=False, indent=1)
    return _attachment(text, "application/json", "report.json")


@bp.get(f"{RUN}/report.csv")
@requires(Permission.MANAGE_SETTINGS)
def bundle_report_table(bundle_run_id: str) -> Response:
    """Return the table of what was left out, for spreadsheets."""
    refused = _report_of(bundle_run_id).get("refused", [])
    rows = [[one["file"], str(one["line"] or ""), one["field"], one["reason"]] for one in refused]
    return _attachment(spreadsheet.BEGINNING + spreadsheet.lines([COLUMNS, *rows]), "text/csv", "report.csv")


@dataclass(frozen=True, slots=True)
class PartChoice:
    part: Part
    label: str
    meaning: str
    is_chosen: bool


def _page(errors: FieldErrors = NO_ERRORS, form: str = "") -> str:
    """Return the page. `form` names the form that has the errors, which keeps what was chosen."""
    clock, site_id = ports.clock(), current_user.site_id
    chosen = set(request.form.getlist("part")) if form else set()
    return render_template(
        "admin/bundles/page.html",
        latest=runs.latest_runs(clock, site_id),
        permit=issue_upload_permit(current_signer(), *_permit_holder(), clock.now()),
        most=LARGEST_UPLOAD // 1024**2,
        sources=_source_sites(),
        source=request.form.get("source", ""),
        choices=lambda name, parts=OF_AN_ADMIN: list(_part_choices(parts, chosen if form == name else parts)),
        transferred=list(_part_choices(OF_AN_ADMIN, chosen if form == "transfer" else TRANSFERRED)),
        errors={form: errors},
        no_errors=NO_ERRORS,
    )


def _part_choices(parts: Collection[Part], chosen: Collection[str]) -> Iterator[PartChoice]:
    for part in in_order(parts):
        yield PartChoice(part, *LABELS[part], part in chosen)


def _run_page(run_id: str, errors: FieldErrors) -> str:
    template = "admin/bundles/_run.html" if wants_fragment() else "admin/bundles/run.html"
    record = runs.run_of(current_user.site_id, run_id)
    run, was_followed = runs.summary_of(ports.clock(), record), record.is_dry_run and runs.was_followed(record)
    report = runs.report_of(run_id) if run.is_done and not run.is_refused else None
    shown = {"run": run, "was_followed": was_followed, "report": report, "shown": REFUSALS_SHOWN}
    return render_template(template, **shown, errors=errors, labels=LABELS)


def _show_refusal(refused: DomainError, form: str) -> tuple[str, int]:
    errors = FieldErrors(refused)
    return _page(errors, form), errors.status


def _redirect_to_run(run_id: str) -> Response:
    return redirect(url_for("admin.bundle_run", bundle_run_id=run_id))


def _chosen_parts() -> frozenset[Part]:
    """Return the chosen parts. Raises Invalid."""
    sent = request.form.getlist("part")
    if unknown := [part for part in sent if part not in OF_AN_ADMIN]:
        raise Invalid([Problem("unknown_part", f"There is no part “{unknown[0][:40]}”.", "#/parts")])
    return frozenset(map(Part, sent))


def _source_sites() -> list[ReachableSite]:
    """Return the other sites that the user administers."""
    others = [site for site in accounts.reachable_sites(current_user.user_id) if site.id != current_user.site_id]
    roles = ((site, accounts.roles_of(current_user.user_id, site.id)) for site in others)
    return [site for site, held in roles if allowed(held, Permission.MANAGE_SETTINGS)]


def _report_of(run_id: str) -> dict[str, Any]:
    run = runs.run_of(current_user.site_id, run_id)
    return runs.report_of(run.id) or {}


def _attachment(text: str, mimetype: str, name: str) -> Response:
    answer = Answer(text, mimetype=mimetype)
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


def _permit_holder() -> tuple[int, int]:
    return current_user.site_id, current_user.user_id


def _folder() -> BundleFolder:
    return BundleFolder(_config().bundle_folder)


def _config() -> Config:
    config: Config = current_app.config["SHOP"]
    return config
