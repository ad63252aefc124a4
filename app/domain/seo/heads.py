"""The head of each kind of page: title, description, robots, canonical, structured data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from app.domain.catalogue.markup import MEDIA_PREFIX, plain_text
from app.domain.catalogue.pictures import jpeg_form
from app.domain.merchandising.product_pages import ProductPage
from app.domain.merchandising.shop import FOLDERS, Shop, ShownCollection, ShownPage
from app.domain.merchandising.tree import ShopNode
from app.domain.search.listings.listing import ListingRequest
from app.domain.seo import structured_data
from app.domain.seo.indexing_decision import (
    IndexingDecision,
    PageKind,
    PageRequest,
    SearchEngineSettings,
    decide,
)
from app.domain.seo.landing.pages import LandingPage
from app.domain.seo.structured_data import Data, OfferedProduct, Step

LONGEST_DESCRIPTION = 160
HOME = "Home"


@dataclass(frozen=True, slots=True)
class ShownListing:
    """The facts of a page of products that its head uses: how many the list has, the paths of those on the page, and
    the path of the first one's picture."""

    total: int = 0
    paths: tuple[str, ...] = ()
    picture: str | None = None


@dataclass(frozen=True, slots=True)
class PageHead:
    """The head of a page. `title` is complete. `picture` is absolute. `data` is written as JSON-LD, each by itself."""

    title: str
    decision: IndexingDecision
    description: str = ""
    picture: str | None = None
    data: tuple[Data, ...] = ()
    type: str = "website"

    @property
    def scripts(self) -> list[str]:
        return [structured_data.json_ld(data) for data in self.data]


def settings_of(shop: Shop) -> SearchEngineSettings:
    return SearchEngineSettings(shop.primary_host, shop.staging, shop.settings["seo-drop-canonical-on-noindex"])


def category_request(node: ShopNode, request: ListingRequest, is_past_window: bool = False) -> PageRequest:
    path = f"/c/{node.path}"
    return PageRequest(PageKind.CATEGORY, path, request.given, request.page, node.canonical_override, is_past_window)


def landing_request(page: LandingPage, request: ListingRequest, is_past_window: bool = False) -> PageRequest:
    return PageRequest(PageKind.LANDING, page.path, request.given, request.page, None, is_past_window)


def category_head(shop: Shop, node: ShopNode, request: PageRequest, shown: ShownListing) -> PageHead:
    title = node.meta_title or f"{node.name} | {shop.name}"
    description = node.meta_description or shortened(plain_text(node.description)) or _sentence(node.name, shop, shown)
    return _listing_head(shop, request, (title, node.name, description), _trail(shop, node), shown)


def landing_head(shop: Shop, node: ShopNode, page: LandingPage, request: PageRequest, shown: ShownListing) -> PageHead:
    steps = [*_trail(shop, node), Step(page.value, _on_host(shop, page.path))]
    return _listing_head(shop, request, (page.title, page.heading, page.description), steps, shown)


def collection_head(
    shop: Shop, collection: ShownCollection, path: str, request: ListingRequest, is_past: bool, shown: ShownListing
) -> PageHead:
    page = PageRequest(
        PageKind.COLLECTION, path, request.given, request.page, collection.canonical_url, is_past_window=is_past
    )
    description = shortened(plain_text(collection.description)) or _sentence(collection.name, shop, shown)
    texts = f"{collection.name} | {shop.name}", collection.name, description
    return _listing_head(shop, page, texts, [], shown)


