"""The one form of every address, and the redirects of addresses that have no page any more; without one they answer
404."""

from __future__ import annotations

from functools import partial
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from flask import current_app, redirect, request
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.exceptions import NotFound as NoRoute
from werkzeug.wrappers import Response as AnyResponse

from app import ports
from app.blueprints.storefront.blueprint import bp, current_shop, landing_pages_of
from app.blueprints.storefront.category import landing_address, redirect_for_good
from app.domain.merchandising.shop import Shop
from app.domain.search_statistics.counting.days import day_at
from app.domain.seo.indexing_decision import INDEX
from app.domain.seo.redirects.redirect_hits import RedirectHit
from app.domain.seo.redirects.rules import Destination
from app.domain.seo.redirects.stored_redirects import redirect_at
from app.domain.shared.problems import NotFound
from app.operations.logs import IN_PROCESS
from app.web.errors import domain_error, http_error
from app.web.htmx import redirect_page, wants_fragment
from app.web.surfaces import current_surface

OTHER_SURFACES = ("/admin/", "/v1/", "/static/", "/media/")
READING = ("GET", "HEAD")


@bp.before_app_request
def drop_trailing_slash() -> AnyResponse | None:
    """Redirect to the address without a trailing slash. The address is written anew, so that nothing in it can lead
    elsewhere."""
    path = request.path
    if path == "/" or not path.endswith("/") or path.startswith(OTHER_SURFACES):
        return None
    plain = "/" + path.strip("/")
    return moved_answer(plain) or redirect(_with_parameters(Destination(plain)), 301)


@bp.errorhandler(NotFound)
def missing_page(error: NotFound) -> AnyResponse:
    return moved_answer(request.path) or domain_error(error)


@bp.app_errorhandler(NoRoute)
def missing_address(error: NoRoute) -> AnyResponse:
    return moved_answer(request.path) or http_error(error)


def moved_answer(path: str) -> AnyResponse | None:
    """Return the redirect of an address of the shop that has no page; None where it has none. One step leads to the
    page: parameters are kept, and a filter with a landing page leads there at once."""
    if request.method not in READING or not current_surface().is_themed:
        return None
    try:
        shop = current_shop()
        found = redirect_at(shop, partial(landing_pages_of, shop), path)
    except (NotFound, SQLAlchemyError):  # No shop at this host, or no database: the page of the error is what matters.
        return None
    if found is None:
        return None
    # A redirect with parameters of its own leads to what these choose.
    landing = None if found.to.query else landing_address(shop, found.to.path)
    location = landing or _with_parameters(found.to)
    if wants_fragment():
        return redirect_page(location)
    answer = redirect_for_good(location)
    if not shop.staging:
        _note_hit(shop, found.redirect_id)
        # The noindex of answers without a page might count for the page to which this one leads.
        answer.headers["X-Robots-Tag"] = INDEX
    return answer


def _note_hit(shop: Shop, redirect_id: int) -> None:
    """Record that a redirect was followed, by whom but the shop itself."""
    if IN_PROCESS in request.environ:
        return
    try:
        day = day_at(ports.clock().now(), shop.time_zone)
        ports.redirect_hits().note([RedirectHit(redirect_id, day)])
    except Exception:  # Whatever goes wrong here, the redirect is what matters.
        current_app.logger.exception("redirect_not_noted")


def _with_parameters(to: Destination) -> str:
    """Return the address with the request's parameters behind its own, which win where both name one."""
    path = to.path if to.is_elsewhere else quote(to.path)
    own = {name for name, _ in parse_qsl(to.query or urlsplit(path).query, keep_blank_values=True)}
    added = [(name, value) for name, value in request.args.items(multi=True) if name not in own]
    query = urlencode(added, errors="replace")
    parameters = "&".join(filter(None, (to.query, query)))
    return f"{path}{'&' if '?' in path else '?'}{parameters}" if parameters else path
