"""Suggestions for a search that is being typed: popular searches, categories, brands and products that fit it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.domain.merchandising.shop import Shop
from app.domain.merchandising.tree import ShopNode
from app.domain.search.engine import Hit, SearchEngine, SearchRequest, SearchUnavailable
from app.domain.search.listings.listing import ListingRequest
from app.domain.search.serving.plan import plan
from app.domain.search.serving.query import search_products
from app.domain.search.serving.redirects import SEARCH_PATH
from app.domain.search.serving.served import Served
from app.domain.search.suggestions.directory import Brand, SuggestionDirectory, words_alone
from app.domain.search.suggestions.names import Names
from app.domain.search.suggestions.typed import Typed
from app.domain.search.text import tokens

SEARCHES, CATEGORIES, BRANDS, PRODUCTS = 4, 3, 2, 5
BEFORE_TYPING = 8  # Popular searches while nothing is typed.
CHECKED = 2  # Popular searches that are checked at most for each one that is shown.

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
    were found where they are not found as typed."""

    typed: Typed
    searches: Sequence[str] = ()
    categories: Sequence[ShopNode] = ()
    brands: Sequence[SuggestedBrand] = ()
    products: Sequence[Hit] = ()
    corrected: str | None = None

    def __bool__(self) -> bool:
        return bool(self.searches or self.categories or self.brands or self.products)


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
        hits, corrected = self._products(shop, typed, served, now)
        categories, brands = self._categories(shop, typed, now), self._brands(shop, typed, now)
        return Suggestions(typed, searches, categories, brands, hits, corrected)

    def _searches(self, shop: Shop, fitting: Sequence[str], served: Served, now: datetime, most: int) -> Sequence[str]:
        return self.directory.finding(self.engine, shop, served, now, fitting[: CHECKED * most], most)

    def _categories(self, shop: Shop, typed: Typed, now: datetime) -> Sequence[ShopNode]:
        return self.directory.categories(self.engine, shop, now).find(typed)[:CATEGORIES]

    def _brands(self, shop: Shop, typed: Typed, now: datetime) -> list[SuggestedBrand]:
        found = self.directory.brands(self.engine, shop, now).find(typed)[:BRANDS]
        return [SuggestedBrand(b.name, b.products, self.brand_page(b) or products_of(b.name)) for b in found]

    def _products(self, shop: Shop, typed: Typed, served: Served, now: datetime) -> tuple[Sequence[Hit], str | None]:
        request = SearchRequest(words=typed.text, per_page=PRODUCTS, is_typing=typed.is_typing)
        planned = words_alone(plan(typed.text, served, now, redirects=False))
        result = search_products(self.engine, shop.site_id, request, planned, served.stop_words).result
        return result.hits, result.suggestion if result.corrected else None


def results_of(words: str) -> str:
    """Return the path of the results of a search."""
    return ListingRequest(path=SEARCH_PATH, words=words).url()


def products_of(brand: str) -> str:
    """Return the path of the results of a search for a brand that show its products alone."""
    return ListingRequest(path=SEARCH_PATH, words=brand).with_value("manufacturer", brand).url()
