"""Category and search pages end to end under the web server, beside a bare page of the same size.

"Kept" pages are asked for again while nothing changed, as the categories of a shop are; "fresh" ones carry a
choice of filters that nobody made before, so that the engine and the templates do all their work.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import median
from unittest import SkipTest
from urllib.parse import urlencode

from app import ports
from app.domain.bundles.importing import import_bundle
from app.domain.merchandising.queries import load_tree
from app.domain.search.index.documents import product_documents
from app.domain.sites.sites import site_at
from app.transaction import transaction
from bench.bare_page import choices_for
from bench.catalogue import copied, icecat, queries
from bench.measuring import ROUNDS, Yardstick, at_least, at_most, build, heading, run, sized, workspace
from bench.shop import empty_shop, settings
from bench.web_load import WORKERS, Load, is_measurable, load, server, wait_for

LARGE = sized(100_000)
HOST = "bench.test"
SLOWEST_PAGE = 3
SHARE_OF_BARE = 0.7
MOST_TO_WARM = 5_000


def main() -> None:
    if not is_measurable():
        raise SkipTest("wrk is not installed (on Debian: apt install wrk)")
    heading(f"Pages end to end, {LARGE:,} products, 2 web processes, 10 connections")
    with workspace() as directory:
        environment = settings(directory)
        paths = _shop(environment)
        for kind, asked in paths.items():
            _beside_bare(kind, asked, environment, directory)


def _shop(environment: dict[str, str]) -> dict[str, list[str]]:
    """Make the shop; the paths to ask for, by what they are called."""
    app = empty_shop(environment)
    with app.app_context():
        import_bundle(icecat(), HOST, ports.clock(), ports.images(), transaction, "bench", False)
        site_id = site_at(HOST).id
        _index(site_id)
        categories = [node.path for node in load_tree(site_id).nodes.values()]
    chance = random.Random(7)
    fresh = [
        f"/c/{path}?{urlencode({'price_min': low, 'price_max': low + 400, 'sort': sort})}"
        for path, low, sort in product(categories, range(0, 300), ("name", "newest", "price-asc"))
    ]
    words = [f"/search?{urlencode({'q': query})}" for query in queries()]
    chance.shuffle(fresh)
    return {
        "category, kept": [f"/c/{path}" for path in categories],
        "category, fresh": fresh,
        "search, real queries": words,
    }


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
    asked = 0
    while True:
        last = load(port, HOST, paths, directory)
        asked += last.requests
        if asked >= WORKERS * len(paths) or len(paths) > MOST_TO_WARM:
            return last


def _print(kind: str, shop: Sequence[Load], bare: Sequence[Load]) -> None:
    rate, bare_rate = (median(each.per_second for each in loads) for loads in (shop, bare))
    print(
        f"     {kind}: {rate:,.0f} pages/s of {shop[0].page_bytes:,} bytes, p50 {median(s.p50 for s in shop):.1f} ms; "
        f"bare: {bare_rate:,.0f} of {bare[0].page_bytes:,}; failed: {sum(s.failed for s in shop)}"
    )
    bare_p95 = Yardstick("a bare page of its size", median(each.p95 for each in bare), "ms")
    at_most(f"{kind}: p95", median(each.p95 for each in shop), SLOWEST_PAGE * bare_p95)
    at_least(f"{kind}: pages/s", rate, SHARE_OF_BARE * Yardstick("a bare page of its size", bare_rate, "/s"))


if __name__ == "__main__":
    run(main)
