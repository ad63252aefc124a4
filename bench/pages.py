"""Category and search pages end to end under the web server, beside a bare page of the same size.

"Kept" pages are asked for again while nothing changed, as the categories of a shop and their landing pages are, in a
tree of 500 categories; "fresh" ones carry a choice of filters that nobody made before, so that the engine and the
templates do all their work. Invented parameters, each another filter, must leave the memory of a process as it is.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice, product
from pathlib import Path
from statistics import median
from unittest import SkipTest
from urllib.parse import urlencode

from sqlalchemy import func, select

from app import create_app, ports
from app.config import from_environment
from app.domain.bundles.importer import import_bundle
from app.domain.catalogue.models import Product
from app.domain.merchandising.models import Node
from app.domain.merchandising.shop import Shop, load_tree, read_shop
from app.domain.merchandising.tree import ShopNode
from app.domain.search.index.documents import product_documents
from app.domain.seo.landing.pages import LandingPage
from app.domain.shared.addresses import slug
from app.domain.sites.sites import site_at
from app.extensions import db
from app.transaction import transaction
from bench.bare_page import choices_for
from bench.catalogue import copied, icecat, queries
from bench.measuring import (
    ROUNDS,
    Yardstick,
    at_least,
    at_most,
    build,
    heading,
    resident_megabytes,
    run,
    sized,
    workspace,
)
from bench.shop import empty_shop, settings
from bench.web_load import WORKERS, Load, is_measurable, load, server, wait_for

LARGE = sized(100_000)
HOST = "bench.test"
CATEGORIES = sized(500)
SLOWEST_PAGE = 3
SHARE_OF_BARE = 0.7
KEPT = 1.3  # What is kept costs at most so many times a bare page.
INVENTED = sized(100_000)
MOST_GROWTH = Yardstick("the goal", 20, "MB")
MOST_TO_WARM = 5_000


def main() -> None:
    if not is_measurable():
        raise SkipTest("wrk is not installed (on Debian: apt install wrk)")
    heading(f"Pages end to end, {LARGE:,} products, 2 web processes, 10 connections")
    with workspace() as directory:
        environment = settings(directory)
        paths = _shop(environment)
        for kind, request in paths.items():
            _beside_bare(kind, request, environment, directory)
        _invented_parameters(environment, paths["category, kept"])


def _shop(environment: dict[str, str]) -> dict[str, list[str]]:
    """Make the shop; the paths to ask for, by what they are called."""
    app = empty_shop(environment)
    with app.app_context():
        import_bundle(icecat(), HOST, ports.clock(), ports.images(), transaction, "bench", False)
        site_id = site_at(HOST).id
        _add_categories(site_id)
        _index(site_id)
        shop = read_shop(site_id)
        categories = [node.path for node in shop.tree.nodes.values()]
        landing = [page.path for node in shop.tree.nodes.values() for page in _landing_pages(shop, node)]
    chance = random.Random(7)
    fresh = [
        f"/c/{path}?{urlencode({'price_min': low, 'price_max': low + 400, 'sort': sort})}"
        for path, low, sort in product(categories, range(0, 300), ("name", "newest", "price-asc"))
    ]
    words = [f"/search?{urlencode({'q': query})}" for query in queries()]
    chance.shuffle(fresh)
    return {
        "category, kept": [f"/c/{path}" for path in categories],
        "landing page, kept": landing,
        "category, fresh": fresh,
        "search, real queries": words,
    }


def _add_categories(site_id: int) -> None:
    """By manufacturer, below the categories that take products by their level."""
    of_level = [node for node in load_tree(site_id).nodes.values() if node.source_levels]
    made_by = select(Product.manufacturer).where(Product.site_id == site_id).group_by(Product.manufacturer)
    makers = list(db.session.scalars(made_by.order_by(func.count().desc()).limit(20)))
    wanted = CATEGORIES - len(load_tree(site_id).nodes)
    with transaction():
        for maker, above in islice(product(makers, of_level), max(0, wanted)):
            name = f"{above.name} by {maker}"
            db.session.add(
                Node(
                    site_id=site_id,
                    tree_id=above.tree_id,
                    parent_id=above.id,
                    name=name,
                    slug=slug(name, "by"),
                    path=f"{above.path}/{slug(name, 'by')}",
                    source_levels=list(above.source_levels),
                    source_manufacturers=[maker],
                    updated_at=ports.clock().now(),
                )
            )


def _landing_pages(shop: Shop, node: ShopNode) -> Sequence[LandingPage]:
    return ports.landing_directory().of(ports.search_engine(), ports.clock(), shop, node).pages


def _index(site_id: int) -> None:
    originals = list(product_documents(site_id))
    places = (divmod(place, len(originals)) for place in range(LARGE))
    copies = (replace(copied(originals[original], copy), card=originals[original].card) for copy, original in places)
    build(ports.search_engine(), copies, site_id)


def _beside_bare(kind: str, paths: Sequence[str], environment: dict[str, str], directory: Path) -> None:
    """Both servers stand at once and are asked in turn, so that both meet the same machine."""
    with ExitStack() as standing:
        shop = standing.enter_context(server("wsgi:app", environment))
        bare = standing.enter_context(server("bench.bare_page:app", {}))
        wait_for(shop, HOST, paths[0])
        size = _warmed(shop, paths, directory).page_bytes
        bare_path = f"/?choices={choices_for(size)}"
        wait_for(bare, HOST, bare_path)
        rounds = [(load(shop, HOST, paths, directory), load(bare, HOST, [bare_path], directory)) for _ in range(ROUNDS)]
    _print(kind, [shop for shop, _ in rounds], [bare for _, bare in rounds])


def _warmed(port: int, paths: Sequence[str], directory: Path) -> Load:
    """Both workers have seen most paths before anything counts, where there are not endlessly many."""
    request = 0
    while True:
        last = load(port, HOST, paths, directory)
        request += last.requests
        if request >= WORKERS * len(paths) or len(paths) > MOST_TO_WARM:
            return last


def _print(kind: str, shop: Sequence[Load], bare: Sequence[Load]) -> None:
    rate, bare_rate = (median(each.per_second for each in loads) for loads in (shop, bare))
    print(
        f"     {kind}: {rate:,.0f} pages/s of {shop[0].page_bytes:,} bytes, p50 {median(s.p50 for s in shop):.1f} ms; "
        f"bare: {bare_rate:,.0f} of {bare[0].page_bytes:,}; failed: {sum(s.failed for s in shop)}"
    )
    bare_p95 = Yardstick("a bare page of its size", median(each.p95 for each in bare), "ms")
    slowest, share = (KEPT, 1 / KEPT) if kind.endswith("kept") else (SLOWEST_PAGE, SHARE_OF_BARE)
    at_most(f"{kind}: p95", median(each.p95 for each in shop), slowest * bare_p95)
    at_least(f"{kind}: pages/s", rate, share * Yardstick("a bare page of its size", bare_rate, "/s"))


def _invented_parameters(environment: dict[str, str], categories: Sequence[str]) -> None:
    """As crawlers that follow faceted links without end, in this process, after a tenth of them for a start."""
    client = create_app(from_environment(environment)).test_client()
    first = INVENTED // 10
    for number in range(first + INVENTED):
        if number == first:
            before, _ = resident_megabytes()
        path = categories[number % len(categories)]
        client.get(f"{path}?made-up-{number}={number}&pageSizeOverride=1", base_url=f"http://{HOST}")
    at_most(f"memory grown by {INVENTED:,} invented parameters", resident_megabytes()[0] - before, MOST_GROWTH)


if __name__ == "__main__":
    run(main)
