"""Site checks: requested, followed, and what the latest found."""

from __future__ import annotations

from flask import flash, redirect, render_template, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.callers import current_author
from app.domain.seo import site_check
from app.domain.seo.site_crawl import MOST_ADDRESSES, MOST_SAMPLES
from app.domain.shared.problems import Conflict
from app.transaction import transaction
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires


@bp.get("/seo/check")
@requires(Permission.MANAGE_MERCHANDISING)
def seo_check() -> str:
    """Show the latest check; the page reloads it while it is unfinished."""
    template = "admin/seo/check/_check.html" if wants_fragment() else "admin/seo/check/page.html"
    check = site_check.latest_check(ports.clock(), current_user.site_id)
    return render_template(template, check=check, most=MOST_ADDRESSES, samples=MOST_SAMPLES)


@bp.post("/seo/check")
@requires(Permission.MANAGE_MERCHANDISING)
def seo_check_request() -> Response:
    try:
        with transaction():
            site_check.request_check(current_author())
    except Conflict as conflict:
        flash(conflict.message, "bad")
    return redirect(url_for("admin.seo_check"))
