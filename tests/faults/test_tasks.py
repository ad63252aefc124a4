"""Whoever works on many products is killed: each product is changed once, the task tells how far it is, and another
goes on where it was."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from app.adapters.queue import RqQueue
from app.domain.catalogue.listing import ProductList
from app.domain.catalogue.models import Product, ProductAttributeValue
from app.domain.shared.author import Author
from app.domain.sites.activity import LOST_VALUES
from app.domain.sites.models import AuditEntry, Site
from app.domain.taxonomy import tasks
from app.domain.taxonomy.models import TaxonomyTask
from app.domain.taxonomy.products.classification import classification, index_values
from app.domain.taxonomy.tasks import Kind
from app.domain.taxonomy.tasks.assignments import assign_level, chosen_products
from app.domain.taxonomy.tasks.batch import lost_values
from app.domain.taxonomy.tree import TaxonomyTree
from app.extensions import db
from app.jobs.scheduler import Scheduler
from app.operations.supervisor.embedded_redis import EmbeddedRedis
from app.ports import clock
from app.transaction import transaction
from tests.domain.taxonomy.tasks.conftest import LEVELS, as_saved
from tests.domain.taxonomy.tasks.conftest import shop as with_taxonomy
from tests.factories import WHEN
from tests.faults.shops import SITE, Shop
from tests.injected_faults import injected
from tests.waiting import until

pytestmark = pytest.mark.fault("F32")

TENTS = 30
MANY = 3_000
MOST_STATEMENTS = 400
KILLED = -signal.SIGKILL


@pytest.fixture(scope="session")
def model_tents(model_shop: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tents") / "shop"
    shutil.copytree(model_shop, folder, symlinks=True)
    with Shop(folder).opened(), transaction():
        site = db.session.get_one(Site, SITE)
        site.capabilities = ["TAXONOMY_ENGINE"]
        with_taxonomy(site)
        add_tents(TENTS)
    return folder


def add_tents(number: int) -> None:
    held = classification(TaxonomyTree.parse(LEVELS), "tents", {"sleeps": 2, "colour": ["Moss"]})
    fields = {
        "site_id": SITE,
        "price": 1_250,
        "created_at": WHEN,
        "updated_at": WHEN,
        "taxonomy_level_id": held.level_id,
        "taxonomy_attributes": held.values,
        "completeness_score": held.score,
    }
    skus = [f"tent-{number}-{place}" for place in range(number)]
    tents = [Product(sku=sku, name=f"Product {sku}", seo_name=sku, **fields) for sku in skus]
    db.session.add_all(tents)
    db.session.flush()
    index_values(tents)


@pytest.fixture
def shop(model_tents: Path, tmp_path: Path) -> Iterator[Shop]:
    shutil.copytree(model_tents, tmp_path / "shop", symlinks=True)
    copied = Shop(tmp_path / "shop")
    yield copied
    copied.end_all()


def add_task() -> None:
    """All tents become boots."""
    with transaction():
        chosen = chosen_products(SITE, [], ProductList.parse("level=tents"))
        assign_level(Author(SITE, "tests", clock()), chosen, "boots")


def check(shop: Shop, products: int = TENTS) -> TaxonomyTask:
    """As many are boots as the task says it has done, each of them changed once, and the rest is as it was."""
    with shop.opened():
        task = db.session.scalars(select(TaxonomyTask)).one()
        rows = db.session.execute(
            select(Product.taxonomy_level_id, Product.revision, func.count())
            .where(Product.taxonomy_level_id.is_not(None))
            .group_by(Product.taxonomy_level_id, Product.revision)
        )
        found = {(level_id, revision): number for level_id, revision, number in rows}
        wanted = {("boots", 2): task.done, ("tents", 1): products - task.done}
        assert found == {key: number for key, number in wanted.items() if number}
        assert task.report.get("changed", 0) == task.report.get("dropped", {}).get("sleeps", 0) == task.done
        held = select(func.count()).where(ProductAttributeValue.attribute_id == "sleeps")
        assert db.session.scalar(held) == products - task.done
        logged = db.session.scalars(select(AuditEntry.action).where(AuditEntry.action != LOST_VALUES)).all()
        assert logged == (["taxonomy.assign_level"] if task.state == "done" else [])
        lost = [one.product_id for batch in lost_values(SITE, task.id) for one in batch]
        assert len(lost) == len(set(lost)) == task.done
        db.session.expunge(task)
        return task


def end_lease(shop: Shop) -> None:
    """As if half a minute had passed."""
    with shop.opened(), transaction():
        db.session.scalars(select(TaxonomyTask)).one().lease_until = None


def test_killed_before_each_statement_until_it_gets_past_all_of_them(shop: Shop) -> None:
    """F32: every try has one statement more, and goes on where the one before was."""
    with shop.opened():
        add_task()
    done = [0]
    for number in range(1, MOST_STATEMENTS):
        status = shop.do("work_off_tasks", f"statement:{number}", "3").finish()
        task = check(shop)
        if status == 0:
            break
        assert status == KILLED
        done.append(task.done)
        end_lease(shop)
    assert task.state == "done" and task.done == task.total == TENTS
    assert done == sorted(done) and len(set(done)) > 3


@pytest.mark.parametrize("point", ["commit", "committed"])
def test_killed_around_its_first_commit(shop: Shop, point: str) -> None:
    """F32: nobody was told of the task either, so the scheduler finds it once the lease is over."""
    with shop.opened():
        add_task()
    assert shop.do("work_off_tasks", point, "10").finish() == KILLED
    assert check(shop).done == 0
    with shop.opened(minutes_from_now=1):
        scheduler = Scheduler(lambda _name, work: work() or True)
        scheduler.look()
        clock().move(seconds=10)  # type: ignore[attr-defined]
        scheduler.look()
    assert check(shop).state == "done"


def test_the_work_of_a_worker_that_is_killed_is_done_by_the_next(shop: Shop, redis: EmbeddedRedis) -> None:
    """F32: with a real worker, whose job outlives it or not."""
    with shop.opened(), transaction():
        add_tents(MANY)
    with shop.opened(queue=RqQueue(redis.url, shop.config.queue_prefix)):
        first = shop.do("work", "default")
        add_task()
    until(lambda: has_begun(shop))
    os.kill(first.pid, signal.SIGKILL)
    injected()
    assert progress(shop)[0] == "running"
    end_lease(shop)
    shop.do("work", "default")
    RqQueue(redis.url, shop.config.queue_prefix).enqueue("catalogue:work_off_tasks", SITE)
    until(lambda: progress(shop)[0] == "done", seconds=60)
    assert check(shop, TENTS + MANY).done == TENTS + MANY


def has_begun(shop: Shop) -> bool:
    """Asked of the file itself: an application that opens first may look when everything is done."""
    with closing(sqlite3.connect(shop.config.database_url.removeprefix("sqlite:///"))) as file:
        found = file.execute("SELECT done FROM taxonomy_tasks").fetchone()
    return found is not None and found[0] > 0


def progress(shop: Shop) -> tuple[str, int]:
    with shop.opened():
        return tuple(db.session.execute(select(TaxonomyTask.state, TaxonomyTask.done)).one())  # type: ignore[return-value]


@pytest.fixture
def half_clay(shop: Shop) -> list[int]:
    """The ids of the tents; every second is of clay instead of moss."""
    with shop.opened(), transaction():
        tents = list(db.session.scalars(select(Product).where(Product.sku.like("tent-%")).order_by(Product.id)))
        for tent in tents[::2]:
            tent.taxonomy_attributes = {"sleeps": 2, "colour": ["Clay"]}
        index_values(tents)
        return [tent.id for tent in tents]


def archive(ids: list[int]) -> None:
    """As a switch of taxonomies does."""
    for tent in db.session.scalars(select(Product).where(Product.id.in_(ids))):
        slot = {"levelId": tent.taxonomy_level_id, "attributes": tent.taxonomy_attributes}
        tent.archived_taxonomy_data = slot | {"taxonomyId": "old", "completenessScore": 100, "archivedAt": ""}
        tent.taxonomy_level_id, tent.taxonomy_attributes, tent.completeness_score = None, {}, None


def forget_scores(ids: list[int]) -> None:
    for tent in db.session.scalars(select(Product).where(Product.id.in_(ids))):
        tent.completeness_score = 0


def request_of(kind: Kind, ids: list[int]) -> dict[str, Any]:
    """What makes each of the tents another."""
    words = [("Moss", "Clay"), ("Clay", "Moss")]
    renames = [{"levelId": "gear", "attributeId": "colour", "value": old, "renamed": new} for old, new in words]
    return {
        Kind.RENAME_VALUES: lambda: as_saved(clock(), SITE, taxonomyId="kit", renames=renames),
        Kind.ASSIGN_VALUE: lambda: {
            "taxonomyId": "kit",
            "attributeId": "colour",
            "value": ["Sky"],
            "way": "add",
            "products": ids,
        },
        Kind.RESTORE: lambda: {"taxonomyId": "kit"},
        Kind.RECOMPUTE: dict,
    }[kind]()


COLOURS = {
    Kind.RENAME_VALUES: (["Moss"], ["Clay"]),
    Kind.ASSIGN_VALUE: (["Clay", "Sky"], ["Moss", "Sky"]),
    Kind.RESTORE: (["Clay"], ["Moss"]),
    Kind.RECOMPUTE: (["Clay"], ["Moss"]),
}


@pytest.mark.parametrize("kind", list(COLOURS))
def test_every_kind_of_work_is_done_once_however_often_its_worker_is_killed(
    shop: Shop, half_clay: list[int], kind: Kind
) -> None:
    """F32: two words that change places would change back if a batch were done twice."""
    with shop.opened(), transaction():
        if kind is Kind.RESTORE:
            archive(half_clay)
        elif kind is Kind.RECOMPUTE:
            forget_scores(half_clay)
    with shop.opened(), transaction():
        tasks.request(Author(SITE, "tests", clock()), kind, request_of(kind, half_clay))
    kills = 0
    for number in range(2, MOST_STATEMENTS, 9):
        status = shop.do("work_off_tasks", f"statement:{number}", "3").finish()
        if status == 0:
            break
        assert status == KILLED
        kills += 1
        end_lease(shop)
    assert kills > 3
    with shop.opened():
        task = db.session.scalars(select(TaxonomyTask)).one()
        tents = list(db.session.scalars(select(Product).where(Product.id.in_(half_clay)).order_by(Product.id)))
        assert (task.state, task.report["changed"]) == ("done", TENTS)
        assert [tent.taxonomy_attributes["colour"] for tent in tents] == [*COLOURS[kind]] * (TENTS // 2)
        assert {tent.completeness_score for tent in tents} == {100}
        raised = kind is not Kind.RECOMPUTE
        assert {tent.revision for tent in tents} == {2 if raised else 1}
        held = select(func.count()).where(ProductAttributeValue.attribute_id == "colour")
        assert db.session.scalar(held) == TENTS * len(COLOURS[kind][0])
