"""The pages of a shop in its sitemap, the reasons why others are left out, and the counts of products on which these
depend. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from urllib.parse import unquote

from app.domain.merchandising.tree import ShopNode
from app.domain.search.engine import IndexName, SearchEngine, SearchRequest, SearchUnavailable, ValueFilter
from app.domain.search.listings.browsing import CategoryCounts, category_counts
from app.domain.seo.indexing_decision import PageRequest, SearchEngineSettings, canonical_of, decide
from app.domain.shared.text import UNPRINTABLE

CountOf = Callable[[ShopNode], int | None]
LONGEST_ADDRESS = 2_047  # sitemaps.org: less than 2,048 characters.


class LeftOut(StrEnum):
    """The reason why a page is left out on purpose."""

    HIDDEN = "hidden"
    EXCLUDED = "excluded_from_sitemap"
    OVERRIDE = "canonical_override"
    EMPTY = "no_products"
    CROSS_DOMAIN = "cross_domain_canonical"
    NOT_INDEXABLE = "not_indexable"
    LISTED_ELSEWHERE = "canonical_listed_by_itself"


WHY_LEFT_OUT: Mapping[LeftOut, str] = {
    LeftOut.HIDDEN: "The category, or one above it, is hidden.",
    LeftOut.EXCLUDED: "The category is excluded from the sitemap; those below it are listed.",
    LeftOut.OVERRIDE: "The category has another canonical address.",
    LeftOut.EMPTY: "The category has no products.",
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A page that may stand in the sitemap. `changed_at` is None where no date is known."""

    request: PageRequest
    changed_at: datetime | None = None

    @property
    def path(self) -> str:
        return self.request.path


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """An entry of a sitemap. `address` is absolute, on the primary domain."""

    address: str
    changed_at: datetime | None = None


class RejectedEntry(Exception):
    """A page that should stand in the sitemap and cannot; the message says why."""


def entry_of(candidate: Candidate, settings: SearchEngineSettings) -> SitemapEntry | LeftOut:
    """Return the entry of a page, under its canonical (spec, "Cross-domain canonicals"). Raises RejectedEntry for an
    address that no sitemap can hold."""
    try:
        decision = decide(candidate.request, settings)
    except ValueError as error:
        raise RejectedEntry(f"its address cannot be written ({error})") from error
    if decision.reason == LeftOut.CROSS_DOMAIN:
        return LeftOut.CROSS_DOMAIN
    if not decision.is_indexable or decision.canonical is None:
        return LeftOut.NOT_INDEXABLE
    if problem := address_problem(decision.canonical, settings.host):
        raise RejectedEntry(problem)
    return SitemapEntry(decision.canonical, candidate.changed_at)


def is_listed_for_another(entry: SitemapEntry, request: PageRequest, settings: SearchEngineSettings) -> bool:
    """Whether a page's entry is not its own address but another one on the primary domain, which it names as its
    canonical."""
    return bool(request.override) and entry.address != canonical_of(replace(request, override=None), settings.host)


def address_problem(address: str, host: str) -> str | None:
    """Return why a sitemap cannot hold an address, None where it can."""
    if not address.startswith(f"https://{host}/"):
        return "its address is not on the primary domain"
    if len(address) > LONGEST_ADDRESS:
        return f"its address has more than {LONGEST_ADDRESS:,} characters"
    if not address.isascii() or UNPRINTABLE.search(unquote(address)):
        return "its address holds characters that cannot be shown"
    return None


def why_category_left_out(node: ShopNode, is_shown: bool, count_of: CountOf) -> LeftOut | None:
    """Return why a category is left out (spec, "Sitemap content"). Its products are counted only where the reason
    depends on them; a count that is not known keeps the category."""
    if not is_shown:
        return LeftOut.HIDDEN
    if node.exclude_from_sitemap:
        return LeftOut.EXCLUDED
    if node.canonical_override:
        return LeftOut.OVERRIDE
    return LeftOut.EMPTY if count_of(node) == 0 else None


@dataclass(frozen=True, slots=True)
class ExactCounts:
    """Counts of all categories: those that the one query leaves out are counted by a query each. In the largest shops
    these are thousands, so only a worker counts all categories this way, or a page a few of them."""

    known: CategoryCounts
    engine: SearchEngine
    site_id: int

    @classmethod
    def of_site(cls, engine: SearchEngine, site_id: int) -> ExactCounts:
        return cls(category_counts(engine, site_id, fresh=True), engine, site_id)

    def of(self, node: ShopNode) -> int | None:
        """Return the number of products in a category; None where it could not be fetched."""
        count = self.known.of(node.id)
        if count is not None or self.known.is_search_away:
            return count
        request = SearchRequest(scope=(ValueFilter("category", (str(node.id),)),), per_page=0, fresh=True)
        with suppress(SearchUnavailable):
            return self.engine.search(self.site_id, IndexName.PRODUCTS, request).total
        return None
