"""Explanations of how search engines may treat a page, in words. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from app.domain.seo.fetching import Fetched

RULES: Mapping[str, str] = {
    "staging_site": "This is a staging site, which is hidden from search engines.",
    "indexable": "The page is at its own address, and no rule excludes it.",
    "page_number": "Later pages of a list are indexable and have their own canonical.",
    "canonical_override": "A canonical override points to another address of the shop.",
    "cross_domain_canonical": "The canonical set for this page is on another host.",
    "search_words": "Lists with search words (q) are not indexed.",
    "sort_parameter": "Sorted lists (sort) show the same products as the plain list and are not indexed.",
    "page_size_parameter": "Lists with another page size (pageSizeOverride) are not indexed.",
    "past_last_page_shown": "The page number is beyond the last page of the list.",
    "search_results": "Search result pages are never indexed.",
    "not_for_search_engines": "Pages such as basket and checkout are not for search engines.",
}
FILTER = "The parameter “{}” filters the list. Filtered lists are not indexed; their canonical is the plain list."
VARIANT = "The page with these parameters is indexed under its canonical address."
UNKNOWN = (
    "Unknown parameter “{}”, so it counts as a filter. If it only tracks visitors, an admin can mark it as tracking "
    "under Crawlers."
)


def rule_in_words(reason: str, filters: Collection[str], *, is_own: bool = True) -> str:
    """Return the sentence for a reason code. `filters` are the parameters that lists know; `is_own`: the page is its
    own canonical."""
    code, _, parameter = reason.partition(":")
    if code in ("indexable", "page_number") and not is_own:
        return VARIANT
    if code == "facet_parameter":
        return (FILTER if parameter in filters else UNKNOWN).format(parameter)
    return RULES.get(code, reason)


def redirect_in_words(path: str, query: str, answer: Fetched) -> str:
    """Return why an address sends its visitors on, empty where it does not."""
    if not answer.is_redirect:
        return ""
    if path != "/" and path.endswith("/"):
        return "Addresses have no slash at the end."
    if path.startswith("/c/"):
        return "The category is filtered by a single value that has a landing page, so it redirects there."
    if path == "/search" and query:
        return "A search rule redirects this search."
    if path.startswith("/admin"):
        return "The admin requires signing in."
    return "The shop redirects this address."


def failure_in_words(status: int) -> str:
    """Return what a page that does not answer means for search engines, empty for one that does."""
    if status == 404:
        return "Page not found. Search engines drop the address."
    if status >= 500:
        return "Server error. Search engines try again later, and drop the address if it persists."
    return "The shop refuses this address." if status >= 400 else ""
