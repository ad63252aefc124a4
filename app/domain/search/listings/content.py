"""Pages and collections that a search finds beside products."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from app.domain.merchandising.shop import ContentLink, content_link
from app.domain.search.engine import IndexName, Searching, SearchRequest, SearchResult, SearchUnavailable
from app.domain.search.index.documents import content_search_is_on
from app.domain.search.text import LINKING_WORDS, query_words, words
from app.domain.search.word_forms import root

CONTENT_SHOWN = 5


@dataclass(frozen=True, slots=True)
class ContentHits:
    """`titled` have all words in their title: they answer the search and stand above the products. `others` only
    mention some of them and stand below. `searched` are the words, or the spelling that was searched instead. `total`
    counts those shown and all others that have all of the words."""

    titled: tuple[ContentLink, ...] = ()
    others: tuple[ContentLink, ...] = ()
    searched: str = ""
    total: int = 0

    def answer(self, typed: str) -> bool:
        """Whether a title has all of these words, as they were typed and not in another spelling."""
        return bool(self.titled) and self.searched == typed

    def beside(self, products: SearchResult, typed: str) -> ContentHits:
        """Return what is shown beside the products: nothing by another spelling where a product has the words as they
        were typed."""
        is_typed = self.searched == typed or products.corrected
        return self if is_typed or not products.full_matches else NO_CONTENT


NO_CONTENT = ContentHits()


def content_hits(engine: Searching, site_id: int, typed: str) -> ContentHits:
    """Return the pages and collections for words; none where the content index does not answer."""
    return _search_content(engine, site_id, [typed]).get(typed, NO_CONTENT)


def answering_content(engine: Searching, site_id: int, searches: Sequence[str]) -> dict[str, ContentLink]:
    """Return `titled_content`, empty where the site leaves pages and collections out of search."""
    return titled_content(engine, site_id, searches) if searches and content_search_is_on(site_id) else {}


def titled_content(engine: Searching, site_id: int, searches: Sequence[str]) -> dict[str, ContentLink]:
    """Return, by the words of each search, the first page or collection whose title has all of them, as typed or as
    corrected, whether or not the site's settings let search find content. Searches without one are left out."""
    found = _search_content(engine, site_id, searches) if searches else {}
    return {typed: hits.titled[0] for typed, hits in found.items() if hits.titled}


def _search_content(engine: Searching, site_id: int, searches: Sequence[str]) -> dict[str, ContentHits]:
    """Return the hits of each search; none at all where the content index does not answer."""
    requests = [SearchRequest(words=typed, per_page=CONTENT_SHOWN) for typed in searches]
    try:
        results = engine.search_many(site_id, IndexName.CONTENT, requests)
    except SearchUnavailable:
        return {}
    found = {}
    for typed, result in zip(searches, results, strict=True):
        searched = result.suggestion if result.corrected and result.suggestion else typed
        cards = [hit.card for hit in result.hits]
        links = [content_link(str(card["type"]), str(card["name"]), str(card["seoName"])) for card in cards]
        total = max(len(links), result.full_matches or 0)
        found[typed] = replace(sorted_by_title(links, searched), total=total)
    return found


def sorted_by_title(links: Iterable[ContentLink], searched: str) -> ContentHits:
    found = [(link, has_words(link.name, searched)) for link in links]
    titled = tuple(link for link, is_titled in found if is_titled)
    return ContentHits(titled, tuple(link for link, is_titled in found if not is_titled), searched)


def has_words(title: str, searched: str) -> bool:
    """Whether a title has all words of a search or other forms of them, linking words aside; the last may be the
    beginning of one."""
    in_title, typed = words(title), query_words(searched)
    roots = {root(word) for word in in_title} - {None}
    needed = [word for word in typed if word not in LINKING_WORDS] or list(typed)
    return bool(needed) and all(
        word in in_title or root(word) in roots or (word == typed[-1] and any(one.startswith(word) for one in in_title))
        for word in needed
    )
