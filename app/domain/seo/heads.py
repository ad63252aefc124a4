"""The head of each kind of page: title, description, robots, canonical, structured data; and the search result that a
category's typed texts would give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from app.domain.catalogue.markup import MEDIA_PREFIX, plain_text
from app.domain.catalogue.pictures import jpeg_form
from app.domain.merchandising.category_rules import canonical_problems, category_slug_problems, path_of
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
    is_cross_domain,
)
from app.domain.seo.landing.pages import LandingPage
from app.domain.seo.structured_data import Data, OfferedProduct, Step
from app.domain.shared.text import one_line

LONGEST_DESCRIPTION = 160
LONGEST_TITLE = 60  # Characters of a title that fit into a result, more or less.
HOME = "Home"


@dataclass(frozen=True, slots=True)
class ShownListing:
    """The facts of a page of products that its head uses: how many the list has, the paths of those on the page, the
    path of the first one's picture, and those of the pictures beside its heading."""

    total: int = 0
    paths: tuple[str, ...] = ()
    picture: str | None = None
    beside_heading: tuple[str, ...] = ()


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


def search_engine_settings(shop: Shop) -> SearchEngineSettings:
    return SearchEngineSettings(shop.primary_host, shop.staging, shop.settings["seo-drop-canonical-on-noindex"])


def category_request(node: ShopNode, request: ListingRequest, is_past_window: bool = False) -> PageRequest:
    path = f"/c/{node.path}"
    return PageRequest(PageKind.CATEGORY, path, request.given, request.page, node.canonical_override, is_past_window)


def landing_request(page: LandingPage, request: ListingRequest, is_past_window: bool = False) -> PageRequest:
    return PageRequest(PageKind.LANDING, page.path, request.given, request.page, None, is_past_window)


def category_head(shop: Shop, node: ShopNode, request: PageRequest, shown: ShownListing) -> PageHead:
    title = node.meta_title or f"{node.name} | {shop.name}"
    description = node.meta_description or shorten(plain_text(node.description)) or _sentence(node.name, shop, shown)
    return _listing_head(shop, request, (title, node.name, description), _steps(shop, shop.tree.trail(node.id)), shown)


def landing_head(shop: Shop, node: ShopNode, page: LandingPage, request: PageRequest, shown: ShownListing) -> PageHead:
    steps = [*_steps(shop, shop.tree.trail(node.id)), Step(page.value, _on_host(shop, page.path))]
    return _listing_head(shop, request, (page.title, page.heading, page.description), steps, shown)


def collection_head(
    shop: Shop, collection: ShownCollection, path: str, request: ListingRequest, is_past: bool, shown: ShownListing
) -> PageHead:
    page = PageRequest(
        PageKind.COLLECTION, path, request.given, request.page, collection.canonical_url, is_past_window=is_past
    )
    description = shorten(plain_text(collection.description)) or _sentence(collection.name, shop, shown)
    texts = f"{collection.name} | {shop.name}", collection.name, description
    return _listing_head(shop, page, texts, [], shown)


def product_head(shop: Shop, page: ProductPage) -> PageHead:
    product = page.product
    path = f"/p/{product.seo_name}"
    decision = decide(PageRequest(PageKind.PRODUCT, path, override=product.canonical_url), search_engine_settings(shop))
    pictures = [_on_host(shop, picture.url) for picture in page.pictures]
    description = shorten(plain_text(product.description)) or f"{product.name} at {shop.name}."
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
    preview = _preview(shop, page.pictures[0].url) if page.pictures else None
    return PageHead(title, decision, description, preview, data, type="product")


def content_head(shop: Shop, page: ShownPage, seo_name: str) -> PageHead:
    path = f"/{FOLDERS['page']}/{seo_name}"
    decision = decide(PageRequest(PageKind.CONTENT, path, override=page.canonical_url), search_engine_settings(shop))
    description = page.meta_description or shorten(plain_text(page.body))
    return PageHead(f"{page.title} | {shop.name}", decision, description)


def home_head(shop: Shop) -> PageHead:
    decision = decide(PageRequest(PageKind.HOME, "/"), search_engine_settings(shop))
    return PageHead(f"Welcome | {shop.name}", decision, f"Browse and buy at {shop.name}.")


def search_head(shop: Shop, words: str, title: str = "") -> PageHead:
    """Return the head of a search; its title is the words, where nothing else is given."""
    decision = decide(PageRequest(PageKind.SEARCH, "/search"), search_engine_settings(shop))
    description = f"What {shop.name} has for “{words}”." if words else f"Search {shop.name}."
    return PageHead(f"{title or words or 'Search'} | {shop.name}", decision, description)


