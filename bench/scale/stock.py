"""The products of the benchmark as an owner has them: bundles, imported one after the other."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from unittest import SkipTest

from app import ports
from app.domain.bundles.importer import import_bundle
from app.transaction import transaction
from bench import made_up
from bench.catalogue import icecat
from bench.scale.growth import Originals, Row

HOST = "scale.test"
LARGEST_PART = 200_000  # Rows that a bundle may have; a larger shop is imported in parts.
MADE_UP = 20_000
DOCUMENTS = ("taxonomy.json", "merchandising.json")


def originals_in(directory: Path) -> tuple[Path, str]:
    """Return the folder of the bundle that all products are made of, and its name for people: the real catalogue, or
    where it is not beside the repository a made-up one."""
    try:
        return icecat(), "the Icecat catalogue"
    except SkipTest:
        folder = directory / "made-up"
        if not folder.exists():
            made_up.write_bundle(folder, HOST, MADE_UP)
        return folder, "a made-up catalogue (the real one is not beside the repository)"


def rows_of(bundle: Path) -> Iterator[Row]:
    plain = bundle / "products.jsonl"
    with plain.open() if plain.exists() else gzip.open(bundle / "products.jsonl.gz", "rt") as lines:
        yield from map(json.loads, lines)


def import_products(bundle: Path, directory: Path, first: int, end: int) -> None:
    """Import the products from the one of this number on, below `end`. Raises AssertionError where some are refused."""
    originals = Originals(list(rows_of(bundle)))
    while first < end:
        count = min(LARGEST_PART, end - first)
        part = _write_part(
            bundle,
            directory / f"part-{first}",
            map(originals.product, range(first, first + count)),
            with_documents=not first,
        )
        report = import_bundle(part, HOST, ports.clock(), ports.images(), transaction, "bench", 8)
        assert report.of("products").added == count, report.counts
        shutil.rmtree(part)
        first += count


def _write_part(bundle: Path, folder: Path, products: Iterator[Row], with_documents: bool) -> Path:
    folder.mkdir()
    if with_documents:
        for name in DOCUMENTS:
            shutil.copyfile(bundle / name, folder / name)
        site = {"name": "A large shop", "domains": [{"host": HOST, "primary": True}]}
        (folder / "site.json").write_text(json.dumps(site))
    with gzip.open(folder / "products.jsonl.gz", "wt", compresslevel=1) as lines:
        lines.writelines(f"{json.dumps(product, ensure_ascii=False)}\n" for product in products)
    return folder
