"""Functions and filters for the storefront's templates, among them those of money and pictures."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from flask import Response, make_response, request
from markupsafe import Markup
from sqlalchemy.exc import SQLAlchemyError

from app import ports
from app.blueprints.compression import answer_of_gzip, compressed, quickly
from app.blueprints.storefront.blueprint import (
    DrawnPage,
    PackedMarkup,
    bp,
    card_cache,
    current_shop,
    links_cache,
    shop_or_none,
)
from app.domain.catalogue.markup import MEDIA_PREFIX
from app.domain.catalogue.pictures import jpeg_form, small_form, srcset
from app.domain.catalogue.product_drawings import CUTOUT, category_path, is_sign, more_views, picture_path
from app.domain.delivery.countries import describe_countries
from app.domain.merchandising.facets import LABELS, colour_of
from app.domain.merchandising.shop import Shop
from app.domain.merchandising.tree import Menu, ShopNode, has_deep_menu, menu
from app.domain.search.engine import Hit, SearchUnavailable
from app.domain.search.listings.browsing import Listing
from app.domain.search.listings.recommendations import first_products
from app.domain.seo.heads import PageHead, ShownListing, home_name
from app.domain.seo.indexing_decision import PageKind, PageRequest, SearchEngineSettings, decide
from app.domain.seo.landing.pages import LandingPage, LandingPages
from app.domain.shared.money import format_money
from app.web.htmx import wants_fragment
from app.web.in_process import keep_decision
from app.web.themes.drawing import current_theme, drawn, environment
from app.web.themes.folders import Theme

LISTING = "#listing"
FILTERS = "#filters"  # The target of the requests by the sheet of filters, for what its choices would leave.
QUIET_COLOURS = ("#4f7942", "#3b5b85", "#c1613f", "#6b5b7b", "#b8862b", "#14525f")
FIRST_ROW = 4  # Products in the first row of a wide screen, which the heading above them does not repeat.
BESIDE_HEADING = 3
LOADING = {"first": Markup(' fetchpriority="high"'), "lazy": Markup(' loading="lazy"')}
HEADLINES = {
    400: "Invalid address",
    404: "Page not found",
    405: "Not possible here",
    429: "Too many requests",
    500: "Something went wrong",
    503: "Temporarily unavailable",
}


def shown_listing(listing: Listing) -> ShownListing:
    """Return the facts of a listing that the head of its page uses."""
    hits = listing.result.hits
    picture = card_picture(hits[0].card) if hits else None
    paths = tuple(f"/p/{hit.card['seoName']}" for hit in hits)
    return ShownListing(listing.total, paths, picture, _pictures_beside_heading([hit.card for hit in hits]))


def _pictures_beside_heading(cards: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the pictures of some products of a page for its head: of different kinds, else of different looks. Those
    of the first row of cards, and those that are sold out, are used only where there are no others, and the first one
    never."""
    offered = cards[FIRST_ROW:] if len(cards) >= FIRST_ROW + 2 else cards[1:]
    offered = [card for card in offered if card["inStock"]] or offered
    pictures = [(card, _picture_without_ground(card)) for card in offered]
    pictured = [(card["kind"], picture) for card, picture in pictures if picture]
    of_kinds = {kind: picture for kind, picture in reversed(pictured)}
    of_looks = {picture.split("/")[2]: picture for _, picture in reversed(pictured)}
    wanted = [*reversed(of_kinds.values()), *reversed(of_looks.values()), *(picture for _, picture in pictured)]
    return tuple(dict.fromkeys(wanted))[:BESIDE_HEADING]


def _picture_without_ground(card: Mapping[str, Any]) -> str:
    """Return the address of a card's photograph, else of its drawing without a ground; empty where it has a sign."""
    picture = card_picture(card) if card["image"] else _drawing_of(card, CUTOUT)
    return "" if is_sign(picture) else picture


def page_answer(template: str, head: PageHead, **context: Any) -> Response:
    """Return a page. Its head and its X-Robots-Tag header say how search engines may treat it. Compressing it is safe,
    since pages of goods and texts hold no token (see request_hooks.py) and nothing else that is secret. Baskets, orders
    and forms with a person's data are made by other functions, uncompressed."""
    keep_decision(head.decision)
    return compressed(make_response(drawn(template, head=head, **context)), quickly)


def listing_answer(template: str, swap: str, head: PageHead, **context: Any) -> Response:
    """Return the page of a listing, or for htmx the listing alone, which is no page to be indexed."""
    if wants_listing():
        response = compressed(make_response(drawn(swap, head=head, **context)), quickly)
    else:
        response = page_answer(template, head, **context)
    response.vary.add("HX-Target")
    return response


def drawn_page(template: str, head: PageHead, **context: Any) -> DrawnPage:
    """Return a page of products to be cached."""
    return DrawnPage(quickly(drawn(template, head=head, **context).encode()), head.decision)


