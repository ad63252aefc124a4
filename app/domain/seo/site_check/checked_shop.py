"""A shop as a site check sees it: its sitemap as it would be written now, and what that leaves out on purpose."""

from __future__ import annotations

from collections.abc import Iterator

from app.domain.merchandising.shop import Shop
from app.domain.search.engine import SearchEngine
from app.domain.seo.fetching import Fetch, address_on
from app.domain.seo.site_check.crawl import CrawledShop
from app.domain.seo.sitemap.candidates import categories_left_out
from app.domain.seo.sitemap.generator import SitemapGenerator
from app.domain.shared.clock import Clock


def checked_shop(engine: SearchEngine, clock: Clock, shop: Shop, fetch: Fetch) -> CrawledShop:
    """Return the input of a crawl. Pages that the generator rejects should be listed, so they do not count as left out
    on purpose."""
    generator = SitemapGenerator.of(engine, clock, shop, lambda _path, _reason: None)
    listed = (address_on(shop.primary_host, entry.address) for entry in generator.entries())
    sitemap = [address for address in listed if address is not None]
    left_out = (address_on(shop.primary_host, path) for path in _left_out(shop, generator))
    return CrawledShop(shop.primary_host, fetch, sitemap, frozenset(filter(None, left_out)))


def _left_out(shop: Shop, generator: SitemapGenerator) -> Iterator[str]:
    """Yield the paths of the categories that are left out, and of their landing pages, which are left out with them."""
    for node, _ in categories_left_out(shop.tree, generator.counts.of):
        yield f"/c/{node.path}"
        yield from (page.path for page in generator.pages_of(node).pages)
