"""Switching taxonomies with 100,000 classified products, and taking their classifications back."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from flask import Flask
from sqlalchemy import delete, func, insert, select, update

from app import create_app
from app.domain.catalogue.models import INDEXED_SEPARATELY, Product, ProductAttributeValue
from app.domain.shared.author import Author
from app.domain.sites.settings import change_settings
from app.domain.taxonomy.lifecycle import activate_taxonomy, activation_impact
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.products.classification import counted_values
from app.domain.taxonomy.tasks.restore import restore, restore_preview
from app.domain.taxonomy.tasks.runner import work_off
from app.domain.work.context import WorkContext
from app.extensions import db
from app.ports import clock
from app.transaction import transaction
from bench.catalogue import icecat
from bench.measuring import at_most, heading, run, seconds, sized, workspace
from bench.yardsticks import plain_statement
from tests.databases import Databases, PostgresqlDatabases, databases
from tests.factories import WHEN, make_site
from tests.ready_app import config_for

LARGE = sized(100_000)
PREVIEW, SWITCH, DRY_RUN, RESTORE = 0.5, 3, 5, 40  # Of every product and value changed plainly.
AT_ONCE = 5_000


def main() -> None:
    for kind in ("sqlite", "postgresql"):
        heading(f"A switch of taxonomies, {LARGE:,} classified products, {kind}")
        with workspace() as directory:
            stock = databases(kind, directory, lambda url: _create(url, directory))
            try:
                _measure(stock, directory)
            finally:
                if isinstance(stock, PostgresqlDatabases):
                    stock.close()


def _measure(stock: Databases, directory: Path) -> None:
    with stock.fresh() as url, _application(url, directory).app_context():
        site_id = _fill()
        plain = plain_statement("every product and value changed plainly", _change_plainly)
        at_most("the preview of the switch", seconds(lambda: activation_impact(site_id, "second")), PREVIEW * plain)
        at_most("the switch, committed", seconds(lambda: _switch(site_id)), SWITCH * plain)
        dry_run = seconds(lambda: restore_preview(clock(), site_id, "second"))
        at_most("the dry run of taking all back", dry_run, DRY_RUN * plain)
        at_most("taking all back, in the background", seconds(lambda: _restore(site_id)), RESTORE * plain)
        db.session.remove()
        db.engine.dispose()


def _change_plainly() -> None:
    db.session.execute(update(Product).values(completeness_score=0), execution_options=INDEXED_SEPARATELY)
    db.session.execute(delete(ProductAttributeValue))


def _application(url: str, directory: Path) -> Flask:
    return create_app(config_for(url, directory))


def _create(url: str, directory: Path) -> None:
    with _application(url, directory).app_context():
        db.create_all()
        db.engine.dispose()


def _switch(site_id: int) -> None:
    with transaction():
        assert activate_taxonomy(Author(site_id, "Benchmark", clock()), "second", "Second")


def _restore(site_id: int) -> None:
    with transaction():
        restore(Author(site_id, "Benchmark", clock()), "second")
    work_off(WorkContext(clock(), transaction), site_id)
    with_level = select(func.count()).where(Product.taxonomy_level_id.is_not(None))
    assert db.session.scalar(with_level) == LARGE


def _fill() -> int:
    """The site: its products are those of a real catalogue, over and over."""
    with transaction():
        site_id = make_site("bench.localhost").id
        levels = json.loads((icecat() / "taxonomy.json").read_text())["taxonomies"][0]["rootLevels"]
        for name in ("First", "Second"):
            common = {"catalogue_id": "1", "created_at": WHEN, "updated_at": WHEN, "root_levels": levels}
            db.session.add(Taxonomy(site_id=site_id, id=name.lower(), name=name, **common))
        change_settings(site_id, {"taxonomy-active-id": "first"})
    rows = _rows(site_id)
    while some := list(islice(rows, AT_ONCE)):
        with transaction():
            ids = db.session.scalars(insert(Product).returning(Product.id), some, execution_options=INDEXED_SEPARATELY)
            db.session.execute(insert(ProductAttributeValue), list(_values(site_id, some, ids.all())))
    return site_id


def _rows(site_id: int) -> Iterator[dict[str, Any]]:
    with gzip.open(icecat() / "products.jsonl.gz", "rt") as lines:
        originals = [product for line in lines if (product := json.loads(line)).get("taxonomy")]
    for place in range(LARGE):
        product = originals[place % len(originals)]
        yield {
            "site_id": site_id,
            "sku": f"p{place}",
            "seo_name": f"p{place}",
            "name": product["name"],
            "description": product.get("description", ""),
            "price": 100,
            "search_terms": [],
            "taxonomy_level_id": product["taxonomy"]["levelId"],
            "taxonomy_attributes": product["taxonomy"]["attributes"],
            "completeness_score": 50,
            "created_at": WHEN,
            "updated_at": WHEN,
        }


def _values(site_id: int, rows: list[dict[str, Any]], ids: Any) -> Iterator[dict[str, Any]]:
    for row, product_id in zip(rows, ids, strict=True):
        for attribute_id, text in counted_values(row["taxonomy_attributes"]):
            yield {"product_id": product_id, "site_id": site_id, "attribute_id": attribute_id, "value": text}


if __name__ == "__main__":
    run(main)
