"""The X reports of sessions that are not closed, and the Z reports of the shop, filtered by location and day."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from flask import render_template, request
from flask_login import current_user

from app.blueprints.admin.blueprint import bp
from app.domain.pos import transactions
from app.domain.pos.z_reports import ZReportList, x_reports, z_report_page
from app.domain.sites.sites import time_zone_of
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires


@bp.get("/pos/reports")
@requires(Permission.MANAGE_POS)
def pos_reports() -> str:
    site_id, filters = current_user.site_id, ZReportList.read(request.args)
    time_zone = time_zone_of(site_id)
    found = z_report_page(site_id, ZoneInfo(time_zone), filters)
    context = {"found": found, "filters": filters, "time_zone": time_zone}
    if wants_fragment():
        return render_template("admin/pos/reports/_results.html", **context)
    locations = [("", "Any location"), *transactions.location_choices(site_id)]
    return render_template("admin/pos/reports/list.html", locations=locations, x_reports=x_reports(site_id), **context)
