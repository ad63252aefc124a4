"""Pages and collections that a search finds beside products."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from app.domain.merchandising.content import ContentLink, content_link
from app.domain.search.engine import IndexName, SearchEngine, SearchRequest, SearchUnavailable
from app.domain.search.text import LINKING_WORDS, query_words, words

CONTENT_SHOWN = 5


@dataclass(frozen=True, slots=True)
class ContentHits:
    """`titled` have the words in their title and stand above the products, `others` below."""

    titled: tuple[ContentLink, ...] = ()
    others: tuple[ContentLink, ...] = ()


def content_hits(engine: SearchEngine, site_id: int, typed: str) -> ContentHits:
    """Return the pages and collections for words. A content index that does not answer leaves the products standing."""
    try:
        result = engine.search(site_id, IndexName.CONTENT, SearchRequest(words=typed, per_page=CONTENT_SHOWN))
    except SearchUnavailable:
        return ContentHits()
    searched = result.suggestion if result.corrected and result.suggestion else typed
    cards = [hit.card for hit in result.hits]
    links = [content_link(str(card["type"]), str(card["name"]), str(card["seoName"])) for card in cards]
    return sorted_by_title(links, searched)


def sorted_by_title(links: Iterable[ContentLink], searched: str) -> ContentHits:
    found = [(link, has_words(link.name, searched)) for link in links]
    return ContentHits(
        tuple(link for link, is_titled in found if is_titled), tuple(link for link, is_titled in found if not is_titled)
    )


def has_words(title: str, searched: str) -> bool:
    """Whether a title has all words of a search, linking words aside; the last may be the beginning of one."""
    in_title, typed = words(title), query_words(searched)
    needed = [word for word in typed if word not in LINKING_WORDS] or list(typed)
    return bool(needed) and all(
        word in in_title or (word == typed[-1] and any(one.startswith(word) for one in in_title)) for word in needed
    )
