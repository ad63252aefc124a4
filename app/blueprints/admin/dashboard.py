"""The first page after signing in."""

from __future__ import annotations

from flask import render_template
from flask_login import current_user

from app import ports
from app.blueprints.admin.alerts import alerts_in_sight
from app.blueprints.admin.blueprint import bp
from app.domain.relevance.overview.dashboard import dashboard as dashboard_of
from app.permissions import Permission, requires


@bp.get("/")
@requires(Permission.USE_ADMIN)
def dashboard() -> str:
    board = dashboard_of(ports.clock(), ports.search_engine(), current_user.site_id)
    return render_template("admin/dashboard.html", board=board, alerts=alerts_in_sight())
