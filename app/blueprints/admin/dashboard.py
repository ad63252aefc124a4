"""The first page after signing in, and the open alerts: on that page and as JSON. Alerts of the whole machine are for
admins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Response, jsonify, render_template, url_for
from flask_login import current_user

from app import ports
from app.blueprints.admin.blueprint import bp
from app.domain.alerts.alerts import OpenAlert, alerts_of
from app.domain.alerts.causes import Cause
from app.domain.orders import queries
from app.domain.orders.listing import OrderFilter
from app.domain.relevance.dashboard import dashboard as dashboard_of
from app.domain.shared.clock import rfc3339
from app.web.permissions import Permission, allowed, requires

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
def dashboard() -> str:
    board = dashboard_of(ports.clock(), ports.search_engine(), current_user.site_id, _orders_in_sight())
    return render_template("admin/dashboard.html", board=board, alerts=alerts_in_sight())


def _orders_in_sight() -> Mapping[OrderFilter, int] | None:
    """Return the numbers of orders by state; None for users who may not see orders."""
    if not allowed(current_user.roles, Permission.MANAGE_ORDERS):
        return None
    return queries.counts(ports.clock(), current_user.site_id)


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
