"""The storefront's blueprint, its caches and the shop of a request; the views of each kind of page register on it
beside their code."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from sys import getsizeof

from flask import Blueprint, current_app, g, request
from flask.blueprints import BlueprintSetupState
from flask.sansio.app import App
from markupsafe import Markup
from sqlalchemy.exc import SQLAlchemyError

from app import ports
from app.blueprints.callers import request_host
from app.domain.merchandising.shop import Shop, ShopWindow
from app.domain.merchandising.tree import ShopNode
from app.domain.relevance.running_comparisons import RunningComparisons
from app.domain.search.ranking_settings import ranking_of
from app.domain.search.serving.configuration import BY_MEANING, STOP_WORDS, UNDERSTANDING, ServingCache
from app.domain.search.serving.plan import Served
from app.domain.search.suggestions import SuggestionDirectory
from app.domain.search.understanding.facts import QueryReader, QueryReaderCache
from app.domain.search.understanding.parts import UnderstandingMode
from app.domain.search_statistics.popular import PopularCache
from app.domain.seo.heads import ShownListing
from app.domain.seo.indexing_decision import IndexingDecision
from app.domain.seo.landing.directory import LandingDirectory
from app.domain.seo.landing.pages import LandingPages
from app.domain.shared.byte_cache import ByteCache
from app.domain.shared.problems import NotFound
from app.extensions import csrf
from app.web.themes.drawing import use_theme
from app.web.tokens import previewed_theme

FASTEST = 1  # Level of compression; higher ones save little of HTML and cost more.
bp = Blueprint("storefront", __name__)
WINDOW = "shop-window"
SERVING = "shop-serving-cache"
LISTING_CACHE = "shop-listing-cache"
PAGE_CACHE = "shop-page-cache"
LINKS_CACHE = "shop-landing-links-cache"
CARD_CACHE = "shop-card-cache"
MISSING_CACHE = "shop-missing-page-cache"
RELATED_CACHE = "shop-related-products-cache"
SUGGESTIONS_CACHE = "shop-suggestions-cache"
SUGGESTION_DIRECTORY = "shop-suggestion-directory"
POPULAR = "shop-popular-searches"
RUNNING_COMPARISONS = "shop-running-comparisons"
QUERY_READERS = "query-readers"
PREVIEWS = "previews_theme"
# Bytes that a process keeps: some 2,100 pages, of 40 kB unpacked; some 1,500 listings, which are asked for where a page
# is not, as by htmx; and some 3,000 lists of links.
PAGES, LISTINGS, LINKS = 18 * 1024**2, 8 * 1024**2, 4 * 1024**2
RELATED = 8 * 1024**2  # Bytes: some 3,000 products.
CARDS = 20 * 1024**2  # Bytes: some 10,000 cards.
SUGGESTIONS = 8 * 1024**2  # Bytes: some 3,000 beginnings of searches.
MISSING = 1024**2  # Bytes; an address that has no page takes one or two kB.
BESIDE_FRAGMENT = 1_500  # Bytes of a cached fragment's key, and of what the head needs.


@dataclass(frozen=True, slots=True)
class PackedMarkup:
    """A compressed fragment, about an eighth of its HTML: many more fit into the same memory, and unpacking one takes a
    hundredth of the time of drawing it."""

    packed: bytes

    @classmethod
    def of(cls, html: str) -> PackedMarkup:
        return cls(zlib.compress(html.encode(), FASTEST))

    @property
    def html(self) -> Markup:
        return Markup(zlib.decompress(self.packed).decode())

    @property
    def size(self) -> int:
        """The size in bytes."""
        return len(self.packed)


@dataclass(frozen=True, slots=True)
class DrawnPage:
    """A whole page as gzip, as most clients take it, and how search engines may treat it."""

    packed: bytes
    decision: IndexingDecision

    @property
    def size(self) -> int:
        """The size in bytes."""
        return len(self.packed)


csrf.exempt(bp)  # A token would need a session, and pages that differ by shopper; see request_hooks.py.


@dataclass(frozen=True, slots=True)
class DrawnListing:
    """A listing as it is cached: its HTML, and what the head of its page needs of it."""

    fragment: PackedMarkup
    shown: ShownListing

    @property
    def html(self) -> Markup:
        return self.fragment.html

    @property
    def size(self) -> int:
        """The approximate size in bytes."""
        return self.fragment.size + BESIDE_FRAGMENT + sum(map(len, (*self.shown.paths, *self.shown.beside_heading)))


@bp.record_once
def _begin(state: BlueprintSetupState) -> None:
    empty_caches(state.app)


def empty_caches(app: App) -> None:
    """Empty all caches, as they are when a process begins."""
    app.extensions[WINDOW] = ShopWindow()
    app.extensions[SERVING] = ServingCache()
    app.extensions[LISTING_CACHE] = ByteCache[DrawnListing](LISTINGS, lambda listing: listing.size)
    app.extensions[PAGE_CACHE] = ByteCache[DrawnPage](PAGES, lambda page: page.size + BESIDE_FRAGMENT)
    app.extensions[LINKS_CACHE] = ByteCache[PackedMarkup](LINKS, lambda links: links.size + BESIDE_FRAGMENT)
    app.extensions[MISSING_CACHE] = ByteCache[PackedMarkup](MISSING, lambda page: page.size + BESIDE_FRAGMENT)
    app.extensions[RELATED_CACHE] = ByteCache[PackedMarkup](RELATED, lambda row: row.size + BESIDE_FRAGMENT)
    app.extensions[CARD_CACHE] = ByteCache[Markup](CARDS, lambda card: getsizeof(card) + BESIDE_FRAGMENT)
    app.extensions[SUGGESTIONS_CACHE] = ByteCache[PackedMarkup](SUGGESTIONS, lambda part: part.size + BESIDE_FRAGMENT)
    app.extensions[SUGGESTION_DIRECTORY] = SuggestionDirectory()
    app.extensions[POPULAR] = PopularCache()
    app.extensions[RUNNING_COMPARISONS] = RunningComparisons()
    app.extensions[QUERY_READERS] = QueryReaderCache()
    app.extensions[ports.LANDING_DIRECTORY] = LandingDirectory()


def check_host() -> None:
    """Refuse a request to a host without a shop. Raises NotFound."""
    _window().check_host(ports.clock(), request_host())


def current_shop() -> Shop:
    """Return the shop of the request's host, and set its theme. Raises NotFound for a host without a shop."""
    if "shop" not in g:
        g.shop = _window().shop_at(ports.clock(), request_host())
        _choose_theme(g.shop)
    shop: Shop = g.shop
    return shop