def drawn_answer(page: DrawnPage) -> Response:
    """Return the answer with a cached page, as `listing_answer` does."""
    keep_decision(page.decision)
    response = answer_of_gzip(page.packed)
    response.vary.add("HX-Target")
    return response


def filters_answer(html: str) -> Response:
    """Return the filters of a listing alone, with the numbers of products that each choice would leave."""
    response = compressed(make_response(str(html)), quickly)
    response.vary.add("HX-Target")
    return response


@bp.app_template_filter("show_products")
def product_count_label(total: int) -> str:
    """Return the label of the button of the sheet of filters."""
    return f"Show {total:,} {'product' if total == 1 else 'products'}" if total else "No products match"


@bp.app_template_global("shop_or_none")
def _shop() -> Any:
    return shop_or_none()


@bp.app_template_global("navigation")
def navigation(shop: Shop) -> Markup:
    return drawn_once(shop, "storefront/_navigation.html")


@bp.app_template_global("menu_of")
def menu_of(shop: Shop) -> Menu:
    return menu(shop.tree.children(None))


@bp.app_template_global("has_deep_menu")
def shows_three_levels(shop: Shop) -> bool:
    return has_deep_menu(shop.tree)


@bp.app_template_global("footer")
def footer(shop: Shop) -> Markup:
    return drawn_once(shop, "storefront/_footer.html")


@bp.app_template_global("landing_links")
def landing_links(node: ShopNode, pages: LandingPages, landing: LandingPage | None) -> Markup:
    """The links to all landing pages of a category, the current one marked; drawn once for each page."""
    shop = current_shop()
    path = landing.path if landing else node.path
    key = (current_theme().name, shop.site_id, shop.version, pages.fingerprint, path)
    context = {"shop": shop, "node": node, "pages": pages, "landing": landing}
    return links_cache().get(key, lambda: PackedMarkup.of(drawn("storefront/_landing_links.html", **context))).html


@bp.app_template_global("robots_of_other_pages")
def robots_of_other_pages() -> str:
    """Return the robots directive of baskets, errors and the like, which have no head of their own."""
    decision = decide(PageRequest(PageKind.OTHER, request.path), SearchEngineSettings(request.host))
    keep_decision(decision)
    return decision.robots


@bp.app_template_filter("shop_money")
def shop_money(amount: int) -> str:
    return format_money(amount, current_shop().currency)


@bp.app_template_filter("countries")
def countries(codes: Iterable[str]) -> str:
    """Return countries in words, for use within a sentence."""
    return describe_countries(codes)


@bp.app_template_filter("facet_label")
def facet_label(facet_id: str) -> str:
    """Return the name of a facet within a sentence."""
    attribute = current_shop().attributes.get(facet_id)
    label = (attribute.display_label or attribute.name) if attribute else LABELS.get(facet_id, facet_id)
    return label if label.isupper() else label[:1].lower() + label[1:]


@bp.app_template_filter("home_name")
def home_name_of(shop: Shop, trail: Iterable[ShopNode]) -> str:
    return home_name(shop.name, [step.name for step in trail])


@bp.app_template_filter("cards")
def cards(hits: Sequence[Hit], eager: int = 4) -> Markup:
    """Return the products of a list, each drawn once for all lists. The pictures of the first `eager` are loaded at
    once, the rest as they come near the screen."""
    shop, cache = current_shop(), card_cache()
    beside = current_theme().name, shop.site_id, shop.currency

    def drawn_card(place: int, card: Mapping[str, Any]) -> Markup:
        loading = "lazy" if place >= eager else "eager" if place else "first"
        return cache.get((*beside, loading, *card.values()), lambda: _draw_card(card, loading))

    return Markup("").join(drawn_card(place, hit.card) for place, hit in enumerate(hits))


def _draw_card(card: Mapping[str, Any], loading: str) -> Markup:
    template = environment().get_template("storefront/_card.html")
    return Markup(template.module.draw(card, loading))  # type: ignore[attr-defined]


@bp.app_template_filter("card_picture")
def card_picture(card: Mapping[str, Any]) -> str:
    """The address of a card's picture: its photograph, else a drawing of its kind in its colour."""
    if card["image"]:
        return f"/media/{current_shop().site_id}/{small_form(str(card['image']))}"
    return _drawing_of(card)


@bp.app_template_filter("second_picture")
def second_picture(card: Mapping[str, Any]) -> str:
    """Return the address of the picture that takes the place of a card's first one under a mouse; empty without one."""
    if card["image"]:
        second = card.get("secondImage")
        return f"/media/{current_shop().site_id}/{small_form(str(second))}" if second else ""
    views = more_views(card["kind"] or "", str(card["name"]))
    return _drawing_of(card, views[0]) if views else ""


