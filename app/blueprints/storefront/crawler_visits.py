"""The recording of crawlers' visits to pages that are not indexable. Nothing here can fail or delay a page."""

from __future__ import annotations

from flask import Response, current_app, g, request

from app import ports
from app.blueprints.storefront.blueprint import bp, current_shop
from app.domain.search_statistics.counting.days import day_at
from app.domain.seo.crawlers import CrawlerVisit, family_of, parameter_of
from app.logs import IN_PROCESS


@bp.after_request
def note_crawler(response: Response) -> Response:
    if "decision" in g and not g.decision.is_indexable and response.status_code == 200:
        family = family_of(request.headers.get("User-Agent", ""))
        if family is not None and IN_PROCESS not in request.environ:
            _note(family, parameter_of(g.decision.reason))
    return response


def _note(family: str, parameter: str) -> None:
    """Record a visit, except to a staging site."""
    shop = current_shop()
    if shop.staging:
        return
    try:
        day = day_at(ports.clock().now(), shop.time_zone)
        ports.crawler_visits().note([CrawlerVisit(shop.site_id, day, family, parameter)])
    except Exception:  # Whatever goes wrong here, the page is what matters.
        current_app.logger.exception("crawler_not_noted")
