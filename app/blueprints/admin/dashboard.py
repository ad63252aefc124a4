"""The first page after signing in."""

from __future__ import annotations

from collections.abc import Mapping

from flask import render_template
from flask_login import current_user

from app import ports
from app.blueprints.admin.alerts import alerts_in_sight
from app.blueprints.admin.blueprint import bp
from app.domain.orders import queries
from app.domain.orders.listing import OrderFilter
from app.domain.pos.order_payments import is_refunded
from app.domain.relevance.dashboard import dashboard as dashboard_of
from app.permissions import Permission, allowed, requires


@bp.get("/")
@requires(Permission.USE_ADMIN)
def dashboard() -> str:
    board = dashboard_of(ports.clock(), ports.search_engine(), current_user.site_id, _orders_in_sight())
    return render_template("admin/dashboard.html", board=board, alerts=alerts_in_sight())


def _orders_in_sight() -> Mapping[OrderFilter, int] | None:
    """Return the numbers of orders by state; None for users who may not see orders."""
    if not allowed(current_user.roles, Permission.MANAGE_ORDERS):
        return None
    return queries.counts(ports.clock(), current_user.site_id, is_refunded())
