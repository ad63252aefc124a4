"""Suggestions for a search that is being typed: popular searches, categories, brands and products that fit it.

Categories, brands and the popular searches that lead somewhere are cached in each process, for as long as the shop and
its index stay as they are.
"""

from __future__ import annotations

import re
import threading
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from cachetools import LRUCache

from app.domain.merchandising.shop import Shop
from app.domain.merchandising.tree import ShopNode
from app.domain.search.engine import Hit, IndexName, SearchEngine, SearchRequest, SearchUnavailable
from app.domain.search.listings.browsing import category_counts
from app.domain.search.listings.content import has_words, titled_content
from app.domain.search.listings.listing import ListingRequest
from app.domain.search.serving.plan import Plan, Served, plan
from app.domain.search.serving.query import search_many_products, search_products
from app.domain.search.serving.rules import SEARCH_PATH
from app.domain.search.text import LINKING_WORDS, MAX_CHARACTERS, request_words, stem, tokens
from app.domain.shared.text import fold

SHORTEST = 2  # Letters and digits; fewer fit nearly everything.
_WORDS = re.compile(r"[^\W_]+")
_LAST = "\U0010ffff"
MOST_NAMES = 200  # Indexes of names, two for each shop.
FRESH = timedelta(minutes=1)  # Entries hold at least so long, however often the index changes, as with each order.
MOST_CHECKED = 20_000  # Popular searches.
CHECKED_FOR = 300  # Seconds: rules begin and end, and pages come and go, without a new index.
T = TypeVar("T")
SEARCHES, CATEGORIES, BRANDS, PRODUCTS = 4, 3, 2, 5
BEFORE_TYPING = 8  # Popular searches while nothing is typed.
CHECKED = 2  # Popular searches that are checked at most for each one that is shown.


@dataclass(frozen=True, slots=True)
class Typed:
    """What was typed so far, and its words, folded. `is_typing` says that the last one may be the beginning of a longer
    word."""

    text: str = ""
    words: tuple[str, ...] = ()
    is_typing: bool = False

    @classmethod
    def read(cls, values: Iterable[str]) -> Typed:
        """Return what was typed, given the values of its parameter in the address, of which the first that is not blank
        counts. The last word is finished where a space follows it or it is a plural."""
        given = next((value for value in values if value.strip()), "")[:MAX_CHARACTERS]
        words = tuple(tokens(given))
        is_typing = bool(words) and not given[-1].isspace() and stem(words[-1]) == words[-1]
        return cls(request_words([given]), words, is_typing)

    @property
    def folded(self) -> str:
        return " ".join(self.words)

    @property
    def is_enough(self) -> bool:
        """Whether it is long enough for suggestions."""
        return sum(map(len, self.words)) >= SHORTEST


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a suggestion's text. `is_typed` is what the shopper has typed of it."""

    text: str
    is_typed: bool = False


def pieces(text: str, typed: Typed) -> list[Piece]:
    """Return a text cut into pieces, so that the beginnings of its words that were typed are pieces of their own."""
    found: list[Piece] = []
    end = 0
    for word in _WORDS.finditer(text):
        length = max((len(begun) for begun in typed.words if fold(word[0][: len(begun)]) == begun), default=0)
        if length:
            typed_until = min(word.start() + length, word.end())  # Letters such as ß are folded to two.
            found += [Piece(text[end : word.start()]), Piece(text[word.start() : typed_until], is_typed=True)]
            end = typed_until
    return [piece for piece in (*found, Piece(text[end:])) if piece.text]


class Names(Generic[T]):
    """Things by their names, in an order of importance."""

    def __init__(self, named: Iterable[tuple[str, T]]) -> None:
        self._entries = [(" ".join(tokens(name)), thing) for name, thing in named]
        rows = [(word, place) for place, (name, _) in enumerate(self._entries) for word in name.split()]
        self._rows = sorted(rows)
        self._stems: dict[str, set[int]] = {}
        for word, place in rows:
            self._stems.setdefault(stem(word), set()).add(place)

    def __iter__(self) -> Iterator[T]:
        return (thing for _, thing in self._entries)

    def find(self, typed: Typed) -> list[T]:
        """Return what has all the words typed in its name, or words that begin with them: first the names that begin
        like what was typed, then the others, each in their order. Linking words need not match."""
        wanted = [word for word in typed.words if word not in LINKING_WORDS] or list(typed.words)
        if not wanted:
            return []
        places = set.intersection(*map(self._places, wanted))
        ordered = sorted(places, key=lambda place: (not self._entries[place][0].startswith(typed.folded), place))
        return [self._entries[place][1] for place in ordered]

    def _places(self, word: str) -> set[int]:
        start, end = bisect_left(self._rows, (word,)), bisect_left(self._rows, (word + _LAST,))
        return {place for _, place in self._rows[start:end]} | self._stems.get(stem(word), set())


