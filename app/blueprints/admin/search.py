"""The Search section's Overview: health, and rebuilds followed live."""

from __future__ import annotations

from flask import flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.domain.search.analytics import reports
from app.domain.search.index import runs
from app.domain.search.index.run_story import story_of
from app.domain.search.overview import overview
from app.domain.shared.problems import Conflict
from app.permissions import Permission, requires
from app.transaction import transaction

ASKED = "The rebuild is asked for. Shoppers keep the old index until the new one is ready."


@bp.get("/search")
@requires(Permission.MANAGE_SEARCH)
def search_overview() -> str:
    shown = overview.overview(ports.clock(), ports.search_engine(), current_user.site_id)
    glance = reports.glance(ports.clock(), current_user.site_id)
    return render_template("admin/search/overview.html", shown=shown, run=shown.run, glance=glance)


@bp.get("/search/run")
@requires(Permission.MANAGE_SEARCH)
def search_run() -> str:
    """The latest run's card, asked for again and again while the run is unfinished. Once its state is another than
    the page knows (`was`), the cards come along and the change is announced."""
    run = overview.latest_story(ports.clock(), ports.search_engine(), current_user.site_id)
    if run is None or run.state == request.args.get("was"):
        return render_template("admin/search/_run.html", run=run)
    shown = overview.overview(ports.clock(), ports.search_engine(), current_user.site_id)
    glance = reports.glance(ports.clock(), current_user.site_id)
    return render_template("admin/search/_run_changed.html", shown=shown, run=shown.run, glance=glance)


@bp.post("/search/rebuild")
@requires(Permission.MANAGE_SEARCH)
def search_rebuild() -> Response:
    site_id, scope = current_user.site_id, request.form.get("scope", "")
    try:
        with transaction():
            run, joined = runs.request_rebuild(
                ports.clock(), ports.search_engine(), site_id, scope, current_user.display_name
            )
            told = story_of(run)
    except Conflict as conflict:
        flash(conflict.message, "bad")
    else:
        flash(_joined(told.scope_name, told.requested_by) if joined else ASKED, "good")
    return redirect(url_for("admin.search_overview"))


def _joined(scope_name: str, requested_by: str) -> str:
    return f"A rebuild was on its way already and serves yours too: {scope_name.lower()}, asked for by {requested_by}."
