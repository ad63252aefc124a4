"""The first page after signing in, and the open alerts: on that page and as JSON. Takings and orders are for those who
may see them, alerts of the whole machine for admins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from flask import Response, jsonify, render_template, request, url_for
from flask_login import current_user

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.charts import Chart, chart_by_day
from app.domain.alerts.alerts import OpenAlert, alerts_of
from app.domain.alerts.causes import Cause
from app.domain.dashboard.board import DAYS_LEFT, Dashboard, InSight, load_dashboard
from app.domain.dashboard.figures import LENGTHS, Figure
from app.domain.orders.sales import LATEST_ORDERS_OF_SPAN
from app.domain.pos.reports import Today
from app.domain.search_statistics.measures import Period
from app.domain.shared.clock import rfc3339
from app.web.errors import wants_json
from app.web.permissions import Permission, allowed, requires

Answer = str | Response
# The pages on which to act on an alert: by its cause, for a failing job by the job's name.
SEARCH = ("admin.search_overview", "Open Search")
SYNONYMS = ("admin.search_synonyms", "Open Synonyms")
ORDERS = ("admin.orders_list", "Open Orders")
PAGES = {
    Cause.INDEX_DAMAGED: SEARCH,
    Cause.INDEX_NOT_REBUILT: SEARCH,
    Cause.PAID_ORDER_SHORT: ORDERS,
    Cause.PAID_BASKET_OPEN: ORDERS,
}
PAGES_OF_JOBS = {
    "rebuild": SEARCH,
    "reconcile": SEARCH,
    "replay": SEARCH,
    "judgement": ("admin.judgement_lists", "Open Judgement lists"),
    "suggest": SYNONYMS,
    "suggestions": SYNONYMS,
    "task": ("admin.taxonomies_list", "Open Taxonomy"),
}


@bp.get("/")
@requires(Permission.USE_ADMIN)
def dashboard() -> Answer:
    """Show the dashboard of the period that the address names by `days`; also as JSON."""
    in_sight = InSight(
        orders=allowed(current_user.roles, Permission.MANAGE_ORDERS),
        tills=allowed(current_user.roles, Permission.MANAGE_POS),
    )
    board = load_dashboard(ports.clock(), ports.search_engine(), current_user.site_id, request.args, in_sight)
    if wants_json():
        return jsonify(dashboard_json(board))
    return render_template(
        "admin/dashboard/page.html",
        board=board,
        alerts=alerts_in_sight(),
        lengths=LENGTHS,
        days_left=DAYS_LEFT,
        latest_orders=LATEST_ORDERS_OF_SPAN,
    )


@bp.app_template_global("drawn_figure")
def drawn_figure(figure: Figure, over: Period, currency: str) -> Chart:
    """Draw a figure of the dashboard by day."""
    return chart_by_day(over.dates, figure.by_day, figure.by_day_before, lambda n: figure.key.amount(n, currency))


def dashboard_json(board: Dashboard) -> dict[str, Any]:
    drawn, tills = board.period.drawn, board.tills
    return {
        "days": board.period.days,
        "from": board.period.summed.first.isoformat(),
        "to": board.period.today.isoformat(),
        "currency": board.currency,
        "figures": [
            {
                "key": figure.key.value,
                "number": figure.number,
                "compared": asdict(figure.compared) if figure.compared else None,
                "byDay": {day.isoformat(): number for day, number in zip(drawn.dates, figure.by_day, strict=True)},
            }
            for figure in board.figures
        ],
        "topProducts": [
            {"sku": one.product.sku, "name": one.product.name, "units": one.units, "revenue": one.revenue}
            for one in board.top.products
        ],
        "endingStock": [
            {
                "sku": one.product.sku,
                "name": one.product.name,
                "options": one.options,
                "stock": one.stock,
                "daysLeft": one.days_left,
            }
            for one in board.ending
        ],
        "notFound": [{"word": row.word, "searches": row.times} for row in board.words],
        "notFoundDays": board.word_days,
        "tills": _tills_json(tills) if tills else None,
        "attention": [{"topic": one.topic, "text": one.text, "severity": one.severity} for one in board.attention],
    }


def _tills_json(tills: Today) -> dict[str, Any]:
    return {
        "sales": tills.figures.sales,
        "gross": tills.figures.gross,
        "grossBefore": tills.before.gross,
        "locations": [
            {"id": str(one.id), "name": one.display_name, "sales": one.sales, "taken": one.taken}
            for one in tills.locations
        ],
        "openSessions": [
            {"agent": one.display_name, "location": one.location, "taken": one.taken} for one in tills.agents
        ],
    }


@bp.get("/rest/alerts")
@requires(Permission.USE_ADMIN)
def alerts_rest() -> Response:
    return jsonify(items=[alert_json(alert) for alert in alerts_in_sight()])


def alerts_in_sight() -> Sequence[OpenAlert]:
    with_machine = allowed(current_user.roles, Permission.SEE_MACHINE)
    return alerts_of(ports.clock(), current_user.site_id, with_machine)


@bp.app_template_filter("alert_page")
def alert_page(alert: OpenAlert) -> dict[str, str] | None:
    """Return the address and the label of the page on which to act on an alert; None where the admin has none."""
    pages = PAGES_OF_JOBS.get(alert.subject) if alert.cause is Cause.JOB_FAILED_TWICE else PAGES.get(alert.cause)
    return {"href": url_for(pages[0]), "label": pages[1]} if pages else None


def alert_json(alert: OpenAlert) -> dict[str, Any]:
    return {
        "cause": alert.cause.key,
        "severity": alert.cause.severity.value,
        "scope": "machine" if alert.is_of_machine else "site",
        "machine": alert.machine,
        "subject": alert.subject,
        "sentence": alert.cause.sentence,
        "detail": alert.detail,
        "advice": alert.cause.advice,
        "firstSeenAt": rfc3339(alert.first_seen_at),
        "lastSeenAt": rfc3339(alert.last_seen_at),
    }