def shorten(text: str) -> str:
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
    decision = decide(request, search_engine_settings(shop))
    data = [structured_data.breadcrumbs(steps)] if steps else []
    if decision.is_indexable and decision.canonical:
        urls = [_on_host(shop, path) for path in shown.paths]
        data.append(structured_data.collection_page(heading, decision.canonical, description, urls))
    picture = _preview(shop, shown.picture) if shown.picture else None
    return PageHead(title + decision.title_suffix, decision, description, picture, tuple(data))


def _steps(shop: Shop, trail: Sequence[ShopNode]) -> list[Step]:
    home = Step(home_name(shop.name, [step.name for step in trail]), _on_host(shop, "/"))
    return [home, *(Step(step.name, _on_host(shop, f"/c/{step.path}")) for step in trail)]


def home_name(shop_name: str, trail: Iterable[str]) -> str:
    """Return what a breadcrumb trail calls the front page: "Home", or the shop's name where a category is called so."""
    return shop_name if any(name.casefold() == HOME.casefold() for name in trail) else HOME


def _on_host(shop: Shop, path: str) -> str:
    return f"https://{shop.primary_host}{quote(path, safe='/%?=&')}"


@dataclass(frozen=True, slots=True)
class ResultTexts:
    """The typed texts that decide how a category is listed."""

    name: str
    slug: str = ""
    description: str = ""
    meta_title: str = ""
    meta_description: str = ""
    canonical_override: str = ""
    exclude_from_sitemap: bool = False


@dataclass(frozen=True, slots=True)
class ResultPreview:
    """The preview of a search result. `title` and `description` are cut as a result shows them. `notes` say what a
    merchandiser should know."""

    site: str
    title: str
    address: str
    description: str
    notes: tuple[str, ...]


def result_preview(shop: Shop, node_id: int, typed: ResultTexts, products: int) -> ResultPreview:
    """Return the preview of a category with the typed texts. It must be in the shop's trees; `products` is how many it
    shows."""
    node = _with_texts(shop.tree.nodes[node_id], typed)
    request = category_request(node, ListingRequest(path=f"/c/{node.path}"))
    head = category_head(shop, node, request, ShownListing(products))
    return ResultPreview(
        site=shop.name,
        title=_shorten_title(head.title),
        address=head.decision.canonical or "",
        description=shorten(head.description),
        notes=tuple(_preview_notes(shop, node, head.title)),
    )


def _with_texts(node: ShopNode, typed: ResultTexts) -> ShopNode:
    """Return the category with the typed texts; where a name, slug or canonical cannot be saved, with the stored
    one."""
    above, _, stored_slug = node.path.rpartition("/")
    slug, override = typed.slug.strip(), typed.canonical_override.strip()
    return replace(
        node,
        name=one_line(typed.name) or node.name,
        path=path_of(above, stored_slug if category_slug_problems(slug, "") else slug),
        description=typed.description,
        meta_title=one_line(typed.meta_title) or None,
        meta_description=one_line(typed.meta_description) or None,
        canonical_override=node.canonical_override if canonical_problems(override, "") else override or None,
        exclude_from_sitemap=typed.exclude_from_sitemap,
    )


def _preview_notes(shop: Shop, node: ShopNode, title: str) -> Iterator[str]:
    stored = shop.tree.nodes[node.id]
    if node.path != stored.path and shop.tree.at(stored.path) is stored:
        below = len(shop.tree.with_those_below(node.id)) - 1
        others = f", and with it those of {below:,} below it" if below else ""
        yield f"Its address changes from /c/{stored.path}{others}."
    if shop.staging:
        yield "This is a staging site, which is hidden from search engines."
    if node.tree_id != shop.tree.primary_tree_id:
        yield "Not listed, because this tree is not the primary one."
    elif not shop.tree.is_shown(stored):
        yield "Not listed, because it or a category above it is hidden."
    if node.canonical_override:
        which = (
            "an address of another site"
            if is_cross_domain(node.canonical_override, shop.primary_host)
            else "another address"
        )
        yield (f"Search engines know it by {which}; it is left out of the sitemap and gets no landing pages.")
    elif node.exclude_from_sitemap:
        yield "Excluded from the sitemap. Categories below are still listed."
    if len(title) > LONGEST_TITLE:
        yield f"The title has {len(title)} characters; results show about {LONGEST_TITLE}."


def _shorten_title(title: str) -> str:
    """Cut a title at a word, and at a mark between its parts, for a result."""
    return title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1].rsplit(" ", 1)[0].rstrip(" |–-,") + "…"