@dataclass(frozen=True, slots=True)
class Brand:
    """A manufacturer, and how many products are its."""

    name: str
    products: int


@dataclass(frozen=True, slots=True)
class _Made(Generic[T]):
    """Names, with the versions of the shop and of its index from which they were made."""

    names: Names[T]
    shop_version: int
    index_version: int
    at: datetime

    def are_of(self, shop_version: int, index_version: int, now: datetime) -> bool:
        """Whether the names hold: made from these versions, or from another index less than FRESH ago."""
        is_new = self.index_version == index_version or abs(now - self.at) < FRESH
        return self.shop_version == shop_version and is_new


@dataclass(frozen=True, slots=True)
class _Verdict:
    """Whether a popular search led somewhere, in which state of the index and when."""

    leads_somewhere: bool
    index_version: int
    at: datetime

    def holds(self, index_version: int, now: datetime) -> bool:
        """Whether the verdict holds: made with this index, or with another one less than FRESH ago."""
        return self.index_version == index_version or abs(now - self.at) < FRESH


class SuggestionDirectory:
    """Keeps the newest names of each shop. Safe to share between threads; two may make the same names at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._categories: LRUCache[int, _Made[ShopNode]] = LRUCache(MOST_NAMES // 2)
        self._brands: LRUCache[int, _Made[Brand]] = LRUCache(MOST_NAMES // 2)
        self._checked: LRUCache[Hashable, _Verdict] = LRUCache(MOST_CHECKED)

    def categories(self, engine: SearchEngine, shop: Shop, now: datetime) -> Names[ShopNode]:
        """Return the categories that shoppers can reach and that have products, those further up first. While search
        does not answer, those without products are among them, and nothing is kept."""
        with self._lock:
            known = self._categories.get(shop.site_id)
        if known is not None and known.are_of(shop.version, shop.index_version, now):
            return known.names
        counts = category_counts(engine, shop.site_id)
        nodes = [n for n in shop.tree.nodes.values() if shop.tree.at(n.path) is n and counts.of(n.id) != 0]
        nodes.sort(key=lambda node: node.path.count("/"))
        names = _names_of([(node.name, node) for node in nodes], known)
        if not counts.is_search_away:
            with self._lock:
                self._categories[shop.site_id] = _Made(names, shop.version, shop.index_version, now)
        return names

    def brands(self, engine: SearchEngine, shop: Shop, now: datetime) -> Names[Brand]:
        """Return the manufacturers, those with most products first. Raises SearchUnavailable."""
        with self._lock:
            known = self._brands.get(shop.site_id)
        if known is not None and known.are_of(0, shop.index_version, now):
            return known.names
        request = SearchRequest(facets=("manufacturer",), per_page=0)
        counted = engine.search(shop.site_id, IndexName.PRODUCTS, request).facets.get("manufacturer", ())
        names = _names_of([(name, Brand(name, products)) for name, products in counted if name], known)
        with self._lock:
            self._brands[shop.site_id] = _Made(names, 0, shop.index_version, now)
        return names

    def leading_searches(
        self, engine: SearchEngine, shop: Shop, served: Served, now: datetime, searches: Sequence[str], most: int
    ) -> list[str]:
        """Return the first of the searches that lead somewhere now, `most` at most: to a page by a rule or by its
        title, or to products that have all their words as they are written. Those after the first `most` are checked
        only where they are needed. Raises SearchUnavailable."""
        found = self._check_searches(engine, shop, served, now, searches[:most])
        if len(found) < most:
            found += self._check_searches(engine, shop, served, now, searches[most:])
        return found[:most]

    def _check_searches(
        self, engine: SearchEngine, shop: Shop, served: Served, now: datetime, searches: Sequence[str]
    ) -> list[str]:
        moment = int(now.timestamp()) // CHECKED_FOR
        # The settings of a process may be newer than the version that it serves, or older.
        state = (shop.site_id, served.version, served.ranking, served.stop_words, moment)
        with self._lock:
            checked = {words: self._checked.get((*state, words)) for words in searches}
        known = {w: v.leads_somewhere for w, v in checked.items() if v and v.holds(shop.index_version, now)}
        if new := [words for words in searches if words not in known]:
            found = _lead_somewhere(engine, shop, served, now, new)
            with self._lock:
                for words, leads in found.items():
                    self._checked[*state, words] = _Verdict(leads, shop.index_version, now)
            known |= found
        return [words for words in searches if known[words]]


def words_alone(planned: Plan) -> Plan:
    """Return a plan without the meaning of the words: the next letter gives them another."""
    return replace(planned, by_meaning=False)


def _names_of(named: Sequence[tuple[str, T]], known: _Made[T] | None) -> Names[T]:
    """Return the names of things: the known ones where the things are the same, as after most changes of an index,
    since stemming thousands of names takes tens of milliseconds."""
    if known is not None and list(known.names) == [thing for _, thing in named]:
        return known.names
    return Names(named)


def _lead_somewhere(
    engine: SearchEngine, shop: Shop, served: Served, now: datetime, searches: Sequence[str]
) -> dict[str, bool]:
    """Return, by words, whether each search leads to a page or to products that have all its words as they are."""
    plans = [words_alone(plan(words, served, now)) for words in searches]
    as_written = SearchRequest(per_page=0, correct=False, suggest=False, prefix_last=False)
    requests = [replace(as_written, words=words) for words in searches]
    answers = search_many_products(engine, shop.site_id, list(zip(requests, plans, strict=True)), served.stop_words)
    found = {}
    for words, planned, answer in zip(searches, plans, answers, strict=True):
        result = answer.result
        has_all_words = result.total > 0 and not result.corrected and result.full_matches != 0
        found[words] = planned.redirect is not None or has_all_words
    finding_none = [words for words, finds in found.items() if not finds]
    pages = titled_content(engine, shop.site_id, finding_none) if shop.settings["search-content-enabled"] else {}
    return found | {words: True for words, page in pages.items() if has_words(page.name, words)}


BrandPage = Callable[[Brand], str | None]


@dataclass(frozen=True, slots=True)
class SuggestedBrand:
    """`path` leads to the page of the brand's products."""

    name: str
    products: int
    path: str


