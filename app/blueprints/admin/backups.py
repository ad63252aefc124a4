"""Backups of the whole installation: made by a worker, listed, downloaded, deleted; and the commands that restore
one."""

from __future__ import annotations

from flask import current_app, flash, redirect, render_template, send_file, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors
from app.blueprints.admin.sign_in import user_by_password
from app.blueprints.callers import current_author
from app.config import Config
from app.domain.shared.problems import Conflict, Invalid
from app.domain.sites.sites import time_zone_of
from app.domain.system import backup_runs
from app.operations.backups import listing
from app.operations.backups.making import MANUAL_KEPT
from app.operations.backups.manifest import BackupError
from app.transaction import transaction
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires

NO_ERRORS = FieldErrors()
Answer = str | Response | tuple[str, int]


@bp.get("/settings/backups")
@requires(Permission.MANAGE_BACKUPS)
def backups_page() -> str:
    """Show the page; while a backup is being made its state reloads itself, and at the end the list with it."""
    run = backup_runs.latest_backup(ports.clock(), ports.machine_id())
    if wants_fragment() and run is not None and run.is_unfinished:
        return render_template("admin/backups/_run.html", run=run)
    template = "admin/backups/_run_ended.html" if wants_fragment() else "admin/backups/page.html"
    time_zone = time_zone_of(current_user.site_id)
    context = {"run": run, "time_zone": time_zone, "kept": MANUAL_KEPT}
    return render_template(template, folder=listing.read_folder(_config()), **context)


@bp.post("/settings/backups")
@requires(Permission.MANAGE_BACKUPS)
def backup_request() -> Response:
    if _config().backup_dir is None:
        flash("Nothing was started: BACKUP_DIR is not set on this machine.", "bad")
        return redirect(url_for("admin.backups_page"))
    try:
        with transaction():
            backup_runs.request_backup(current_author(), ports.machine_id())
    except Conflict as conflict:
        flash(conflict.message, "bad")
    return redirect(url_for("admin.backups_page"))


@bp.get("/settings/backups/<name>/download")
@requires(Permission.MANAGE_BACKUPS)
def backup_download_page(name: str) -> str:
    return _confirm_page("download", name)


@bp.post("/settings/backups/<name>/download")
@requires(Permission.MANAGE_BACKUPS)
def backup_download(name: str) -> Answer:
    """Stream a backup to who gives the password again: a browser that was left alone gives nobody all that the server
    holds."""
    path = listing.path_of(_config(), name)
    try:
        user_by_password("password")
    except Invalid as wrong:
        return _confirm_page("download", name, FieldErrors(wrong)), 400
    with transaction():
        backup_runs.note_download(current_author(), name)
    answer = send_file(path.absolute(), "application/zip", as_attachment=True, download_name=name)
    answer.headers["Cache-Control"] = "no-store"
    return answer


@bp.get("/settings/backups/<name>/delete")
@requires(Permission.MANAGE_BACKUPS)
def backup_delete_page(name: str) -> str:
    return _confirm_page("delete", name)


@bp.post("/settings/backups/<name>/delete")
@requires(Permission.MANAGE_BACKUPS)
def backup_delete(name: str) -> Answer:
    listing.path_of(_config(), name)
    try:
        user_by_password("password")
        with transaction():
            backup_runs.note_removal(current_author(), name)
            listing.delete_backup(_config(), name)
    except Invalid as wrong:
        return _confirm_page("delete", name, FieldErrors(wrong)), 400
    except BackupError as error:
        flash(error.message, "bad")
    else:
        # The newest one may be gone, of which the System page and an alert speak.
        ports.queue().enqueue("scheduled:look", "check-backup", machine=ports.machine_id())
        flash(f"Deleted {name}.", "good")
    return redirect(url_for("admin.backups_page"))


def _confirm_page(act: str, name: str, errors: FieldErrors = NO_ERRORS) -> str:
    """Show the page that takes the password for an act on a backup. Raises NotFound."""
    size = listing.path_of(_config(), name).stat().st_size
    return render_template("admin/backups/confirm.html", act=act, name=name, size=size, errors=errors)


def _config() -> Config:
    config: Config = current_app.config["SHOP"]
    return config
