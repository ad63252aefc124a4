"""The entries of a shop's sitemap, one after the other, as the shop stands now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice

import structlog

from app.domain.catalogue.models import Collection, Page, Product
from app.domain.merchandising.shop import Shop
from app.domain.merchandising.tree import ShopNode
from app.domain.search.engine import SearchEngine
from app.domain.seo.heads import settings_of
from app.domain.seo.landing.of_category import LandingDirectory
from app.domain.seo.landing.pages import LandingPages
from app.domain.seo.sitemap.candidates import (
    CHUNK,
    HOME,
    LandingPagesOf,
    category_candidates,
    stored_candidates,
)
from app.domain.seo.sitemap.canonical_pages import pages_among
from app.domain.seo.sitemap.category_counts import ExactCounts
from app.domain.seo.sitemap.entries import (
    Candidate,
    LeftOut,
    RejectedEntry,
    SitemapEntry,
    entry_of,
    is_listed_for_another,
)
from app.domain.shared.clock import Clock

Reject = Callable[[str, str], None]

log = structlog.get_logger()


@dataclass
class SitemapGenerator:
    """The generator of a sitemap's entries. `reject` is called with the path of a page that should stand in the sitemap
    and cannot, and why; the others follow all the same (spec, Errors). `misses_counts`: search was away, at least for a
    moment, so that landing pages are missing or empty categories are listed."""

    shop: Shop
    pages_of: LandingPagesOf
    counts: ExactCounts
    reject: Reject
    misses_counts: bool = False
    _listed_for_others: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, engine: SearchEngine, clock: Clock, shop: Shop, reject: Reject) -> SitemapGenerator:
        """Return a generator that counts products anew, past all caches."""
        pages_of = partial(LandingDirectory().of, engine, clock, shop)
        return cls(shop, pages_of, ExactCounts.of_site(engine, shop.site_id), reject)

    def entries(self) -> Iterator[SitemapEntry]:
        """Yield the front page, then what the specification lists, in its order."""
        categories = category_candidates(self.shop.tree, self._count_of, self._pages_of)
        chunks = chain(
            [[HOME]],
            stored_candidates(Page, self.shop.site_id),
            iter(lambda: list(islice(categories, CHUNK)), []),
            stored_candidates(Collection, self.shop.site_id),
            stored_candidates(Product, self.shop.site_id),
        )
        for chunk in chunks:
            yield from self._listed(chunk)

    def _count_of(self, node: ShopNode) -> int | None:
        count = self.counts.of(node)
        self.misses_counts |= count is None
        return count

    def _pages_of(self, node: ShopNode) -> LandingPages:
        pages = self.pages_of(node)
        self.misses_counts |= not pages.is_counted
        return pages

    def _listed(self, chunk: Iterable[Candidate]) -> Iterator[SitemapEntry]:
        """Yield the entries of a chunk that are listed. A page whose canonical is another page of the shop is left out,
        since that page is a candidate by itself; any other address on the primary domain is listed once."""
        settings = settings_of(self.shop)
        made = [(candidate, entry) for candidate in chunk if (entry := self._entry(candidate))]
        listed = [(*pair, is_listed_for_another(pair[1], pair[0].request, settings)) for pair in made]
        targets = {entry.address for _, entry, is_for_another in listed if is_for_another}
        taken = self._listed_for_others | pages_among(self.shop, self.pages_of, targets)
        for candidate, entry, is_for_another in listed:
            if is_for_another and entry.address in taken:
                self._leave_out(candidate, LeftOut.LISTED_ELSEWHERE)
                continue
            if is_for_another:
                taken.add(entry.address)
                self._listed_for_others.add(entry.address)
            yield entry

    def _entry(self, candidate: Candidate) -> SitemapEntry | None:
        try:
            entry = entry_of(candidate, settings_of(self.shop))
        except RejectedEntry as rejected:
            log.warning("sitemap_entry_rejected", site=self.shop.site_id, path=candidate.path, reason=str(rejected))
            self.reject(candidate.path, str(rejected))
            return None
        if isinstance(entry, LeftOut):
            self._leave_out(candidate, entry)
            return None
        return entry

    def _leave_out(self, candidate: Candidate, reason: LeftOut) -> None:
        log.debug("sitemap_entry_left_out", site=self.shop.site_id, path=candidate.path, reason=reason)
