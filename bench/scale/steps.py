"""What is measured of a shop of a size, each step in a process of its own: the index, pages, the sitemap."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode
from xml.etree import ElementTree

from flask import current_app

from app import ports
from app.cli.search import finished_run
from app.domain.merchandising.shop import read_shop
from app.domain.search.engine import SearchRequest, SearchUnavailable
from app.domain.search.index import runs
from app.domain.seo.sitemap import builds
from app.domain.shared.author import Author
from app.domain.sites.sites import site_at
from app.extensions import db
from app.operations.loading import loading_for_good
from app.operations.work_context import work_context
from app.transaction import transaction
from bench.measuring import PRODUCTS, milliseconds, resident_megabytes, seconds
from bench.scale.growth import WORD, Originals
from bench.scale.stock import HOST, rows_of

QUERIES, PAGES = 100, 60  # Of each kind.


def rebuild() -> tuple[int, float]:
    """Build the index as `index rebuild --wait` does; return its documents, and the seconds that it took."""
    site_id = site_at(HOST).id
    with transaction():
        author = Author(site_id, "bench", ports.clock())
        run_id = runs.request_rebuild(author, ports.search_engine(), ports.worker_locks(), runs.Scope.PRODUCTS)[0].id
    run = finished_run(site_id, run_id)
    assert run.state == "done" and run.started_at and run.finished_at, run.error
    return run.done, (run.finished_at - run.started_at).total_seconds()


@dataclass(frozen=True, slots=True)
class Served:
    """Times in milliseconds of searches with ten facets for the first time and again, by number of words (0 browses),
    and of category pages: narrowed as nobody did before, and as they are asked for again. `failed` searches and pages
    were not answered. `memory` is the process's in the end, in megabytes."""

    first: dict[int, list[float]]
    again: dict[int, list[float]]
    narrowed: list[float]
    kept: list[float]
    failed: int
    memory: float


def serve(bundle: Path, products: int, facets: Sequence[str]) -> Served:
    """Search, browse and open categories as shoppers do."""
    queries = queries_of(Originals(list(rows_of(bundle))), products)
    engine, site_id = ports.search_engine(), site_at(HOST).id
    failures: list[str] = []

    def search(words: str) -> None:
        with _noting(failures):
            engine.search(site_id, PRODUCTS, SearchRequest(words=words, facets=tuple(facets)))

    with loading_for_good():
        first = {count: milliseconds(search, some) for count, some in queries.items()}
        again = {count: milliseconds(search, some) for count, some in queries.items()}
        get = _getter(failures)
        paths = [f"/c/{node.path}" for node in read_shop(site_id).tree.nodes.values()]
        db.session.remove()
        narrowed = milliseconds(get, _narrowed(paths))
        kept = paths[:PAGES]
        milliseconds(get, kept)
        return Served(first, again, narrowed, milliseconds(get, kept), len(failures), resident_megabytes()[0])


def queries_of(originals: Originals, products: int) -> dict[int, list[str]]:
    """Return searches of one, two and three words of products' names, and as many without words."""
    chance = random.Random(7)
    found: dict[int, list[str]] = {0: [""] * QUERIES}
    for count in (1, 2, 3):
        found[count] = []
        while len(found[count]) < QUERIES:
            row = originals.product(chance.randrange(products))
            words = WORD.findall(str(row["name"]))
            if len(words) >= count:
                start = chance.randrange(len(words) - count + 1)
                found[count].append(" ".join(words[start : start + count]))
    return found


def _narrowed(paths: Sequence[str]) -> Iterator[str]:
    chance = random.Random(11)
    for number in range(PAGES):
        query = urlencode({"price_min": 10 + number, "price_max": 400 + 7 * number, "sort": "price-asc"})
        yield f"{chance.choice(paths)}?{query}"


def _getter(failures: list[str]) -> Callable[[str], None]:
    client = current_app.test_client()

    def get(path: str) -> None:
        answer = client.get(path, base_url=f"http://{HOST}")
        if answer.status_code != 200 or not answer.data:
            failures.append(path)

    return get


@contextmanager
def _noting(failures: list[str]) -> Iterator[None]:
    """Note a search that the engine does not answer in time."""
    try:
        yield
    except SearchUnavailable as error:
        failures.append(str(error))


@dataclass(frozen=True, slots=True)
class Sitemap:
    """A sitemap that was written: its addresses, its files, and the seconds that it took."""

    addresses: int
    files: int
    seconds: float


def write_sitemap() -> Sitemap:
    took = seconds(_build_sitemap)
    roots = [ElementTree.parse(file.path).getroot() for file in ports.sitemaps().files(site_at(HOST).id)]
    lists = [root for root in roots if root.tag.endswith("}urlset")]
    return Sitemap(sum(map(len, lists)), len(lists), took)


def _build_sitemap() -> None:
    context = work_context()
    with transaction():
        build_id = builds.request_build(Author(site_at(HOST).id, "bench", context.clock)).id
    assert builds.run_build(context, ports.sitemaps(), build_id)


def index_megabytes() -> float:
    """The size of the index, as the System page shows it."""
    return (ports.search_engine().size(site_at(HOST).id, PRODUCTS) or 0) / 1024**2