def _drawing_of(card: Mapping[str, Any], view: str = "") -> str:
    kind, colour = card["kind"] or "", colour_of(card["colour"] or "")
    return picture_path(kind, str(card["name"]), colour, int(card["id"]), view)


@bp.app_template_filter("is_photograph")
def is_photograph(url: str) -> bool:
    """Whether the address is of a stored picture and not of a drawing."""
    return url.startswith(MEDIA_PREFIX)


@bp.app_template_filter("is_sign")
def shows_a_sign(url: str) -> bool:
    """Whether the address is of a sign, which says nothing of what it stands for."""
    return is_sign(url)


@bp.app_template_filter("jpeg")
def jpeg_of(url: str) -> str:
    return jpeg_form(url)


@bp.app_template_filter("loading")
def loading_attribute(loading: str) -> Markup:
    """Return the urgency of loading a picture as an attribute of `img`; nothing for `eager`."""
    return LOADING.get(loading, Markup())


@bp.app_template_filter("card_srcset")
def card_srcset(card: Mapping[str, Any]) -> str:
    """Return the `srcset` of a card's photograph; empty for a drawing, which is as sharp in every size."""
    width, height = card.get("imageWidth"), card.get("imageHeight")
    if not (card["image"] and width and height):
        return ""
    return srcset(f"/media/{current_shop().site_id}/{card['image']}", width, height)


@bp.app_template_global("theme")
def theme() -> Theme:
    return current_theme()


def drawn_once(shop: Shop, template: str) -> Markup:
    """A part of every page, drawn once for each state of the shop."""
    key = f"{current_theme().name}:{template}"
    kept = shop.drawn.get(key)
    if kept is None:
        kept = shop.drawn[key] = drawn(template, shop=shop)
    return Markup(kept)


def wants_listing() -> bool:
    """Whether a link or form of a listing requests the listing alone."""
    return wants_fragment() and request.headers.get("HX-Target", "").endswith(LISTING)


def wants_filters() -> bool:
    """Whether the sheet of filters requests itself for what is chosen in it, which does not count as a search."""
    return wants_fragment() and request.headers.get("HX-Target", "").endswith(FILTERS)


@bp.app_template_filter("own_picture")
def own_picture(node: ShopNode) -> str:
    """Return the address of the picture that a category was given; empty without one."""
    return f"{MEDIA_PREFIX}{current_shop().site_id}/{node.picture}" if node.picture else ""


@bp.app_template_filter("small_form")
def small_form_of(url: str) -> str:
    return small_form(url)


@bp.app_template_global("category_tiles")
def category_tiles(shop: Shop) -> Markup:
    """Return the links to the first categories with their pictures; drawn once for each state of the shop."""
    roots = shop.tree.children(None)
    key = (current_theme().name, shop.site_id, shop.version, shop.index_version, "tiles")

    def draw() -> PackedMarkup:
        drawn_ones = [root for root in roots if not is_sign(category_picture(root))]
        products = first_products(ports.search_engine(), shop, [root for root in roots if root not in drawn_ones])
        return PackedMarkup.of(drawn("storefront/_tiles.html", roots=roots, products=products))

    try:
        return links_cache().get(key, draw).html
    except (SearchUnavailable, SQLAlchemyError):
        return Markup(drawn("storefront/_tiles.html", roots=roots, products={}))


@bp.app_template_filter("category_picture")
def category_picture(node: ShopNode, product: Hit | None = None) -> str:
    """Return the address of a category's own picture, else of a drawing of what it holds, or the nearest one below it
    that can be drawn, in a quiet colour; searched for once for each state of the shop. Where nothing can be drawn, its
    first product is shown, if that is known, else a sign."""
    shop = current_shop()
    if node.picture:
        return small_form(own_picture(node))
    key = f"picture of category {node.id}"
    if key not in shop.drawn:
        colour = QUIET_COLOURS[node.id % len(QUIET_COLOURS)]
        shop.drawn[key] = category_path(_kinds_within(shop, node), colour, node.id)
    return card_picture(product.card) if product and is_sign(shop.drawn[key]) else shop.drawn[key]


def _kinds_within(shop: Shop, node: ShopNode) -> Iterator[str]:
    """Yield the names of a category and of those below it, the nearest first, then of the levels it takes."""
    waiting = deque([node])
    while waiting:
        nearest = waiting.popleft()
        yield nearest.name
        waiting.extend(shop.tree.children(nearest.id))
    yield from (shop.taxonomy.levels[id].name for id in node.source_levels if id in shop.taxonomy.levels)


@bp.app_template_global("headline")
def headline(status: int) -> str:
    """Return the large headline of an error page for shoppers."""
    return HEADLINES.get(status, HEADLINES[500 if status >= 500 else 400])
