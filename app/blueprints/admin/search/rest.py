"""The Search section's JSON: status, and rebuilds."""

from __future__ import annotations

from flask import jsonify, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.author import current_author
from app.blueprints.json_body import json_body
from app.domain.relevance.overview import status_view
from app.domain.search.index import runs
from app.domain.search_statistics.reports import analytics
from app.domain.shared.schema import Record, Text
from app.permissions import Permission, requires
from app.transaction import transaction

REBUILD = Record(scope=Text(required=True))


@bp.get("/search/rest/status")
@requires(Permission.MANAGE_SEARCH)
def search_status() -> Response:
    today = analytics.searches_today(ports.clock(), current_user.site_id)
    return jsonify(status_view(ports.search_engine(), current_user.site_id, today))


@bp.post("/search/rest/reindex")
@requires(Permission.MANAGE_SEARCH)
def search_reindex() -> Response:
    return _rebuild(json_body(REBUILD)["scope"])


@bp.get("/search/rest/reindex/<run_id>")
@requires(Permission.MANAGE_SEARCH)
def search_reindex_run(run_id: str) -> Response:
    return jsonify(runs.view(runs.run_of(current_user.site_id, run_id)))


@bp.post("/merchandising/rest/reindex")
@requires(Permission.MANAGE_SEARCH)
def merchandising_reindex() -> Response:
    """Request a rebuild of everything, at the older address, which takes no body."""
    return _rebuild("ALL")


def _rebuild(scope: str) -> Response:
    with transaction():
        run, joined = runs.request_rebuild(current_author(), ports.search_engine(), ports.worker_locks(), scope)
        body = runs.view(run, joined)
    response = jsonify(body)
    response.status_code = 200 if joined else 202
    response.headers["Location"] = url_for("admin.search_reindex_run", run_id=body["runId"])
    return response
