"""Files for crawlers: robots.txt and the sitemap."""

from __future__ import annotations

from collections.abc import Iterator

from flask import make_response, request
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.storefront.blueprint import bp, current_shop
from app.domain.merchandising.shop import Shop
from app.domain.seo.robots_txt import robots_txt
from app.domain.seo.sitemap import builds
from app.domain.seo.sitemap.store import FIRST_FILE, StoredFile, part_name
from app.domain.shared.author import Author
from app.domain.shared.problems import NotFound
from app.transaction import transaction
from app.web.errors import problem
from app.web.permissions import public

REQUESTED_BY = "a crawler"
SECONDS_TO_WAIT = 120
PART = 64 * 1024  # Bytes.
NO_SITEMAP = "There is no such sitemap."


@bp.get("/robots.txt")
@public
def robots() -> Response:
    shop = current_shop()
    text = robots_txt(shop.primary_host, shop.staging, shop.settings["seo-robots-skipped-parameters"])
    response = make_response(text, {"Content-Type": "text/plain; charset=utf-8"})
    response.add_etag()
    return response.make_conditional(request)


@bp.get("/sitemap.xml")
@public
def sitemap() -> Response:
    """Serve the sitemap, which is never built here. Where there is none yet one is requested, and 503 tells crawlers to
    come again."""
    shop = _shop_with_sitemap()
    return _file(shop, FIRST_FILE) or _not_yet(shop)


@bp.get("/sitemap-<number>.xml")
@public
def sitemap_part(number: str) -> Response:
    response = _file(_shop_with_sitemap(), part_name(number))
    if response is None:
        raise NotFound(NO_SITEMAP)
    return response


def _shop_with_sitemap() -> Shop:
    shop = current_shop()
    if shop.staging:
        raise NotFound(NO_SITEMAP)
    return shop


def _file(shop: Shop, name: str) -> Response | None:
    """Return a file of the sitemap with its ETag and date, or 304 for a crawler that has it; None where there is
    none."""
    stored = ports.sitemaps().file(shop.site_id, name)
    if stored is None:
        return None
    response = Response(_content(stored), content_type="application/xml")
    response.content_length, response.last_modified = stored.size, stored.written_at
    response.set_etag(stored.version)
    response.cache_control.no_cache = True
    return response.make_conditional(request)


def _content(stored: StoredFile) -> Iterator[bytes]:
    """Yield the contents of a file. It is opened at the first piece, and closed when reading stops."""
    with stored.path.open("rb") as file:
        while part := file.read(PART):
            yield part


def _not_yet(shop: Shop) -> Response:
    machine = ports.machine_id()
    if builds.is_request_due(ports.clock(), shop.site_id, machine):
        with transaction():
            builds.request_build(Author(shop.site_id, REQUESTED_BY, ports.clock()), machine)
    response = problem(503, "no_sitemap_yet", "The sitemap is being built. Please try again in a few minutes.")
    response.headers["Retry-After"] = str(SECONDS_TO_WAIT)
    return response
