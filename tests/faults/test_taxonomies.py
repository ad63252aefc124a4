"""Whoever switches or saves a taxonomy is killed: all of it happened or nothing, and what follows from it follows."""

from __future__ import annotations

import hashlib
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from app.domain.catalogue.models import Product, ProductAttributeValue
from app.domain.search.models import RebuildRun
from app.domain.sites.models import AuditEntry, Site, StoredEvent
from app.domain.taxonomy.models import Taxonomy, TaxonomyTask
from app.domain.taxonomy.taxonomies import active_id
from app.extensions import db
from app.jobs import events
from app.jobs.scheduler import Scheduler
from app.transaction import transaction
from tests.domain.taxonomy.lifecycle_shop import add_classified, make_active, make_taxonomy
from tests.faults.shops import SITE, Shop

PRODUCTS = 10_000
MOST_STATEMENTS = 40
KILLED = -signal.SIGKILL


@pytest.fixture(scope="session")
def model_taxonomies(model_shop: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With 10,000 classified products; `garden` is not active."""
    folder = tmp_path_factory.mktemp("taxonomies") / "shop"
    shutil.copytree(model_shop, folder, symlinks=True)
    with Shop(folder).opened(), transaction():
        site = db.session.get_one(Site, SITE)
        site.capabilities = ["TAXONOMY_ENGINE"]
        make_taxonomy(site, "camping", name="Camping")
        make_taxonomy(site, "garden", name="Garden")
        make_active(site, "camping")
        add_classified(site, PRODUCTS)
    return folder


@pytest.fixture
def shop(model_taxonomies: Path, tmp_path: Path) -> Iterator[Shop]:
    shutil.copytree(model_taxonomies, tmp_path / "shop", symlinks=True)
    copied = Shop(tmp_path / "shop")
    yield copied
    copied.end_all()


def state_of(shop: Shop) -> dict[str, Any]:
    """All that a switch touches, the products as one digest that leaves out when it was."""
    with shop.opened():
        products = select(
            Product.id,
            Product.revision,
            Product.taxonomy_level_id,
            Product.completeness_score,
            Product.taxonomy_attributes,
            Product.archived_taxonomy_data,
        )
        digest = hashlib.sha256()
        for *fields, slot in db.session.execute(products.order_by(Product.id)):
            digest.update(repr([*fields, slot and {**slot, "archivedAt": None}]).encode())
        return {
            "active": active_id(SITE),
            "config version": db.session.get_one(Site, SITE).config_version,
            "products": digest.hexdigest(),
            "values": db.session.scalar(select(func.count()).select_from(ProductAttributeValue)),
            "events": db.session.scalars(select(StoredEvent.name)).all(),
            "log": db.session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)).all(),
        }


def switch(shop: Shop, point: str) -> tuple[int, list[str]]:
    deed = shop.do("activate", point)
    return deed.finish(), deed.said


@pytest.mark.fault("F31")
def test_a_switch_that_is_killed_before_any_of_its_statements_did_nothing(shop: Shop) -> None:
    """F31: the last try, which gets past the last statement, does everything."""
    before = state_of(shop)
    for number in range(1, MOST_STATEMENTS):
        status, said = switch(shop, f"statement:{number}")
        if status == 0:
            break
        assert (status, said) == (KILLED, [])
        assert state_of(shop) == before, number
    assert number > 8
    assert said == ["activated"]
    assert_switched(shop, before)


@pytest.mark.fault("F31")
@pytest.mark.parametrize("point", ["amid:UPDATE products", "amid:DELETE FROM product_attribute_values", "commit"])
def test_a_switch_that_is_killed_amid_its_long_statements_did_nothing(shop: Shop, point: str) -> None:
    """F31."""
    before = state_of(shop)
    assert switch(shop, point) == (KILLED, [])
    assert state_of(shop) == before


@pytest.mark.fault("F31")
def test_a_switch_that_is_killed_right_after_its_commit_did_everything(shop: Shop) -> None:
    """F31: nobody was told, so the scheduler finds the event and has the index rebuilt."""
    before = state_of(shop)
    assert switch(shop, "committed") == (KILLED, [])
    assert_switched(shop, before)
    with shop.opened(minutes_from_now=1):
        Scheduler(lambda _name, _work: False).look()
        assert db.session.scalars(select(StoredEvent)).all() == []
        latest = select(RebuildRun.scope, RebuildRun.state).order_by(RebuildRun.created_at.desc())
        assert tuple(db.session.execute(latest).first() or ()) == ("PRODUCTS", "waiting")


def assert_switched(shop: Shop, before: dict[str, Any]) -> None:
    after = state_of(shop)
    assert (after["active"], after["values"], after["events"]) == ("garden", 0, ["ActiveTaxonomyChangedEvent"])
    assert after["log"] == [*before["log"], "taxonomy.activate"]
    assert after["config version"] > before["config version"]
    with shop.opened():
        slots = db.session.execute(
            select(Product.taxonomy_level_id, Product.archived_taxonomy_data).where(Product.sku.startswith("P"))
        ).all()
        assert len(slots) == PRODUCTS
        assert all(level_id is None and slot["taxonomyId"] == "camping" for level_id, slot in slots)


@pytest.mark.fault("F32")
def test_what_follows_a_structure_save_is_done_although_who_saved_was_killed_before_telling(shop: Shop) -> None:
    """F32: the tree, its revision and the event are there; other processes see by the shop's version that what they
    keep of it is old."""
    version = state_of(shop)["config version"]
    deed = shop.do("save_structure", "committed")
    assert (deed.finish(), deed.said) == (KILLED, [])
    with shop.opened():
        saved = db.session.get_one(Taxonomy, (SITE, "camping"))
        assert (saved.revision, [level["name"] for level in saved.root_levels]) == (2, ["Tents", "Added"])
    after = state_of(shop)
    assert after["config version"] > version
    assert after["events"] == ["TaxonomyIndexEvent"]
    with shop.opened(minutes_from_now=1):
        Scheduler(lambda _name, _work: False).look()
        assert db.session.scalars(select(StoredEvent)).all() == []
        assert db.session.scalars(select(TaxonomyTask.kind)).all() == ["RECOMPUTE"]


@pytest.mark.fault("F32")
@pytest.mark.parametrize("point", ["statement:6", "commit"])
def test_a_structure_save_that_is_killed_earlier_tells_of_nothing(shop: Shop, point: str) -> None:
    """F32."""
    before = state_of(shop)
    deed = shop.do("save_structure", point)
    assert deed.finish() == KILLED
    assert state_of(shop) == before


@pytest.mark.fault("F32")
@pytest.mark.parametrize("point", ["statement:3", "commit", "committed"])
def test_an_event_whose_deliverer_is_killed_is_delivered_once_in_the_end(shop: Shop, point: str) -> None:
    """F32."""
    assert shop.do("save_structure", "none").finish() == 0
    assert shop.do("deliver", point).finish() == KILLED
    with shop.opened(minutes_from_now=1):
        events.deliver()
        assert db.session.scalars(select(StoredEvent)).all() == []
        assert db.session.scalars(select(TaxonomyTask.kind)).all() == ["RECOMPUTE"]
