"""An import while others work on the same products, or on the taxonomy that classifies them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.bundles.importer import import_bundle
from app.domain.bundles.report import BundleReport
from app.domain.catalogue.models import Product
from app.domain.sites import sites
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.renames import ValueRename
from app.domain.taxonomy.tasks.runner import work_off
from app.domain.work.context import WorkContext
from app.extensions import db
from app.jobs import events
from app.ports import clock, images
from app.transaction import transaction
from tests.domain.bundles.conftest import HOST, LEVELS, SITE, TAXONOMY, Take, product, refusals, write_bundle
from tests.taxonomy_saves import save_structure
from tests.waiting import wait_until_one_waits

pytestmark = pytest.mark.concurrent

GREEN_TENT = product(taxonomy={"levelId": "tents", "attributes": {"sleeps": 2, "colour": ["Moss"]}})


def save_and_follow_up(site_id: int) -> None:
    """Moss is called Fern, a weight must be known; all that follows is done."""
    levels = deepcopy(LEVELS)
    levels[0]["attributes"][1]["allowedValues"] = ["Fern", "Clay"]
    weight = {"attributeId": "weight", "name": "Weight", "type": "NUMBER", "validation": {"mandatory": True}}
    levels[0]["attributes"].append(weight)
    with transaction():
        known = db.session.get_one(Taxonomy, (site_id, "shop"))
        rename = ValueRename("tents", "colour", "Moss", "Fern")
        save_structure(clock(), site_id, "shop", known.revision, "Shop", "", levels, "Mia", renames=[rename])
    follow_up(site_id)


def follow_up(site_id: int) -> None:
    events.deliver()
    work_off(WorkContext(clock(), transaction), site_id)


@pytest.mark.parametrize("before", [1, 2, 3])
def test_a_structure_that_is_saved_during_an_import_classifies_the_rest_of_it(
    take: Take, tmp_path: Path, before: int
) -> None:
    """Before its first commit, before that of the products, and after it. What followed from the save is done already,
    so nobody would look at the products of the import again."""
    take(site=SITE, taxonomy=TAXONOMY)
    site_id, began = sites.site_at(HOST).id, []
    follow_up(site_id)

    @contextmanager
    def disturbed() -> Iterator[None]:
        began.append(1)
        if len(began) == before:
            save_and_follow_up(site_id)
        with transaction():
            yield

    bundle = write_bundle(tmp_path / "new", products=[GREEN_TENT])
    report = import_bundle(bundle, HOST, clock(), images(), disturbed, "a test", 8)
    assert len(began) == 3, "the site, the products and the activity log"
    db.session.rollback()
    tent = db.session.scalars(select(Product)).one()
    assert (refusals(report), report.dropped) == ([], {})
    assert (tent.taxonomy_attributes, tent.completeness_score) == ({"sleeps": 2, "colour": ["Fern"]}, 50)


def test_products_are_held_in_the_order_of_their_ids_not_of_the_file(app: Flask, take: Take, tmp_path: Path) -> None:
    """A task holds them so as well; in other orders the two could wait for each other."""
    take(site=SITE, products=[product("T-1"), product("T-2")])
    bundle = write_bundle(tmp_path / "new", products=[product(sku, price=1) for sku in ("T-2", "T-1")])
    reports: list[BundleReport] = []

    def run() -> None:
        with app.app_context():
            reports.append(import_bundle(bundle, HOST, clock(), images(), transaction, "a test", 8))

    other = threading.Thread(target=run)
    held = select(Product.id).with_for_update(nowait=True)
    with transaction():
        db.session.execute(held.where(Product.sku == "T-1"))
        other.start()
        wait_until_one_waits()
        db.session.execute(held.where(Product.sku == "T-2"))
    other.join()
    assert reports[0].of("products").changed == 2
