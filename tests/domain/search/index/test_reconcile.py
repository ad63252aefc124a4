"""Reconciliation counts what differs by cause, repairs it, and reverts no save."""

from __future__ import annotations

import pytest
from sqlalchemy import delete, select

from app.domain.catalogue.models import Product
from app.domain.search.engine import Delete, IndexDocument, IndexName, Upsert
from app.domain.search.index.apply import apply_waiting
from app.domain.search.index.indexing import Indexing
from app.domain.search.index.rebuild import rebuild
from app.domain.search.index.reconcile import reconcile
from app.domain.search.models import OutboxEntry, ReconcileReport
from app.extensions import db
from app.transaction import transaction
from tests.searching import add_page, add_product, add_site, found, request

pytestmark = pytest.mark.usefixtures("context")


@pytest.fixture
def site_id(indexing: Indexing) -> int:
    with transaction():
        site_id = add_site().id
        for sku in ("tent", "stove", "lamp", "mat", "rope"):
            add_product(site_id, sku)
        add_page(site_id, "delivery")
    rebuild(indexing, request(indexing, site_id))
    return site_id


def ids_by_sku() -> dict[str, str]:
    return {sku: f"p{id}" for id, sku in db.session.execute(select(Product.id, Product.sku))}


def damage(indexing: Indexing, site_id: int) -> None:
    """Two products missing, one document too many, one that no shop makes, one in an old state, a page missing."""
    ids = ids_by_sku()
    with indexing.engine.exclusive(site_id, IndexName.PRODUCTS):
        indexing.engine.apply(
            site_id,
            IndexName.PRODUCTS,
            [
                Delete(ids["tent"]),
                Delete(ids["stove"]),
                Upsert(IndexDocument("p999999", "ghost", card={"sku": "ghost"}, digest="x")),
                Upsert(IndexDocument("stranger", "stranger", card={"sku": "stranger"}, digest="x")),
                Upsert(IndexDocument(ids["lamp"], "candle", card={"sku": "lamp"}, digest="old")),
            ],
        )
    with indexing.engine.exclusive(site_id, IndexName.CONTENT):
        content = [id for id, _ in indexing.engine.digests(site_id, IndexName.CONTENT)]
        indexing.engine.apply(site_id, IndexName.CONTENT, [Delete(id) for id in content])


def test_it_counts_by_cause_and_repairs(indexing: Indexing, site_id: int) -> None:
    damage(indexing, site_id)
    report = reconcile(indexing, site_id)
    assert report and (report.missing, report.extra, report.stale) == (3, 2, 1)
    assert found(indexing, site_id) == {"tent", "stove", "lamp", "mat", "rope"}
    assert found(indexing, site_id, words="candle") == set()
    assert found(indexing, site_id, IndexName.CONTENT) == {"delivery"}


def test_the_report_names_examples(indexing: Indexing, site_id: int) -> None:
    damage(indexing, site_id)
    report = reconcile(indexing, site_id)
    assert report and report.examples["extra"] == ["p999999", "stranger"]


def test_run_again_it_finds_nothing(indexing: Indexing, site_id: int) -> None:
    damage(indexing, site_id)
    reconcile(indexing, site_id)
    report = reconcile(indexing, site_id)
    assert report and (report.missing, report.extra, report.stale) == (0, 0, 0)


def test_killed_before_the_repair_it_leaves_the_repair_in_the_outbox(indexing: Indexing, site_id: int) -> None:
    class Killed(BaseException):
        """As by SIGKILL: nothing runs after it."""

    class DiesWhenItRepairs:
        def __init__(self) -> None:
            self.reported = False

        def __getattr__(self, name: str) -> object:
            return getattr(indexing.engine, name)

        def apply(self, site_id: int, index: IndexName, changes: list[Upsert | Delete]) -> None:
            if any(isinstance(change, Upsert) for change in changes):
                raise Killed
            indexing.engine.apply(site_id, index, changes)

    damage(indexing, site_id)
    with pytest.raises(Killed):
        reconcile(Indexing(DiesWhenItRepairs(), indexing.clock, transaction), site_id)
    assert len(db.session.scalars(select(ReconcileReport)).all()) == 1
    apply_waiting(indexing, site_id)
    report = reconcile(indexing, site_id)
    assert report and (report.missing, report.extra, report.stale) == (0, 0, 0)
    assert found(indexing, site_id) == {"tent", "stove", "lamp", "mat", "rope"}


def test_a_save_on_its_way_is_no_drift(indexing: Indexing, site_id: int) -> None:
    """Saved between the reading of the index and that of the database."""

    class SavesMeanwhile:
        def __getattr__(self, name: str) -> object:
            return getattr(indexing.engine, name)

        def digests(self, site_id: int, index: IndexName) -> list[tuple[str, str]]:
            digests = list(indexing.engine.digests(site_id, index))
            with transaction():
                db.session.scalars(select(Product).where(Product.sku == "mat")).one().price += 1
            return digests

    report = reconcile(Indexing(SavesMeanwhile(), indexing.clock, transaction), site_id)
    assert report and (report.missing, report.extra, report.stale) == (0, 0, 0)


def test_a_lost_wish_is_found(indexing: Indexing, site_id: int) -> None:
    with transaction():
        db.session.scalars(select(Product).where(Product.sku == "mat")).one().name = "carpet"
    with transaction():
        db.session.execute(delete(OutboxEntry))
    report = reconcile(indexing, site_id)
    assert report and report.stale == 1
    assert found(indexing, site_id, words="carpet") == {"mat"}


def test_a_site_that_was_never_built_has_nothing_to_compare(indexing: Indexing) -> None:
    with transaction():
        site_id = add_site("new.test").id
    assert reconcile(indexing, site_id) is None
