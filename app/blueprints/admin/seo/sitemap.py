"""The sitemap's page: what it holds, what was left out of it and why, and a new one at the press of a button."""

from __future__ import annotations

from flask import flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.callers import current_author
from app.domain.seo.sitemap import builds
from app.domain.seo.sitemap.builds import latest_build, sitemap_overview
from app.transaction import transaction
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires


@bp.get("/seo/sitemap")
@requires(Permission.MANAGE_MERCHANDISING)
def seo_sitemap() -> str:
    return _overview_page("admin/seo/sitemap/page.html")


@bp.get("/seo/sitemap/build")
@requires(Permission.MANAGE_MERCHANDISING)
def seo_sitemap_build() -> str:
    """Show the card of the latest build, which the page reloads while it is unfinished. Once its state is another than
    the page knows (`was`), the other cards come along and the change is announced."""
    latest = latest_build(ports.clock(), current_user.site_id, ports.machine_id())
    if latest is None or latest.state == request.args.get("was"):
        return render_template("admin/seo/sitemap/_build.html", build=latest)
    return _overview_page("admin/seo/sitemap/_build_changed.html")


@bp.post("/seo/sitemap/build")
@requires(Permission.MANAGE_MERCHANDISING)
def seo_sitemap_request() -> str | Response:
    try:
        with transaction():
            builds.request_build_everywhere(current_author(), ports.machine_id())
    except builds.StagingSite as refused:
        flash(refused.message, "bad")
    if wants_fragment():
        return _overview_page("admin/seo/sitemap/_build_changed.html")
    return redirect(url_for("admin.seo_sitemap"))


def _overview_page(template: str) -> str:
    places = ports.clock(), ports.search_engine(), ports.sitemaps()
    overview = sitemap_overview(*places, current_user.site_id, ports.machine_id())
    return render_template(template, shown=overview, build=overview.build)
