"""What happens around every request of the shop: the refusal of unknown hosts and of foreign forms, the answer while
search is down, the preview of a theme, and the record of crawlers' visits to pages that are not indexable.

The shop's own forms carry no token: a token belongs to a session, and the shop has none, so that a page is the same for
everybody and can be cached. Instead a request that changes something must not come from another site's page, which
browsers name with each request that is not just a link (Sec-Fetch-Site, before that Origin, before that Referer). A
request without any of these comes from no browser but from a program, which has no shopper's cookie to abuse. Nor do
other sites' forms send the cookie that names a basket (SameSite).
"""

from __future__ import annotations

from flask import Response, current_app, g, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from app import ports
from app.blueprints.storefront.blueprint import PREVIEWS, bp, check_host, current_shop, preview_cookie
from app.domain.search.engine import SearchBeingPrepared, SearchUnavailable
from app.domain.search_statistics.counting.days import day_at
from app.domain.seo.crawlers import CrawlerVisit, family_of, parameter_of
from app.domain.shared.problems import Forbidden, NotFound
from app.operations.logs import IN_PROCESS
from app.web.errors import problem
from app.web.guards import SAFE_METHODS, host_of
from app.web.permissions import public
from app.web.surfaces import current_surface
from app.web.themes.drawing import current_theme
from app.web.tokens import THEME_PREVIEW, previewed_theme

SECONDS_TO_WAIT = 5


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


@bp.errorhandler(SearchUnavailable)
def search_is_down(error: SearchUnavailable) -> AnyResponse:
    """Return 503 in words for shoppers; the cause and the fix are for the admin."""
    missing = "This list" if request.endpoint != "storefront.search" else "Search"
    trouble = f"{missing} is temporarily unavailable."
    if isinstance(error, SearchBeingPrepared):
        trouble = "Search is being prepared."
    answer = problem(503, error.code, f"{trouble} Please try again in a moment.")
    answer.headers["Retry-After"] = str(SECONDS_TO_WAIT)
    return answer


@bp.before_request
def refuse_foreign_origin() -> None:
    if request.method not in SAFE_METHODS and _is_foreign():
        raise Forbidden("Please use the form on the shop’s own page.")


def _is_foreign() -> bool:
    headers = request.headers
    fetched_from = headers.get("Sec-Fetch-Site")
    if fetched_from is not None:
        return fetched_from != "same-origin"
    named = headers.get("Origin") or headers.get("Referer")
    return named is not None and host_of(named) != request.host


@bp.get("/theme-preview")
@public
def theme_preview() -> AnyResponse:
    """Set the cookie of a preview and redirect to the shop. Raises NotFound without a valid token."""
    token = request.args.get("token", "")
    if previewed_theme(token, current_shop().site_id, ports.clock().now()) is None:
        raise NotFound("This preview has ended. Open it again from the settings of the shop.")
    response = redirect("/")
    response.headers["Cache-Control"] = "no-store"
    secure = current_app.config["SESSION_COOKIE_SECURE"]
    age = THEME_PREVIEW.lifetime
    response.set_cookie(preview_cookie(), token, max_age=age, secure=secure, httponly=True, samesite="Lax", path="/")
    return response


@bp.post("/theme-preview/end")
@public
def theme_preview_end() -> AnyResponse:
    response = redirect("/")
    secure = current_app.config["SESSION_COOKIE_SECURE"]
    response.delete_cookie(preview_cookie(), secure=secure, httponly=True, samesite="Lax", path="/")
    return response


@bp.app_template_global("previewed_label")
def previewed_label() -> str:
    """The name of the theme that is only previewed, for the bar above the page; empty for shoppers."""
    return current_theme().label if g.get(PREVIEWS) else ""


@bp.after_app_request
def keep_previews_out_of_caches(response: Response) -> Response:
    if g.get(PREVIEWS) and response.mimetype == "text/html":
        response.headers["Cache-Control"] = "no-store"
        response.headers["X-Robots-Tag"] = "noindex"
    return response


@bp.after_request
def note_crawler(response: Response) -> Response:
    if "decision" in g and not g.decision.is_indexable and response.status_code == 200:
        family = family_of(request.headers.get("User-Agent", ""))
        if family is not None and IN_PROCESS not in request.environ:
            _note_visit(family, parameter_of(g.decision.reason))
    return response


def _note_visit(family: str, parameter: str) -> None:
    """Record a visit, except to a staging site."""
    shop = current_shop()
    if shop.staging:
        return
    try:
        day = day_at(ports.clock().now(), shop.time_zone)
        ports.crawler_visits().note([CrawlerVisit(shop.site_id, day, family, parameter)])
    except Exception:  # Whatever goes wrong here, the page is what matters.
        current_app.logger.exception("crawler_not_noted")
