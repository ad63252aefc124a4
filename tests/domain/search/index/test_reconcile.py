"""Reconciliation counts what differs by cause, repairs it, and reverts no save."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import cast

import pytest
from flask import Flask
from sqlalchemy import delete, select

from app.domain.catalogue.models import Product
from app.domain.search.document_ids import PRODUCT
from app.domain.search.engine import (
    Delete,
    EngineState,
    IndexDocument,
    IndexName,
    SearchContext,
    SearchEngine,
    SearchUnavailable,
    Upsert,
)
from app.domain.search.index import outbox
from app.domain.search.index.outbox import apply_waiting
from app.domain.search.index.rebuild import rebuild
from app.domain.search.index.reconcile import reconcile
from app.domain.search.models import OutboxEntry, ReconcileReport
from app.extensions import db
from app.transaction import transaction
from tests.searching import add_page, add_product, add_site, found, request
from tests.snapshots import built

pytestmark = pytest.mark.usefixtures("context")


@pytest.fixture
def site_id(app: Flask, indexing: SearchContext) -> int:
    def build() -> int:
        with transaction():
            site_id = add_site().id
            for sku in ("tent", "stove", "lamp", "mat", "rope"):
                add_product(site_id, sku)
            add_page(site_id, "delivery")
        rebuild(indexing, request(indexing, site_id))
        return site_id

    return built(app, build, __name__)


def ids_by_sku() -> dict[str, str]:
    return {sku: f"p{id}" for id, sku in db.session.execute(select(Product.id, Product.sku))}


def damage(indexing: SearchContext, site_id: int) -> None:
    """Two products missing, one document too many, one that no shop makes, one in an old state, a page missing."""
    damage_products(indexing, site_id)
    with indexing.engine.exclusive(site_id, IndexName.CONTENT):
        content = [id for id, _ in indexing.engine.digests(site_id, IndexName.CONTENT)]
        indexing.engine.apply(site_id, IndexName.CONTENT, [Delete(id) for id in content])


def damage_products(indexing: SearchContext, site_id: int) -> None:
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


def test_it_counts_by_cause_and_repairs(indexing: SearchContext, site_id: int) -> None:
    damage(indexing, site_id)
    report = reconcile(indexing, site_id)
    assert report and (report.missing, report.extra, report.stale) == (3, 2, 1)
    assert found(indexing, site_id) == {"tent", "stove", "lamp", "mat", "rope"}
    assert found(indexing, site_id, words="candle") == set()
    assert found(indexing, site_id, IndexName.CONTENT) == {"delivery"}


def test_the_report_names_examples(indexing: SearchContext, site_id: int) -> None:
    damage(indexing, site_id)
    report = reconcile(indexing, site_id)
    assert report and report.examples["extra"] == ["p999999", "stranger"]


def test_run_again_it_finds_nothing(indexing: SearchContext, site_id: int) -> None:
    damage(indexing, site_id)
    reconcile(indexing, site_id)
    report = reconcile(indexing, site_id)
    assert report and (report.missing, report.extra, report.stale) == (0, 0, 0)


def test_a_record_that_was_set_aside_is_tried_again(indexing: SearchContext, site_id: int) -> None:
    with transaction():
        product_id = add_product(site_id, "peg").id
    (entry,) = outbox.all_of(site_id, IndexName.PRODUCTS)
    with transaction():
        outbox.put_aside([entry.id], "The cluster went away.")
    report = reconcile(indexing, site_id)
    assert report and report.missing == 0
    assert "peg" in found(indexing, site_id)
    assert outbox.of_record(site_id, PRODUCT, product_id) == (False, None)


def test_a_record_that_cannot_be_indexed_is_set_aside_again(indexing: SearchContext, site_id: int) -> None:
    with transaction():
        add_product(site_id, "poison").taxonomy_attributes = 7  # type: ignore[assignment]
    apply_waiting(indexing, site_id)
    before = list(outbox.all_of(site_id, IndexName.PRODUCTS))
    assert reconcile(indexing, site_id)
    assert outbox.count(site_id) == (0, 1)
    assert list(outbox.all_of(site_id, IndexName.PRODUCTS)) == before


def test_killed_before_the_repair_it_leaves_the_repair_in_the_outbox(indexing: SearchContext, site_id: int) -> None:
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
        reconcile(SearchContext(indexing.clock, transaction, DiesWhenItRepairs()), site_id)
    assert len(db.session.scalars(select(ReconcileReport)).all()) == 1
    apply_waiting(indexing, site_id)
    report = reconcile(indexing, site_id)
    assert report and (report.missing, report.extra, report.stale) == (0, 0, 0)
    assert found(indexing, site_id) == {"tent", "stove", "lamp", "mat", "rope"}


def test_a_save_on_its_way_is_no_drift(indexing: SearchContext, site_id: int) -> None:
    """Saved between the reading of the index and that of the database."""

    class SavesMeanwhile:
        def __getattr__(self, name: str) -> object:
            return getattr(indexing.engine, name)

        def digests(self, site_id: int, index: IndexName, ids: Collection[str] | None = None) -> list[tuple[str, str]]:
            digests = list(indexing.engine.digests(site_id, index, ids))
            with transaction():
                db.session.scalars(select(Product).where(Product.sku == "mat")).one().price += 1
            return digests

    report = reconcile(SearchContext(indexing.clock, transaction, SavesMeanwhile()), site_id)
    assert report and (report.missing, report.extra, report.stale) == (0, 0, 0)


def test_within_the_lock_only_what_differs_is_read_again(indexing: SearchContext, site_id: int) -> None:
    """Others wait for the lock, and reading a whole index may take minutes."""
    read: list[Collection[str] | None] = []

    class Notes:
        def __getattr__(self, name: str) -> object:
            return getattr(indexing.engine, name)

        def digests(
            self, site_id: int, index: IndexName, ids: Collection[str] | None = None
        ) -> Iterator[tuple[str, str]]:
            read.append(ids)
            return indexing.engine.digests(site_id, index, ids)

    damage_products(indexing, site_id)
    ids = ids_by_sku()
    assert reconcile(SearchContext(indexing.clock, transaction, cast(SearchEngine, Notes())), site_id)
    assert read == [None, {ids["tent"], ids["stove"], ids["lamp"], "p999999", "stranger"}, None]


def test_a_lost_wish_is_found(indexing: SearchContext, site_id: int) -> None:
    with transaction():
        db.session.scalars(select(Product).where(Product.sku == "mat")).one().name = "carpet"
    with transaction():
        db.session.execute(delete(OutboxEntry))
    report = reconcile(indexing, site_id)
    assert report and report.stale == 1
    assert found(indexing, site_id, words="carpet") == {"mat"}


def spoil(folder: Path, index: IndexName) -> None:
    for segment in (folder / "index" / "1" / index.value / "current").resolve().glob("*.seg"):
        before = segment.stat()
        segment.write_bytes(segment.read_bytes()[:-1] + b"?")
        os.utime(segment, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(
    ("spoilt", "words", "compared"),
    [(IndexName.PRODUCTS, "products", (1, 0, 0)), (IndexName.CONTENT, "pages and collections", (2, 2, 1))],
)
def test_an_index_that_lost_bits_is_named_and_the_other_is_reconciled(
    indexing: SearchContext, site_id: int, tmp_path: Path, spoilt: IndexName, words: str, compared: tuple[int, int, int]
) -> None:
    """The disk lost them, which no sign but a checksum shows."""
    (damage if spoilt is IndexName.PRODUCTS else damage_products)(indexing, site_id)
    spoil(tmp_path, spoilt)
    with pytest.raises(SearchUnavailable, match=f"The index of {words} could not be compared.*is damaged"):
        reconcile(indexing, site_id)
    (report,) = db.session.scalars(select(ReconcileReport)).all()
    assert (report.missing, report.extra, report.stale) == compared
    assert indexing.engine.status(site_id, spoilt).state is EngineState.UNREACHABLE


def test_an_index_that_is_gone_is_named(indexing: SearchContext, site_id: int, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "index")
    with pytest.raises(SearchUnavailable, match=r"of products could not be compared.*of pages and collections could"):
        reconcile(indexing, site_id)
    assert db.session.scalars(select(ReconcileReport)).all() == []


def test_a_site_that_was_never_built_has_nothing_to_compare(indexing: SearchContext) -> None:
    with transaction():
        site_id = add_site("new.test").id
    assert reconcile(indexing, site_id) is None