@dataclass(frozen=True, slots=True)
class Suggestions:
    """Everything that is suggested, the most likely of each kind first. `corrected` is the spelling by which products
    were found where they are not found as typed, `did_you_mean` one that is not searched without a question."""

    typed: Typed
    searches: Sequence[str] = ()
    categories: Sequence[ShopNode] = ()
    brands: Sequence[SuggestedBrand] = ()
    products: Sequence[Hit] = ()
    corrected: str | None = None
    did_you_mean: str | None = None

    def __bool__(self) -> bool:
        return bool(self.searches or self.categories or self.brands or self.products or self.did_you_mean)


@dataclass(frozen=True, slots=True)
class Suggester:
    """Makes suggestions. `popular` are the searches that may be suggested; `brand_page` returns the path of the page
    that shows all products of a brand, None where there is none."""

    engine: SearchEngine
    directory: SuggestionDirectory
    popular: Names[str]
    brand_page: BrandPage

    def suggest(self, shop: Shop, typed: Typed, served: Served, now: datetime) -> Suggestions:
        """Return the suggestions for what was typed: popular searches where that is nothing, none where it is too
        short, and categories alone while search does not answer."""
        if typed.words and not typed.is_enough:
            return Suggestions(typed)
        try:
            if not typed.words:
                return Suggestions(typed, self._searches(shop, list(self.popular), served, now, BEFORE_TYPING))
            return self._for_words(shop, typed, served, now)
        except SearchUnavailable:
            return Suggestions(typed, categories=self._categories(shop, typed, now))

    def _for_words(self, shop: Shop, typed: Typed, served: Served, now: datetime) -> Suggestions:
        fitting = [words for words in self.popular.find(typed) if tuple(tokens(words)) != typed.words]
        searches = self._searches(shop, fitting, served, now, SEARCHES)
        request = SearchRequest(words=typed.text, per_page=PRODUCTS, is_typing=typed.is_typing)
        planned = words_alone(plan(typed.text, served, now, redirects=False))
        result = search_products(self.engine, shop.site_id, request, planned, served.stop_words).result
        categories = self._categories(shop, typed, now)
        found = self.directory.brands(self.engine, shop, now).find(typed)[:BRANDS]
        brands = [SuggestedBrand(b.name, b.products, self.brand_page(b) or products_of(b.name)) for b in found]
        corrected, did_you_mean = (result.suggestion, None) if result.corrected else (None, result.suggestion)
        return Suggestions(typed, searches, categories, brands, result.hits, corrected, did_you_mean)

    def _searches(self, shop: Shop, fitting: Sequence[str], served: Served, now: datetime, most: int) -> Sequence[str]:
        return self.directory.leading_searches(self.engine, shop, served, now, fitting[: CHECKED * most], most)

    def _categories(self, shop: Shop, typed: Typed, now: datetime) -> Sequence[ShopNode]:
        return self.directory.categories(self.engine, shop, now).find(typed)[:CATEGORIES]


def results_of(words: str) -> str:
    """Return the path of the results of a search."""
    return ListingRequest(path=SEARCH_PATH, words=words).url()


def products_of(brand: str) -> str:
    """Return the path of the results of a search for a brand that show its products alone."""
    return ListingRequest(path=SEARCH_PATH, words=brand).with_value("manufacturer", brand).url()
