"""A shop as a bundle, in and out: 19,406 products in less than a minute, and 100,000 within the memory that those need,
since rows go through in batches. Each step has a process of its own, whose peak is its own."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import insert

from app import ports
from app.domain.bundles.exporter import export_bundle
from app.domain.bundles.importer import import_bundle
from app.domain.bundles.report import BundleReport
from app.domain.catalogue.models import INDEXED_SEPARATELY, Product
from app.domain.sites.sites import create_site, site_at
from app.extensions import db
from app.transaction import transaction
from bench.apart import apart
from bench.measuring import Yardstick, at_most, heading, run, seconds, sized, workspace
from bench.shop import empty_shop, settings
from tests.surroundings import real_bundle

SMALL, LARGE = "small.test", "large.test"
MANY = sized(100_000)
ROWS = 500
MINUTE = Yardstick("the goal for 20,000 products", 60, "s")
TIMES_IN, TIMES_AGAIN, TIMES_OUT = 20, 10, 8
MOST_GROWTH = Yardstick("the goal", 48, "MB")


def main() -> None:
    with workspace() as directory:
        real = real_bundle("icecat-2")
        count, many = _multiplied(real, directory / "many")
        environment = settings(directory)
        with empty_shop(environment).app_context():
            plain = Yardstick("the same rows read as JSON and inserted plainly", _plainly(real), "s")
        heading(f"{count:,} products")
        step = partial(apart, environment)
        small = step(partial(_import, real, SMALL, added=count))
        at_most("imported", small.seconds, MINUTE)
        at_most("imported, beside plain statements", small.seconds, TIMES_IN * plain)
        at_most(
            "imported again, which changes nothing",
            step(partial(_import, real, SMALL, added=0)).seconds,
            TIMES_AGAIN * plain,
        )
        out = step(partial(_export, SMALL, directory))
        at_most("exported", out.seconds, TIMES_OUT * plain)
        heading(f"{MANY:,} products")
        larger = MANY / count
        large = step(partial(_import, many, LARGE, added=MANY))
        at_most("imported", large.seconds, larger * TIMES_IN * plain)
        at_most("more memory at its peak than for the smaller shop", large.peak - small.peak, MOST_GROWTH)
        again = step(partial(_import, many, LARGE, added=0))
        at_most("imported again, which changes nothing", again.seconds, larger * TIMES_AGAIN * plain)
        at_most("more memory at its peak than the smaller import", again.peak - small.peak, MOST_GROWTH)
        large_out = step(partial(_export, LARGE, directory))
        at_most("exported", large_out.seconds, larger * TIMES_OUT * plain)
        at_most("more memory at its peak than for the smaller export", large_out.peak - out.peak, MOST_GROWTH)


def _import(bundle: Path, host: str, added: int) -> None:
    report: BundleReport = import_bundle(bundle, host, ports.clock(), ports.images(), transaction, "bench", 8)
    assert report.of("products").added == added, report.counts


def _export(host: str, directory: Path) -> None:
    export_bundle(directory / f"{host}.zip", site_at(host), ports.images())


def _rows(bundle: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(bundle / "products.jsonl.gz", "rt") as lines:
        yield from map(json.loads, lines)


def _multiplied(bundle: Path, folder: Path) -> tuple[int, Path]:
    """How many products the bundle has, and a bundle of many: the same over and over with SKUs of their own."""
    folder.mkdir()
    for name in ("taxonomy.json", "merchandising.json"):
        shutil.copyfile(bundle / name, folder / name)
    count = written = 0
    with (folder / "products.jsonl").open("w") as out:
        while written < MANY:
            copy = written
            for row in islice(_rows(bundle), MANY - written):
                own = {"sku": f"{row['sku']}-{copy}", "upc": None} if copy else {}
                out.write(json.dumps(row | own) + "\n")
                written += 1
            count = count or written
    return count, folder


def _plainly(bundle: Path) -> float:
    with transaction():
        site_id = create_site(ports.clock(), "plain.test", "Plain").id
    now = ports.clock().now()

    def columns(row: dict[str, Any]) -> dict[str, Any]:
        taxonomy = row.get("taxonomy") or {}
        return {
            "site_id": site_id,
            "sku": row["sku"],
            "name": row["name"],
            "seo_name": row["sku"].lower(),
            "price": row["price"],
            "description": row.get("description") or "",
            "search_terms": row.get("searchTerms") or [],
            "taxonomy_attributes": taxonomy.get("attributes") or {},
            "created_at": now,
            "updated_at": now,
        }

    def write() -> None:
        rows = map(columns, _rows(bundle))
        while batch := list(islice(rows, ROWS)):
            with transaction():
                db.session.execute(insert(Product), batch, execution_options=INDEXED_SEPARATELY)

    return seconds(write)


if __name__ == "__main__":
    run(main)
