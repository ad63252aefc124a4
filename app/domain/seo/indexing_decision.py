"""The decision which pages search engines may list, and which address each of them is known by.

The rows are those of the specification's table "Indexing of category URLs"; the decision depends on the request alone.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import quote, urlsplit

INDEX, NOINDEX = "index, follow", "noindex, follow"
PARAMETER_REASONS = {"q": "search_words", "sort": "sort_parameter", "pageSizeOverride": "page_size_parameter"}
SAFE = "/%:@!$&()*+,;=~"  # Characters that are not escaped in an address.
PRICE_ENDS = frozenset(("price_min", "price_max"))


class PageKind(StrEnum):
    HOME = "home"
    CATEGORY = "category"
    LANDING = "landing page"
    COLLECTION = "collection"
    PRODUCT = "product"
    CONTENT = "page"
    SEARCH = "search"
    OTHER = "other"


LISTINGS = frozenset((PageKind.CATEGORY, PageKind.LANDING, PageKind.COLLECTION))


@dataclass(frozen=True, slots=True)
class SearchEngineSettings:
    """The settings of a site for all of its pages. `host` is its primary domain."""

    host: str
    staging: bool = False
    drop_canonical_on_noindex: bool = False


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request for a page. `path` is its own, without parameters; `page` its number in a listing. `parameters`
    names what was given besides tracking parameters and a valid page number. `override` replaces its path as
    canonical: a path of the site or an absolute address."""

    kind: PageKind
    path: str
    parameters: tuple[str, ...] = ()
    page: int = 1
    override: str | None = None
    is_past_window: bool = False


@dataclass(frozen=True, slots=True)
class IndexingDecision:
    """The decision about one page. `canonical` is absolute, None where the page names none. `reason` is a stable code,
    with the parameter that decided behind a colon."""

    robots: str
    canonical: str | None
    title_suffix: str
    reason: str

    @property
    def is_indexable(self) -> bool:
        return self.robots == INDEX


def decide(page: PageRequest, settings: SearchEngineSettings) -> IndexingDecision:
    """Return how search engines may treat a page: its robots directive, canonical, and why."""
    suffix = f" – Page {page.page}" if page.kind in LISTINGS and page.page > 1 else ""
    noindex_reason = _noindex_reason(page)
    if settings.staging:
        return IndexingDecision(NOINDEX, canonical_of(page, settings.host), suffix, "staging_site")
    if noindex_reason is None:
        return IndexingDecision(INDEX, canonical_of(page, settings.host), suffix, _index_reason(page, settings.host))
    is_canonical_dropped = settings.drop_canonical_on_noindex or page.kind in (PageKind.SEARCH, PageKind.OTHER)
    canonical = None if is_canonical_dropped else canonical_of(page, settings.host, is_plain=True)
    return IndexingDecision(NOINDEX, canonical, suffix, noindex_reason)


def canonical_of(page: PageRequest, host: str, *, is_plain: bool = False) -> str:
    """Return the canonical address of a page; with `is_plain`, that of the first page of a listing."""
    base = absolute(page.override, host) if page.override else f"https://{host}{quote(page.path)}"
    is_numbered = page.kind in LISTINGS and page.page > 1 and not is_plain
    if not is_numbered or not is_on_host(base, host):
        return base
    return f"{base}{'&' if '?' in base else '?'}p={page.page}"


def absolute(address: str, host: str) -> str:
    """Return a path of the site, or any spelling of an address on its primary domain, as an https address in normal
    form; an address on another host unchanged."""
    if not is_on_host(address, host):
        return address
    parts = urlsplit(address)
    path = parts.path.rstrip("/") or "/"  # No address of the shop ends in a slash, except the front page.
    query = f"?{quote(parts.query, safe=SAFE + '?')}" if parts.query else ""
    return f"https://{host}{quote(path, safe=SAFE)}{query}"


def is_on_host(address: str, host: str) -> bool:
    """Whether an address is a path of the site or one on its primary domain, on the usual ports."""
    try:
        parts = urlsplit(address)
        return not parts.netloc or (parts.hostname == host and parts.port in (None, 80, 443))
    except ValueError:
        return False


def is_cross_domain(address: str | None, host: str) -> bool:
    """Whether a canonical leads to another host; such pages stay out of the sitemap."""
    return bool(address) and not is_on_host(address or "", host)


def _noindex_reason(page: PageRequest) -> str | None:
    if page.kind is PageKind.SEARCH:
        return "search_results"
    if page.kind is PageKind.OTHER:
        return "not_for_search_engines"
    if page.kind not in LISTINGS:
        return None
    if page.parameters:
        return _parameter_reason(page.parameters)
    return "past_last_page_shown" if page.is_past_window else None


def _parameter_reason(names: Collection[str]) -> str:
    """Return the reason why parameters keep a page out: facets decide before words, order and page size, and unknown
    parameters count as facets."""
    facets = sorted({"price" if name in PRICE_ENDS else name for name in names if name not in PARAMETER_REASONS})
    if facets:
        return f"facet_parameter:{facets[0]}"
    return next(reason for name, reason in PARAMETER_REASONS.items() if name in names)


def _index_reason(page: PageRequest, host: str) -> str:
    if page.override:
        return "cross_domain_canonical" if is_cross_domain(page.override, host) else "canonical_override"
    return "page_number" if page.kind in LISTINGS and page.page > 1 else "indexable"
