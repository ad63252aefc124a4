"""The Search section's Overview: health, and rebuilds followed live."""

from __future__ import annotations

from flask import flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.author import current_author
from app.domain.catalogue.listing import page_number
from app.domain.relevance import overview
from app.domain.relevance.no_results import no_results
from app.domain.relevance.overview import latest_summary, rebuild_history
from app.domain.search.index import runs
from app.domain.search.index.run_summary import describe_join
from app.domain.search_statistics.reports import analytics
from app.domain.shared.problems import Conflict
from app.htmx import wants_fragment
from app.permissions import Permission, requires
from app.transaction import transaction

GLANCED = 20  # Searches that found nothing; the first of them that still do are shown.
REQUESTED = "The rebuild is requested. Shoppers keep the old index until the new one is ready."


@bp.get("/search")
@requires(Permission.MANAGE_SEARCH)
def search_overview() -> str:
    shown = overview.load_overview(ports.clock(), ports.search_engine(), current_user.site_id)
    glance = analytics.glance(ports.clock(), current_user.site_id)
    in_vain = no_results(ports.clock(), ports.search_engine(), current_user.site_id, analytics.WEEK, GLANCED)
    return render_template(
        "admin/search/overview/page.html", shown=shown, run=shown.run, glance=glance, no_results=in_vain
    )


@bp.get("/search/run")
@requires(Permission.MANAGE_SEARCH)
def search_run() -> str:
    """Show the card of the latest run, which reloads while the run is unfinished. Once its state is another than the
    page knows (`was`), the cards come along and the change is announced."""
    run = latest_summary(ports.clock(), ports.search_engine(), current_user.site_id)
    if run is None or run.state == request.args.get("was"):
        return render_template("admin/search/overview/_run.html", run=run)
    shown = overview.load_overview(ports.clock(), ports.search_engine(), current_user.site_id)
    glance = analytics.glance(ports.clock(), current_user.site_id)
    return render_template("admin/search/overview/_run_changed.html", shown=shown, run=shown.run, glance=glance)


@bp.get("/search/rebuilds")
@requires(Permission.MANAGE_SEARCH)
def search_rebuilds() -> str:
    """Show the rebuilds of the last 30 days, a page at a time."""
    number = page_number(request.args.get("p"))
    page = rebuild_history(ports.clock(), ports.search_engine(), current_user.site_id, number)
    template = "admin/search/overview/_rebuilds.html" if wants_fragment() else "admin/search/overview/rebuilds.html"
    return render_template(template, page=page, href=_page_address)


def _page_address(number: int) -> str:
    return url_for("admin.search_rebuilds", p=number if number > 1 else None)


@bp.post("/search/rebuild")
@requires(Permission.MANAGE_SEARCH)
def search_rebuild() -> Response:
    try:
        with transaction():
            run, joined = runs.request_rebuild(
                current_author(), ports.search_engine(), ports.worker_locks(), request.form.get("scope", "")
            )
            news = describe_join(run) if joined else REQUESTED
    except Conflict as conflict:
        flash(conflict.message, "bad")
    else:
        flash(news, "good")
    return redirect(url_for("admin.search_overview"))
