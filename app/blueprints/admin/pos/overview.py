"""The till today."""

from __future__ import annotations

from flask import render_template
from flask_login import current_user

from app.blueprints.admin.blueprint import bp
from app.domain.sites.settings import settings_of
from app.permissions import Permission, requires


@bp.get("/pos")
@requires(Permission.MANAGE_POS)
def pos_overview() -> str:
    return render_template("admin/pos/overview/page.html", is_on=settings_of(current_user.site_id)["posEnabled"])
