"""Products that a page recommends: popular products for a search that found nothing, those
beside a product, and what comes closest to an address that has no page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from app.domain.merchandising.product_pages import ProductPage
from app.domain.merchandising.shop import Shop
from app.domain.merchandising.tree import ShopNode, ShopTree
from app.domain.orders.sales import bought_together, selling_products
from app.domain.search.document_ids import product_document_id
from app.domain.search.engine import (
    Hit,
    IndexName,
    RangeFilter,
    SearchEngine,
    SearchRequest,
    Sort,
    ValueFilter,
)
from app.domain.search.listings.browsing import category_search
from app.domain.search.listings.listing import ListingRequest
from app.domain.search.serving.plan import Served
from app.domain.search.serving.query import first_ten
from app.domain.search.text import LINKING_WORDS, MAX_CHARACTERS, tokens, words

POPULAR = 8
FEWEST_SELLING = 4  # With fewer products that sell well, others are added.
IN_STOCK = ValueFilter("inStock", ("true",))
TOGETHER, SIMILAR = 4, 4
FEWEST_TOGETHER = 2  # One product alone in a row looks like a mistake.
MOST_WORDS = 6
LONGEST_WORD = 24  # Longer ones are identifiers rather than words.
MISSING_PRODUCTS, MISSING_CATEGORIES = 4, 6
PAGE_ENDINGS = (".html", ".htm")
# The first segments of addresses at which no page ever was: files, and what belongs to one shopper.
NO_PAGES = frozenset(("basket", "checkout", "media", "order", "picture", "r", "static", "theme-preview"))
FOLDERS = frozenset(("c", "p", "pages", "collections", "search"))


@dataclass(frozen=True, slots=True)
class PopularProducts:
    """Products that are in stock. `sell` is whether all of them sell well; featured and new ones are among them
    otherwise."""

    hits: tuple[Hit, ...] = ()
    sell: bool = False


def popular_products(engine: SearchEngine, shop: Shop, now: datetime) -> PopularProducts:
    """Return the products in one query and one call of the engine. Raises SearchUnavailable."""
    skus = selling_products(shop.site_id, now, POPULAR)
    by_sku = SearchRequest(scope=(ValueFilter("sku", tuple(skus)), IN_STOCK), per_page=POPULAR, fresh=True)
    featured = SearchRequest(scope=(IN_STOCK,), sort=Sort.FEATURED, per_page=POPULAR, fresh=True)
    found, others = engine.search_many(shop.site_id, IndexName.PRODUCTS, [by_sku, featured])
    selling = sorted(found.hits, key=lambda hit: skus.index(str(hit.card["sku"])))
    if len(selling) >= FEWEST_SELLING:
        return PopularProducts(tuple(selling), sell=True)
    ids = {hit.id for hit in selling}
    return PopularProducts((*selling, *(hit for hit in others.hits if hit.id not in ids))[:POPULAR])


@dataclass(frozen=True, slots=True)
class Related:
    """Products that are in stock. `together` are those bought with it, two at least, the commonest first;
    `similar` those like it, the nearest in price first. None is in both."""

    together: tuple[Hit, ...] = ()
    similar: tuple[Hit, ...] = ()


def related_products(engine: SearchEngine, shop: Shop, page: ProductPage) -> Related:
    """Return the products beside a product, in two queries at most and one call of the engine. Raises
    SearchUnavailable."""
    product = page.product
    skus = bought_together(shop.site_id, product.id, TOGETHER)
    by_sku = SearchRequest(scope=(ValueFilter("sku", tuple(skus)), IN_STOCK), per_page=TOGETHER, fresh=True)
    requests = [by_sku, *_requests_for_similar(page)]
    sold, *alike = [result.hits for result in engine.search_many(shop.site_id, IndexName.PRODUCTS, requests)]
    together = tuple(sorted(sold, key=lambda hit: skus.index(str(hit.card["sku"]))))
    together = together if len(together) >= FEWEST_TOGETHER else ()
    shown = {product_document_id(product.id), *(hit.id for hit in together)}
    others = [hit for hits in alike for hit in hits if hit.id not in shown]
    return Related(together, nearest_in_price(others, product.price)[:SIMILAR])


def first_products(engine: SearchEngine, shop: Shop, nodes: Sequence[ShopNode]) -> dict[int, Hit]:
    """Return the first product of each category's page by the category's id, in one call of the engine; an empty
    category has none. Raises SearchUnavailable."""
    one = ListingRequest(path="", page_size=1)
    requests = [category_search(shop, node, one) for node in nodes]
    found = engine.search_many(shop.site_id, IndexName.PRODUCTS, requests) if requests else []
    return {node.id: result.hits[0] for node, result in zip(nodes, found, strict=True) if result.hits}


def products_in_order(engine: SearchEngine, shop: Shop, skus: Sequence[str]) -> tuple[Hit, ...]:
    """Return the products with these SKUs, in their order, each once; those that are not sold are left out. Raises
    SearchUnavailable."""
    wanted = list(dict.fromkeys(skus))
    if not wanted:
        return ()
    request = SearchRequest(scope=(ValueFilter("sku", tuple(wanted)),), per_page=len(wanted))
    hits = engine.search(shop.site_id, IndexName.PRODUCTS, request).hits
    return tuple(sorted(hits, key=lambda hit: wanted.index(str(hit.card["sku"]))))


def nearest_in_price(hits: Sequence[Hit], price: int) -> tuple[Hit, ...]:
    """Return the hits, the smallest difference to a price first; of two the cheaper."""
    return tuple(sorted(hits, key=lambda hit: (abs(_price(hit) - price), _price(hit), hit.id)))


def _price(hit: Hit) -> int:
    return int(str(hit.card["price"]))


def _requests_for_similar(page: ProductPage) -> list[SearchRequest]:
    """Return the requests for what is of the product's level, or else of its category: the next ones down in price,
    and the next ones up."""
    if page.product.taxonomy_level_id:
        kind = ValueFilter("level", (page.product.taxonomy_level_id,))
    elif page.trail:
        kind = ValueFilter("category", (str(page.trail[-1].id),))
    else:
        return []
    price = float(page.product.price)
    most = SIMILAR + TOGETHER + 1  # Itself and those bought with it may be among them.
    down, up = RangeFilter("price", high=price), RangeFilter("price", low=price + 1)
    return [
        SearchRequest(scope=(kind, IN_STOCK), ranges=(down,), sort=Sort.PRICE_DESC, per_page=most, fresh=True),
        SearchRequest(scope=(kind, IN_STOCK), ranges=(up,), sort=Sort.PRICE_ASC, per_page=most, fresh=True),
    ]


@dataclass(frozen=True, slots=True)
class AddressSuggestions:
    """`words` of the address; `categories` and `hits` are what comes closest to it, the nearest first."""

    words: str
    categories: tuple[ShopNode, ...] = ()
    hits: tuple[Hit, ...] = ()


def words_of_address(path: str) -> str:
    """Return the words of an address's last segment, from which its page can be guessed; empty for the addresses of
    files and of what belongs to one shopper."""
    steps = [step for step in path[:MAX_CHARACTERS].split("/") if step]
    if not steps or steps[0] in NO_PAGES:
        return ""
    last = "" if len(steps) == 1 and steps[0] in FOLDERS else steps[-1]
    name = next((last.removesuffix(ending) for ending in PAGE_ENDINGS if last.endswith(ending)), last)
    if "." in name:
        return ""
    found = [word for word in tokens(name) if len(word) <= LONGEST_WORD]
    return " ".join(found[:MOST_WORDS]) if any(map(str.isalpha, found)) else ""


def suggestions_for_address(
    engine: SearchEngine, shop: Shop, path: str, served: Served, now: datetime
) -> AddressSuggestions:
    """Return suggestions for an address, in one search of its words. Raises SearchUnavailable."""
    typed = words_of_address(path)
    if not typed:
        return AddressSuggestions("")
    hits = first_ten(engine, shop.site_id, typed, served, now, patient=False).hits[:MISSING_PRODUCTS]
    return AddressSuggestions(typed, nearest_categories(shop.tree, path, typed), hits)


def nearest_categories(tree: ShopTree, path: str, typed: str) -> tuple[ShopNode, ...]:
    """Return the categories that have words of the address in their names, those with the most of them first, then the
    nearest category above the address."""
    wanted = frozenset(words(typed)) - LINKING_WORDS
    named = [(len(wanted.intersection(words(node.name))), node) for node in tree.nodes.values()]
    closest = sorted((pair for pair in named if pair[0]), key=lambda pair: (-pair[0], len(pair[1].name), pair[1].path))
    shown = [node for _, node in closest if tree.at(node.path) is node][:MISSING_CATEGORIES]
    above = _nearest_above(tree, path)
    return tuple(shown if above is None or above in shown else [*shown[: MISSING_CATEGORIES - 1], above])


def _nearest_above(tree: ShopTree, path: str) -> ShopNode | None:
    """Return the category that the beginning of the address names."""
    steps = path.strip("/")[:MAX_CHARACTERS].split("/")
    if steps[0] != "c":
        return None
    above = ("/".join(steps[1:end]) for end in range(len(steps) - 1, 1, -1))
    return next((node for node in map(tree.at, above) if node is not None), None)
