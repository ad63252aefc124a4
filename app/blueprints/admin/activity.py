"""Who did what."""

from __future__ import annotations

from flask import render_template, request, url_for
from flask_login import current_user

from app.blueprints.admin.blueprint import bp
from app.domain.catalogue.listing import page_number
from app.domain.sites.activity import activity as activity_of
from app.permissions import Permission, requires


@bp.get("/activity")
@requires(Permission.MANAGE_SETTINGS)
def activity() -> str:
    page = activity_of(current_user.site_id, page_number(request.args.get("p")))
    return render_template(
        "admin/activity.html",
        page=page,
        href=lambda number: url_for("admin.activity", p=number if number > 1 else None),
    )
