"""Links and redirects from requests of a category to its landing pages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from app.domain.search.listings.listing import ListingRequest
from app.domain.seo.landing.pages import LandingPage, LandingPages

KEPT = frozenset(("sort", "pageSizeOverride"))


@dataclass(frozen=True, slots=True)
class LandingLinks:
    """The landing pages of a category as targets of links; its listing makes links with `address`."""

    pages: LandingPages

    def page_for(self, request: ListingRequest) -> LandingPage | None:
        """Return the landing page for a category's request that filters by one value and nothing else, None for any
        other."""
        if len(request.values) != 1 or request.words or request.spans or request.price or request.unknown:
            return None
        ((facet_id, values),) = request.values
        return self.pages.by_value.get((facet_id, values[0])) if len(values) == 1 else None

    def address(self, request: ListingRequest) -> str | None:
        """Return the address of the landing page for a request, with its order and page number."""
        page = self.page_for(request)
        return replace(request, path=page.path, values=()).url() if page else None

    def redirect(self, request: ListingRequest, tracking: Iterable[tuple[str, str]]) -> str | None:
        """Return the address to which a category's request with exactly one facet value is redirected for good: its
        landing page, with page number, order and tracking parameters kept (spec, "Landing page rendering", 3). None for
        any other request."""
        page = self.page_for(request)
        if page is None or not set(request.given) <= {page.facet_id, *KEPT}:
            return None
        address = replace(request, path=page.path, values=()).url()
        kept = urlencode(list(tracking))
        return f"{address}{'&' if '?' in address else '?'}{kept}" if kept else address


def request_of(page: LandingPage, request: ListingRequest) -> ListingRequest:
    """Return a request of the landing page's own address as one of its category, with the value chosen."""
    chosen = request.chosen(page.facet_id)
    return (
        replace(request.with_value(page.facet_id, page.value), page=request.page)
        if page.value not in chosen
        else request
    )
