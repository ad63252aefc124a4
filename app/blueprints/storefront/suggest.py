"""Suggestions below the search box as shoppers type: the part of a page that a script of the shop shows there. They are
counted as suggestions and not as searches."""

from __future__ import annotations

from flask import Response, current_app, make_response, request
from markupsafe import Markup

from app import ports
from app.blueprints.callers import refuse_beyond
from app.blueprints.compression import compressed, quickly
from app.blueprints.storefront.attribution import is_a_shopper
from app.blueprints.storefront.blueprint import (
    POPULAR,
    SUGGESTION_DIRECTORY,
    SUGGESTIONS_CACHE,
    bp,
    current_shop,
    landing_pages_of,
    served_configuration,
)
from app.blueprints.storefront.fragment_cache import FragmentCache, PackedMarkup
from app.domain.merchandising.shop import Shop
from app.domain.search import settings
from app.domain.search.suggestions.directory import Brand, SuggestionDirectory
from app.domain.search.suggestions.suggesting import Suggester, Suggestions, results_of
from app.domain.search.suggestions.typed import Typed, pieces
from app.domain.search_statistics.counting.days import day_at
from app.domain.search_statistics.counting.suggestions import SuggestionsShown
from app.domain.search_statistics.popular import PopularCache, PopularSearches
from app.domain.shared.problems import NotFound
from app.domain.shared.rate_limit import Rate
from app.permissions import public
from app.themes.drawing import current_theme, drawn

ACTION = "suggestions"
RATE = Rate(300)  # A minute; a fast typist makes five a second, for some seconds.
KEPT = 60  # Seconds that browsers cache suggestions, and the shop where only time makes them stale.
NEARLY_ALL = 0.9  # The share of a brand's products that makes a page the brand's page.

bp.add_app_template_filter(results_of, "results_of")


@bp.get("/search/suggest")
@public
def suggest() -> Response:
    """Return the suggestions for the typed text, and popular searches without any text; empty where there are none.
    Raises NotFound where the shop makes none."""
    shop = current_shop()
    if not shop.settings[settings.SUGGESTIONS]:
        raise NotFound("This shop makes no suggestions.")
    refuse_beyond(ACTION, RATE)
    html = _suggestions(shop, Typed.read(request.args.getlist("q")))
    if html:
        _count(shop)
    response = compressed(make_response(str(html)), quickly)
    response.headers["Cache-Control"] = f"public, max-age={KEPT}"
    return response


@bp.app_template_global("suggests")
def suggests(shop: Shop) -> bool:
    """Whether the shop makes suggestions."""
    return bool(shop.settings[settings.SUGGESTIONS])


def suggestions_for(shop: Shop, typed: Typed) -> Suggestions:
    """Return the suggestions of a shop for what is typed."""
    names = _popular(shop).names
    suggester = Suggester(ports.search_engine(), _directory(), names, lambda brand: _page_of(shop, brand))
    return suggester.suggest(shop, typed, served_configuration(shop), ports.clock().now())


def _suggestions(shop: Shop, typed: Typed) -> Markup:
    """Return the suggestions from the cache: drawn once for each state of the shop, its index, its served configuration
    and its popular searches."""
    clock, served = ports.clock(), served_configuration(shop)
    popular = _popular(shop)
    state = (shop.version, shop.index_version, served.version, popular.version, int(clock.now().timestamp()) // KEPT)
    key = (current_theme().name, shop.site_id, *state, typed.text.casefold(), typed.is_typing)

    def draw() -> PackedMarkup:
        found = suggestions_for(shop, typed)
        return PackedMarkup.of(_drawn(shop, found) if found else "")

    cache: FragmentCache[PackedMarkup] = current_app.extensions[SUGGESTIONS_CACHE]
    return cache.get(key, draw).html


def _drawn(shop: Shop, found: Suggestions) -> str:
    return drawn("storefront/_suggestions.html", shop=shop, found=found, pieces=lambda text: pieces(text, found.typed))


def _popular(shop: Shop) -> PopularSearches:
    cache: PopularCache = current_app.extensions[POPULAR]
    return cache.of(ports.clock(), shop.site_id, shop.settings[settings.BLOCKED])


def _directory() -> SuggestionDirectory:
    directory: SuggestionDirectory = current_app.extensions[SUGGESTION_DIRECTORY]
    return directory


def _page_of(shop: Shop, brand: Brand) -> str | None:
    """Return the path of a brand's landing page in a main category, the largest, where that holds nearly all of its
    products; else None."""
    pages = (landing_pages_of(shop, root) for root in shop.tree.children(None))
    found = (page for made in pages if (page := made.by_value.get(("manufacturer", brand.name))))
    largest = max(found, key=lambda page: page.products, default=None)
    return largest.path if largest and largest.products >= NEARLY_ALL * brand.products else None


def _count(shop: Shop) -> None:
    """Note that suggestions were shown. Nothing here can fail or delay them."""
    if not shop.settings[settings.TRACKING] or request.method == "HEAD" or not is_a_shopper():
        return
    try:
        ports.suggestions_shown().note([SuggestionsShown(shop.site_id, day_at(ports.clock().now(), shop.time_zone))])
    except Exception:  # Whatever goes wrong here, the suggestions are what matters.
        current_app.logger.exception("suggestions_not_noted")
