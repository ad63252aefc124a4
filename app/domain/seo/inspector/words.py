"""Explanations of how search engines may treat a page, in words. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from app.domain.seo.fetching import Fetched

RULES: Mapping[str, str] = {
    "staging_site": "This is a staging site: every page keeps search engines out.",
    "indexable": "Nothing speaks against it: the page is requested by its own address.",
    "page_number": "A further page of a list is indexable, and known by its own address.",
    "canonical_override": "Its editor names another address of the shop as the one that it is known by.",
    "cross_domain_canonical": "Its editor names an address on another host as the one that it is known by.",
    "search_words": "It is asked for with search words (q), and what a search finds stays out of search engines.",
    "sort_parameter": "It is asked for in another order (sort), which shows what the plain address shows.",
    "page_size_parameter": "It is asked for with another number of products (pageSizeOverride).",
    "past_last_page_shown": "The page lies beyond the last one that the list shows.",
    "search_results": "Pages of search results stay out of search engines, whatever they show.",
    "not_for_search_engines": "Pages of this kind, as basket and checkout, are nothing that people search for.",
}
FILTER = (
    "The parameter “{}” filters the list. Filtered lists stay out of search engines and name the plain list instead."
)
VARIANT = "What its parameters change is nothing to list apart: the page is known by its canonical address."
UNKNOWN = (
    "The shop does not know the parameter “{}”, so it counts as a filter. Where it only tracks visitors, an admin can "
    "say so on the page Crawlers."
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
        return "Addresses have no slash at their end, so that each page has one."
    if path.startswith("/c/"):
        return "The category is filtered by one value alone, which has a landing page: that is its one address."
    if path == "/search" and query:
        return "A rule of the Search section sends this search on."
    if path.startswith("/admin"):
        return "The admin is for people who sign in."
    return "The shop sends visitors of this address on."


def failure_in_words(status: int) -> str:
    """Return what a page that does not answer means for search engines, empty for one that does."""
    if status == 404:
        return "No page is there: search engines forget the address."
    if status >= 500:
        return "The shop could not answer: search engines come back later, and forget the address if it stays so."
    return "The shop refuses this address." if status >= 400 else ""