def show_shop(shop: Shop) -> None:
    """Draw what follows in this request for a shop as it is given, such as one that is only previewed."""
    g.shop = shop
    use_theme(shop.settings["storefront-theme"])


def _window() -> ShopWindow:
    window: ShopWindow = current_app.extensions[WINDOW]
    return window


def _choose_theme(shop: Shop) -> None:
    """Set the theme of the request: the one that this browser previews, else the site's."""
    token = request.cookies.get(preview_cookie(), "")
    previewed = previewed_theme(token, shop.site_id, ports.clock().now()) if token else None
    setattr(g, PREVIEWS, previewed is not None)
    use_theme(previewed or shop.settings["storefront-theme"])


def preview_cookie() -> str:
    return "__Host-theme-preview" if current_app.config["SESSION_COOKIE_SECURE"] else "theme-preview"


def served_configuration(shop: Shop) -> Served:
    """The synonyms, rules, stop words and ranking settings that shoppers are served now."""
    cache: ServingCache = current_app.extensions[SERVING]
    settings = shop.settings
    mode = UnderstandingMode(settings[UNDERSTANDING])
    chosen = (settings[STOP_WORDS], ranking_of(settings), settings[BY_MEANING], mode)
    return cache.served(ports.clock(), shop.site_id, *chosen)


def query_reader(shop: Shop) -> QueryReader:
    """What understands the words of the shop's searches."""
    cache: QueryReaderCache = current_app.extensions[QUERY_READERS]
    shown = tuple(shop.settings["search-default-filters"])
    versions = shop.version, shop.index_version
    return cache.reader(shop.site_id, versions, ports.clock().now(), shop.taxonomy, shop.currency, shown)


def landing_pages_of(shop: Shop, node: ShopNode) -> LandingPages:
    """The landing pages that a category has now."""
    return ports.landing_directory().of(ports.search_engine(), ports.clock(), shop, node)


def listing_cache() -> ByteCache[DrawnListing]:
    cache: ByteCache[DrawnListing] = current_app.extensions[LISTING_CACHE]
    return cache


def page_cache() -> ByteCache[DrawnPage]:
    cache: ByteCache[DrawnPage] = current_app.extensions[PAGE_CACHE]
    return cache


def links_cache() -> ByteCache[PackedMarkup]:
    cache: ByteCache[PackedMarkup] = current_app.extensions[LINKS_CACHE]
    return cache


def card_cache() -> ByteCache[Markup]:
    cache: ByteCache[Markup] = current_app.extensions[CARD_CACHE]
    return cache


def shop_or_none() -> Shop | None:
    """Return the shop; None where the host has none or it cannot be read, for pages that must be drawn even then."""
    try:
        return current_shop()
    except (NotFound, SQLAlchemyError):
        return None
