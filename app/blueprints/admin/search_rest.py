"""The Search section's JSON: status, and rebuilds asked for and followed."""

from __future__ import annotations

from flask import jsonify, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.json_body import json_object
from app.domain.search.analytics import reports
from app.domain.search.index import runs
from app.domain.search.overview.status import status_view
from app.domain.shared.problems import Invalid
from app.permissions import Permission, requires
from app.transaction import transaction


@bp.get("/search/rest/status")
@requires(Permission.MANAGE_SEARCH)
def search_status() -> Response:
    today = reports.searches_today(ports.clock(), current_user.site_id)
    return jsonify(status_view(ports.search_engine(), current_user.site_id, today))


@bp.post("/search/rest/reindex")
@requires(Permission.MANAGE_SEARCH)
def search_reindex() -> Response:
    scope = json_object({"scope"}).get("scope")
    if not isinstance(scope, str):
        raise Invalid.one("required", "Give the scope: ALL, PRODUCTS or CONTENT.", "#/scope")
    return _rebuild(scope)


@bp.get("/search/rest/reindex/<run_id>")
@requires(Permission.MANAGE_SEARCH)
def search_reindex_run(run_id: str) -> Response:
    return jsonify(runs.view(runs.run_of(current_user.site_id, run_id)))


@bp.post("/merchandising/rest/reindex")
@requires(Permission.MANAGE_SEARCH)
def merchandising_reindex() -> Response:
    """The older address; it takes no payload and means everything."""
    return _rebuild("ALL")


def _rebuild(scope: str) -> Response:
    with transaction():
        run, joined = runs.request_rebuild(
            ports.clock(), ports.search_engine(), current_user.site_id, scope, current_user.display_name
        )
        body = runs.view(run, joined)
    response = jsonify(body)
    response.status_code = 200 if joined else 202
    response.headers["Location"] = url_for("admin.search_reindex_run", run_id=body["runId"])
    return response
