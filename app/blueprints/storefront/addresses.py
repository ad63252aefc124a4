"""The one form of every address, the refusal of unknown hosts, and the answer while search is down."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from flask import redirect, request
from werkzeug.wrappers import Response

from app.blueprints.storefront.blueprint import bp, check_host, current_shop
from app.domain.search.engine import SearchBeingPrepared, SearchUnavailable
from app.errors import problem
from app.surfaces import current_surface

SECONDS_TO_WAIT = 5
OTHER_SURFACES = ("/admin/", "/v1/", "/static/", "/media/")


@bp.before_app_request
def refuse_unknown_hosts() -> None:
    """Refuse requests to unknown hosts, except for health, whose callers may know this machine only by its IP address.
    Only pages with the shop's theme need the shop itself: reading a large one anew after each change would cost every
    save in the admin more than the save. Raises NotFound."""
    if (request.endpoint or "").startswith("health."):
        return
    if current_surface().is_themed:
        current_shop()
    else:
        check_host()


@bp.before_app_request
def drop_trailing_slash() -> Response | None:
    """Redirect to the address without a trailing slash. The address is written anew, so that nothing in it can lead
    elsewhere."""
    path = request.path
    if path == "/" or not path.endswith("/") or path.startswith(OTHER_SURFACES):
        return None
    plain = "/" + quote(path.strip("/"))
    query = urlencode(list(request.args.items(multi=True)), errors="replace")
    return redirect(f"{plain}?{query}" if query else plain, 301)


@bp.errorhandler(SearchUnavailable)
def search_is_down(error: SearchUnavailable) -> Response:
    """Return 503 in words for shoppers; the cause and the fix are for the admin."""
    is_first = isinstance(error, SearchBeingPrepared)
    trouble = "Search is being prepared." if is_first else "This list is temporarily unavailable."
    answer = problem(503, error.code, f"{trouble} Please try again in a moment.")
    answer.headers["Retry-After"] = str(SECONDS_TO_WAIT)
    return answer