def product_head(shop: Shop, page: ProductPage) -> PageHead:
    product = page.product
    path = f"/p/{product.seo_name}"
    decision = decide(PageRequest(PageKind.PRODUCT, path, override=product.canonical_url), settings_of(shop))
    pictures = [_on_host(shop, picture.url) for picture in page.pictures]
    description = shortened(plain_text(product.description)) or f"{product.name} at {shop.name}."
    offered = OfferedProduct(
        name=product.name,
        url=_on_host(shop, path),
        price=page.price,
        currency=shop.currency,
        in_stock=page.in_stock,
        sku=page.sku,
        brand=product.manufacturer,
        gtin=page.upc or "",
        description=description,
        images=pictures,
    )
    steps = _steps(shop, page.trail)
    trail = structured_data.breadcrumbs([*steps, Step(product.name, offered.url)])
    title = f"{product.name} | {shop.name}"
    data = structured_data.product(offered), trail
    preview = next((_preview(shop, picture.url) for picture in page.pictures), None)
    return PageHead(title, decision, description, preview, data, type="product")


def content_head(shop: Shop, page: ShownPage, seo_name: str) -> PageHead:
    path = f"/{FOLDERS['page']}/{seo_name}"
    decision = decide(PageRequest(PageKind.CONTENT, path, override=page.canonical_url), settings_of(shop))
    description = page.meta_description or shortened(plain_text(page.body))
    return PageHead(f"{page.title} | {shop.name}", decision, description)


def home_head(shop: Shop) -> PageHead:
    decision = decide(PageRequest(PageKind.HOME, "/"), settings_of(shop))
    return PageHead(f"Welcome | {shop.name}", decision, f"Browse and buy at {shop.name}.")


def search_head(shop: Shop, words: str, title: str = "") -> PageHead:
    """Return the head of a search; its title is the words, where nothing else is given."""
    decision = decide(PageRequest(PageKind.SEARCH, "/search"), settings_of(shop))
    description = f"What {shop.name} has for “{words}”." if words else f"Search {shop.name}."
    return PageHead(f"{title or words or 'Search'} | {shop.name}", decision, description)


def shortened(text: str) -> str:
    """Cut a text at a word, for a description of a result."""
    if len(text) <= LONGEST_DESCRIPTION:
        return text
    return text[: LONGEST_DESCRIPTION - 1].rsplit(" ", 1)[0].rstrip(",.;:– ") + "…"


def _preview(shop: Shop, path: str) -> str:
    """Return the address of the picture for previews of shared links: uploads as JPEG, since many programs read no
    WebP."""
    return _on_host(shop, jpeg_form(path) if path.startswith(MEDIA_PREFIX) else path)


def _sentence(name: str, shop: Shop, shown: ShownListing) -> str:
    if not shown.total:
        return f"{name} at {shop.name}."
    return f"{name} at {shop.name}: {shown.total:,} {'product' if shown.total == 1 else 'products'} to choose from."


def _listing_head(
    shop: Shop, request: PageRequest, texts: tuple[str, str, str], steps: Sequence[Step], shown: ShownListing
) -> PageHead:
    """Return the head of a listing. `texts` are title, heading and description."""
    title, heading, description = texts
    decision = decide(request, settings_of(shop))
    data = [structured_data.breadcrumbs(steps)] if steps else []
    if decision.is_indexable and decision.canonical:
        urls = [_on_host(shop, path) for path in shown.paths]
        data.append(structured_data.collection_page(heading, decision.canonical, description, urls))
    picture = _preview(shop, shown.picture) if shown.picture else None
    return PageHead(title + decision.title_suffix, decision, description, picture, tuple(data))


def _trail(shop: Shop, node: ShopNode) -> list[Step]:
    return _steps(shop, shop.tree.trail(node.id))


def _steps(shop: Shop, trail: Sequence[ShopNode]) -> list[Step]:
    home = Step(home_name(shop.name, [step.name for step in trail]), _on_host(shop, "/"))
    return [home, *(Step(step.name, _on_host(shop, f"/c/{step.path}")) for step in trail)]


def home_name(shop_name: str, trail: Iterable[str]) -> str:
    """Return what a breadcrumb trail calls the front page: "Home", or the shop's name where a category is called so."""
    return shop_name if any(name.casefold() == HOME.casefold() for name in trail) else HOME


def _on_host(shop: Shop, path: str) -> str:
    return f"https://{shop.primary_host}{quote(path, safe='/%?=&')}"
