"""The Search section's Overview: health, rebuilds followed live, charts of daily figures, and its JSON."""

from __future__ import annotations

from dataclasses import dataclass

from flask import flash, jsonify, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.charts import HEIGHT, ROOM, STEP, Chart, chart_by_day, day_and_month, sparkline
from app.blueprints.callers import current_author
from app.blueprints.json_body import json_body
from app.domain.catalogue.listing import page_number
from app.domain.relevance.no_results import no_results
from app.domain.relevance.overview import latest_summary, load_overview, rebuild_history, status_view
from app.domain.search.index import runs
from app.domain.search.index.rebuild_outcomes import describe_join
from app.domain.search.index.reconcile import DriftDay, DriftHistory
from app.domain.search_statistics import reports
from app.domain.search_statistics.measures import Measure, Period, amount
from app.domain.shared.problems import Conflict
from app.domain.shared.schema import Record, Text
from app.transaction import transaction
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires

GLANCED = 20  # Searches that found nothing; the first of them that still do are shown.
REQUESTED = "The rebuild is requested. Shoppers keep the old index until the new one is ready."
REBUILD = Record(scope=Text(required=True))


@bp.get("/search")
@requires(Permission.MANAGE_SEARCH)
def search_overview() -> str:
    shown = load_overview(ports.clock(), ports.search_engine(), current_user.site_id)
    glance = reports.glance(ports.clock(), current_user.site_id)
    in_vain = no_results(ports.clock(), ports.search_engine(), current_user.site_id, reports.WEEK, GLANCED)
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
    shown = load_overview(ports.clock(), ports.search_engine(), current_user.site_id)
    glance = reports.glance(ports.clock(), current_user.site_id)
    return render_template("admin/search/overview/_run_changed.html", shown=shown, run=shown.run, glance=glance)


@bp.get("/search/rebuilds")
@requires(Permission.MANAGE_SEARCH)
def search_rebuilds() -> str:
    """Show the rebuilds of the last 30 days, a page at a time."""
    number = page_number(request.args.get("p"))
    page = rebuild_history(ports.clock(), ports.search_engine(), current_user.site_id, number)
    template = "admin/search/overview/_rebuilds.html" if wants_fragment() else "admin/search/overview/rebuilds.html"
    return render_template(template, page=page, href=_rebuilds_address)


def _rebuilds_address(number: int) -> str:
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


@bp.get("/search/rest/status")
@requires(Permission.MANAGE_SEARCH)
def search_status() -> Response:
    today = reports.searches_today(ports.clock(), current_user.site_id)
    return jsonify(status_view(ports.search_engine(), current_user.site_id, today))


@bp.post("/search/rest/reindex")
@requires(Permission.MANAGE_SEARCH)
def search_reindex() -> Response:
    return _request_rebuild(json_body(REBUILD)["scope"])


@bp.get("/search/rest/reindex/<run_id>")
@requires(Permission.MANAGE_SEARCH)
def search_reindex_run(run_id: str) -> Response:
    return jsonify(runs.view(runs.run_of(current_user.site_id, run_id)))


@bp.post("/merchandising/rest/reindex")
@requires(Permission.MANAGE_SEARCH)
def merchandising_reindex() -> Response:
    """Request a rebuild of everything, at the older address, which takes no body."""
    return _request_rebuild("ALL")


def _request_rebuild(scope: str) -> Response:
    with transaction():
        run, joined = runs.request_rebuild(current_author(), ports.search_engine(), ports.worker_locks(), scope)
        body = runs.view(run, joined)
    response = jsonify(body)
    response.status_code = 200 if joined else 202
    response.headers["Location"] = url_for("admin.search_reindex_run", run_id=body["runId"])
    return response


@dataclass(frozen=True, slots=True)
class Bar:
    """A part of a column, placed from the top; `kind` is the kind of difference that it stands for."""

    kind: str
    x: int
    y: int
    height: int


@bp.app_template_global("chart_of")
def chart_of(measure: Measure, period: Period, currency: str) -> Chart:
    """Draw a measure of a period that ends today."""
    return chart_by_day(period.dates, measure.by_day, measure.by_day_before, lambda n: amount(measure.key, n, currency))


bp.add_app_template_filter(sparkline, "sparkline")
bp.add_app_template_filter(day_and_month, "day_and_month")


@bp.app_template_filter("drift_bars")
def drift_bars(drift: DriftHistory) -> tuple[Bar, ...]:
    """Return the bars of differences by day. The tallest day reaches the top; a day without a difference, or not
    compared, is a line at the foot."""
    tallest = max((day.total for day in drift.days), default=0) or 1
    return tuple(bar for place, day in enumerate(drift.days) for bar in _day_bars(day, STEP * place, tallest))


def _day_bars(day: DriftDay, x: int, tallest: int) -> list[Bar]:
    found, foot = [], HEIGHT
    for kind, number in (("missing", day.missing), ("stale", day.stale), ("extra", day.extra)):
        if number:
            height = max(3, number * (HEIGHT - ROOM) // tallest)
            foot -= height
            found.append(Bar(kind, x, max(0, foot), height))
    return found or [Bar("none" if day.compared else "unknown", x, HEIGHT - 2, 2)]
