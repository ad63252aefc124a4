"""The sitemap of the whole Icecat shop, landing pages and all, and that of a shop of 120,000 products: three valid
files under an index, written within a memory that the smaller shop needs as well."""

from __future__ import annotations

import multiprocessing
import resource
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from sqlalchemy import insert, text

from app import create_app, ports
from app.config import from_environment
from app.domain.bundles.importer import import_bundle
from app.domain.catalogue.models import INDEXED_SEPARATELY, Product
from app.domain.search.index.documents import product_documents
from app.domain.seo.sitemap import builds
from app.domain.shared.author import Author
from app.domain.sites.sites import create_site, site_at
from app.domain.work.context import read_afresh
from app.extensions import db
from app.operations.work_context import work_context
from app.transaction import transaction
from bench.measuring import ROUNDS, Yardstick, at_most, build, heading, median, run, seconds, sized, workspace
from bench.shop import empty_shop, settings
from tests.surroundings import real_bundle

HOST, LARGE_HOST = "bench.test", "large.test"
LARGE = sized(120_000)
ROWS = 5_000
TIMES = 15
MOST_GROWTH = Yardstick("the goal", 10, "MB")


def main() -> None:
    with workspace() as directory:
        environment = settings(directory)
        _make_shops(environment)
        # Apart from the memory that importing took.
        child = multiprocessing.get_context("spawn").Process(target=_measure, args=(environment,))
        child.start()
        child.join()
        assert child.exitcode == 0, "the process that builds failed"


def _make_shops(environment: dict[str, str]) -> None:
    with empty_shop(environment).app_context():
        bundle = real_bundle("icecat-2")
        import_bundle(bundle, HOST, ports.clock(), ports.images(), transaction, "bench", False)
        site_id = site_at(HOST).id
        build(ports.search_engine(), product_documents(site_id), site_id)
        with transaction():
            large_id = create_site(ports.clock(), LARGE_HOST, "Large").id
        for start in range(0, LARGE, ROWS):
            with transaction():
                rows = list(_products(large_id, range(start, min(start + ROWS, LARGE))))
                db.session.execute(insert(Product), rows, execution_options=INDEXED_SEPARATELY)


def _products(site_id: int, numbers: range) -> Iterator[dict[str, object]]:
    now = ports.clock().now()
    for number in numbers:
        names = {"sku": f"S-{number}", "name": f"Product {number}", "seo_name": f"a-product-of-many-{number}"}
        yield {"site_id": site_id, "price": 100, "created_at": now, "updated_at": now, "enabled": True, **names}


def _measure(environment: dict[str, str]) -> None:
    with create_app(from_environment(environment)).app_context():
        heading("The sitemap of the Icecat shop")
        rows = Yardstick("every product's row read plainly", median(seconds(_read) for _ in range(ROUNDS)), "s")
        took = median(seconds(lambda: _build(HOST)) for _ in range(ROUNDS))
        at_most(f"written, {_count(HOST):,} addresses", took, TIMES * rows)
        before = _peak_megabytes()
        heading(f"The sitemap of a shop with {LARGE:,} products")
        at_most("written", seconds(lambda: _build(LARGE_HOST)), LARGE / 19_406 * TIMES * rows)
        at_most("more memory at its peak than for Icecat", _peak_megabytes() - before, MOST_GROWTH)
        print(f"{_count(LARGE_HOST):,} addresses in {len(_files(LARGE_HOST))} files, all valid")


def _read() -> None:
    db.session.execute(text("select * from products where site_id = :site"), {"site": site_at(HOST).id}).all()
    read_afresh()


def _build(host: str) -> None:
    context = work_context()
    with transaction():
        build_id = builds.request_build(Author(site_at(host).id, "bench", context.clock)).id
    assert builds.run_build(context, ports.sitemaps(), build_id)


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _files(host: str) -> list[Path]:
    return [file.path for file in ports.sitemaps().files(site_at(host).id)]


def _count(host: str) -> int:
    """Every file must be whole; the index of several has no addresses of its own."""
    roots = [ElementTree.parse(path).getroot() for path in _files(host)]
    return sum(len(root) for root in roots if root.tag.endswith("}urlset"))


if __name__ == "__main__":
    run(main)
