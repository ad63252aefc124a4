"""The entries of a shop's sitemap, one after the other, as the shop stands now: the pages that may be listed, in the
order of the specification ("Sitemap content"), and which of them are left out."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any
from urllib.parse import unquote, urlsplit

import structlog
from sqlalchemy import func, select

from app.domain.catalogue.models import Collection, Page, Product
from app.domain.merchandising.shop import FOLDERS, Shop
from app.domain.merchandising.tree import ShopNode, ShopTree
from app.domain.search.engine import SearchEngine
from app.domain.seo.heads import search_engine_settings
from app.domain.seo.indexing_decision import PageKind, PageRequest, SearchEngineSettings
from app.domain.seo.landing.directory import LandingDirectory
from app.domain.seo.landing.pages import LandingPages, LandingPagesOf, landing_at
from app.domain.seo.sitemap.entries import (
    Candidate,
    CountOf,
    ExactCounts,
    LeftOut,
    RejectedEntry,
    SitemapEntry,
    entry_of,
    is_listed_for_another,
    why_category_left_out,
)
from app.domain.shared.clock import Clock
from app.domain.shared.paging import batched
from app.extensions import db

Reject = Callable[[str, str], None]

CHUNK = 5_000  # Rows that are read at once.
REPEATED_SLASHES = re.compile("//+")
OTHER_PAGES = frozenset(("/", "/search", "/basket", "/checkout", "/orders/find"))
HOME_PAGE = Candidate(PageRequest(PageKind.HOME, "/"))
STORED: dict[type[Any], tuple[PageKind, str]] = {
    Page: (PageKind.CONTENT, FOLDERS["page"]),
    Collection: (PageKind.COLLECTION, FOLDERS["collection"]),
    Product: (PageKind.PRODUCT, "p"),
}

log = structlog.get_logger()


def expected_entries(shop: Shop) -> int:
    """Return about how many entries a shop's sitemap has, landing pages apart."""
    stored = (
        select(func.count()).select_from(model).where(model.site_id == shop.site_id, model.enabled) for model in STORED
    )
    return 1 + len(shop.tree.nodes) + sum(db.session.scalar(query) or 0 for query in stored)


def stored_candidates(model: type[Any], site_id: int) -> Iterator[list[Candidate]]:
    """Yield the enabled records of a kind in chunks, by their SEO names, which an index has in order, with the columns
    that a sitemap needs."""
    columns = model.seo_name, model.canonical_url, model.updated_at
    query = select(*columns).where(model.site_id == site_id, model.enabled).order_by(model.seo_name).limit(CHUNK)
    kind, folder = STORED[model]
    last = ""
    while rows := db.session.execute(query.where(model.seo_name > last)).all():
        yield [
            Candidate(PageRequest(kind, f"/{folder}/{name}", override=override), changed_at)
            for name, override, changed_at in rows
        ]
        last = rows[-1][0]


def category_candidates(
    tree: ShopTree, count_of: CountOf, pages_of: LandingPagesOf, parent_id: int | None = None
) -> Iterator[Candidate]:
    """Yield the categories depth first in display order, each followed by its landing pages."""
    for node in tree.children(parent_id):
        if why_category_left_out(node, True, count_of) is None:
            yield Candidate(PageRequest(PageKind.CATEGORY, f"/c/{node.path}"), node.updated_at)
            for page in pages_of(node).pages:
                yield Candidate(PageRequest(PageKind.LANDING, page.path))
        yield from category_candidates(tree, count_of, pages_of, node.id)


def categories_left_out(tree: ShopTree, count_of: CountOf) -> list[tuple[ShopNode, LeftOut]]:
    """Return the categories of the primary tree that are left out, by their labels, each with the reason."""
    own = [node for node in tree.nodes.values() if node.tree_id == tree.primary_tree_id]
    reasons = ((node, why_category_left_out(node, tree.is_shown(node), count_of)) for node in own)
    return sorted(
        [(node, reason) for node, reason in reasons if reason is not None], key=lambda pair: tree.label(pair[0].id)
    )


def pages_among(shop: Shop, pages_of: LandingPagesOf, addresses: Iterable[str]) -> set[str]:
    """Return those of the addresses on the shop's host that lead to a page of the shop, shown or not: whether the
    sitemap lists it is decided for that page itself. What else answers on the host is unknown."""
    found: set[str] = set()
    categories = {f"/c/{node.path}" for node in shop.tree.nodes.values() if node.tree_id == shop.tree.primary_tree_id}
    names: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for address in addresses:
        # The shop redirects trailing and repeated slashes.
        path = REPEATED_SLASHES.sub("/", unquote(urlsplit(address).path)).rstrip("/") or "/"
        _, folder, name = f"{path}//".split("/", 2)
        if path in OTHER_PAGES or path in categories or landing_at(shop.tree, path.removeprefix("/c/"), pages_of):
            found.add(address)
        names[folder][name.rstrip("/")].append(address)
    for model, (_, folder) in STORED.items():
        if names[folder]:
            query = select(model.seo_name).where(model.site_id == shop.site_id, model.seo_name.in_(names[folder]))
            for name in db.session.scalars(query):
                found.update(names[folder][name])
    return found


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
            [[HOME_PAGE]],
            stored_candidates(Page, self.shop.site_id),
            batched(categories, CHUNK),
            stored_candidates(Collection, self.shop.site_id),
            stored_candidates(Product, self.shop.site_id),
        )
        for chunk in chunks:
            yield from self._list_entries(chunk)

    def _count_of(self, node: ShopNode) -> int | None:
        count = self.counts.of(node)
        self.misses_counts |= count is None
        return count

    def _pages_of(self, node: ShopNode) -> LandingPages:
        pages = self.pages_of(node)
        self.misses_counts |= not pages.is_counted
        return pages

    def _list_entries(self, chunk: Iterable[Candidate]) -> Iterator[SitemapEntry]:
        """Yield the entries of a chunk that are listed. A page whose canonical is another page of the shop is left out,
        since that page is a candidate by itself; any other address on the primary domain is listed once."""
        settings = search_engine_settings(self.shop)
        made = [(candidate, entry) for candidate in chunk if (entry := self._entry(candidate, settings))]
        listed = [(*pair, is_listed_for_another(pair[1], pair[0].request, settings)) for pair in made]
        targets = {entry.address for _, entry, is_for_another in listed if is_for_another}
        taken = self._listed_for_others | (pages_among(self.shop, self.pages_of, targets) if targets else set())
        for candidate, entry, is_for_another in listed:
            if is_for_another and entry.address in taken:
                self._leave_out(candidate, LeftOut.LISTED_ELSEWHERE)
                continue
            if is_for_another:
                taken.add(entry.address)
                self._listed_for_others.add(entry.address)
            yield entry

    def _entry(self, candidate: Candidate, settings: SearchEngineSettings) -> SitemapEntry | None:
        try:
            entry = entry_of(candidate, settings)
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
