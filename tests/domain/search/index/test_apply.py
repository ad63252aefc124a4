"""Saves reach the live index; what cannot be indexed is set aside and holds up nobody."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.domain.search.engine import (
    Change,
    EngineFault,
    IndexName,
    SearchContext,
    SearchEngine,
    SearchUnavailable,
    Upsert,
)
from app.domain.search.index import outbox
from app.domain.search.index.outbox import TURN, apply_for_a_turn, apply_waiting
from app.domain.search.index.rebuild import rebuild
from app.domain.search.models import OutboxEntry
from app.extensions import db
from app.transaction import transaction
from tests.fakes.clock import StoppedClock
from tests.searching import add_page, add_product, add_site, found, request
from tests.snapshots import built

pytestmark = pytest.mark.usefixtures("context")


@pytest.fixture
def site_id(app: Flask, indexing: SearchContext) -> int:
    def build() -> int:
        with transaction():
            site_id = add_site().id
            add_product(site_id, "tent")
        rebuild(indexing, request(indexing, site_id))
        return site_id

    return built(app, build, __name__)


class Choosy:
    """The real engine, which chokes on products of certain names."""

    def __init__(self, indexing: SearchContext, *names: str) -> None:
        self._engine = indexing.engine
        self._names = names
        self.tries = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._engine, name)

    def apply(self, site_id: int, index: IndexName, changes: Sequence[Change]) -> None:
        self.tries += 1
        if any(isinstance(change, Upsert) and change.document.name in self._names for change in changes):
            raise SearchUnavailable("This cannot be indexed.")
        self._engine.apply(site_id, index, changes)


class Ailing(Choosy):
    """The real engine, which takes no batch, then one record, and from then on fails with a fault."""

    def __init__(self, indexing: SearchContext, fault: EngineFault | None) -> None:
        super().__init__(indexing)
        self.fault = fault
        self.taken = 0

    def apply(self, site_id: int, index: IndexName, changes: Sequence[Change]) -> None:
        if len(changes := list(changes)) > 1:
            raise SearchUnavailable("It is overloaded.", EngineFault.OVERLOADED)
        if self.taken:
            raise SearchUnavailable("It ails.", self.fault)
        super().apply(site_id, index, changes)
        self.taken += 1


class Slow(Choosy):
    """The real engine, for which each batch takes as long as a turn."""

    def __init__(self, indexing: SearchContext, clock: StoppedClock) -> None:
        super().__init__(indexing)
        self._clock = clock

    def apply(self, site_id: int, index: IndexName, changes: Sequence[Change]) -> None:
        super().apply(site_id, index, changes)
        self._clock.move(seconds=TURN)


def choosy(indexing: SearchContext, *names: str) -> SearchContext:
    return SearchContext(indexing.clock, transaction, Choosy(indexing, *names))


def rows() -> list[OutboxEntry]:
    return list(db.session.scalars(select(OutboxEntry).order_by(OutboxEntry.id)))


def test_a_save_is_found_and_its_entry_goes(indexing: SearchContext, site_id: int) -> None:
    with transaction():
        add_product(site_id, "stove")
        add_page(site_id, "delivery")
    apply_waiting(indexing, site_id)
    assert found(indexing, site_id) == {"tent", "stove"}
    assert found(indexing, site_id, IndexName.CONTENT) == {"delivery"}
    assert rows() == []


@pytest.mark.parametrize("end", ["deleted", "disabled"])
def test_a_product_that_is_gone_or_hidden_is_not_found(indexing: SearchContext, site_id: int, end: str) -> None:
    with transaction():
        product = db.session.scalars(select(Product)).one()
        if end == "deleted":
            db.session.delete(product)
        else:
            product.enabled = False
    apply_waiting(indexing, site_id)
    assert found(indexing, site_id) == set()


def test_many_saves_of_one_product_are_one_document(indexing: SearchContext, site_id: int) -> None:
    for price in (1, 2, 3):
        with transaction():
            db.session.scalars(select(Product)).one().price = price
    apply_waiting(indexing, site_id)
    assert indexing.engine.status(site_id, IndexName.PRODUCTS).documents == 1


def test_more_than_a_batch_is_applied_in_one_go(indexing: SearchContext, site_id: int) -> None:
    with transaction():
        db.session.add_all(
            OutboxEntry(site_id=site_id, kind="product", record_id=100_000 + number, attempts=0)
            for number in range(1200)
        )
        add_product(site_id, "stove")
    assert apply_waiting(indexing, site_id) == 1201
    assert found(indexing, site_id) == {"tent", "stove"}


def test_a_turn_ends_with_a_batch_and_the_next_goes_on_from_there(
    indexing: SearchContext, clock: StoppedClock, site_id: int
) -> None:
    with transaction():
        db.session.add_all(
            OutboxEntry(site_id=site_id, kind="product", record_id=100_000 + number, attempts=0)
            for number in range(outbox.AT_ONCE)
        )
        db.session.flush()
        add_product(site_id, "stove")
    slow = SearchContext(clock, transaction, Slow(indexing, clock))
    assert apply_for_a_turn(slow, site_id)
    assert found(indexing, site_id) == {"tent"}
    apply_for_a_turn(slow, site_id)
    assert found(indexing, site_id) == {"tent", "stove"}
    assert not apply_for_a_turn(slow, site_id)


def test_a_turn_of_an_engine_that_takes_no_changes_leaves_nothing_for_another(
    indexing: SearchContext, clock: StoppedClock
) -> None:
    with transaction():
        site_id = add_site("new.test").id
        add_product(site_id, "stove")
    assert not apply_for_a_turn(SearchContext(clock, transaction, Slow(indexing, clock)), site_id)


def test_while_a_rebuild_runs_entries_are_kept_for_it(indexing: SearchContext, site_id: int) -> None:
    run_id = request(indexing, site_id)
    with transaction():
        add_product(site_id, "stove")
    apply_waiting(indexing, site_id)
    assert found(indexing, site_id) == {"tent", "stove"}
    assert [row.applied_at is not None for row in rows()] == [True]
    db.session.rollback()
    rebuild(indexing, run_id)
    assert rows() == []


def test_without_an_index_entries_wait_for_the_first_rebuild(indexing: SearchContext) -> None:
    with transaction():
        site_id = add_site("new.test").id
        add_product(site_id, "stove")
    assert apply_waiting(indexing, site_id) == 0
    assert outbox.count(site_id) == (1, 0)


def test_a_record_the_engine_chokes_on_is_set_aside_and_the_others_flow(indexing: SearchContext, site_id: int) -> None:
    with transaction():
        for sku in ("poison", "stove", "lamp"):
            add_product(site_id, sku)
    apply_waiting(choosy(indexing, "poison"), site_id)
    assert found(indexing, site_id) == {"tent", "stove", "lamp"}
    assert outbox.count(site_id) == (0, 1)
    assert "This cannot be indexed." in outbox.set_aside(site_id)[0].error


def test_a_record_that_makes_no_document_is_set_aside(indexing: SearchContext, site_id: int) -> None:
    with transaction():
        add_product(site_id, "stove")
        add_product(site_id, "poison").taxonomy_attributes = 7  # type: ignore[assignment]
    apply_waiting(indexing, site_id)
    assert found(indexing, site_id) == {"tent", "stove"}
    assert outbox.count(site_id) == (0, 1)


def test_saving_a_record_that_was_set_aside_gives_it_another_chance(indexing: SearchContext, site_id: int) -> None:
    with transaction():
        add_product(site_id, "poison").taxonomy_attributes = 7  # type: ignore[assignment]
    apply_waiting(indexing, site_id)
    with transaction():
        db.session.scalars(select(Product).where(Product.sku == "poison")).one().taxonomy_attributes = {}
    apply_waiting(indexing, site_id)
    assert found(indexing, site_id) == {"tent", "poison"}
    assert outbox.count(site_id) == (0, 0)


def test_an_engine_that_takes_nothing_sets_nothing_aside(indexing: SearchContext, site_id: int) -> None:
    skus = [f"peg-{number}" for number in range(20)]
    with transaction():
        for sku in skus:
            add_product(site_id, sku)
    broken = choosy(indexing, *skus)
    with pytest.raises(SearchUnavailable):
        apply_waiting(broken, site_id)
    assert outbox.count(site_id) == (20, 0)
    assert broken.engine.tries == 4


@pytest.mark.parametrize("fault", [None, EngineFault.UNREACHABLE, EngineFault.SLOW, EngineFault.OVERLOADED])
def test_an_engine_that_ails_while_records_go_one_by_one_sets_nothing_aside(
    indexing: SearchContext, site_id: int, fault: EngineFault | None
) -> None:
    with transaction():
        for number in range(20):
            add_product(site_id, f"peg-{number}")
    ailing = SearchContext(indexing.clock, transaction, cast(SearchEngine, Ailing(indexing, fault)))
    with pytest.raises(SearchUnavailable, match="It ails"):
        apply_waiting(ailing, site_id)
    db.session.rollback()
    assert outbox.count(site_id) == (20, 0)
    apply_waiting(indexing, site_id)
    assert len(found(indexing, site_id)) == 21


def test_an_index_that_is_lost_while_records_go_one_by_one_sets_nothing_aside(
    indexing: SearchContext, site_id: int, tmp_path: Path
) -> None:
    class Lost(Ailing):
        def apply(self, site_id: int, index: IndexName, changes: Sequence[Change]) -> None:
            try:
                super().apply(site_id, index, changes)
            finally:
                if self.taken:
                    shutil.rmtree(tmp_path / "index" / str(site_id), ignore_errors=True)

    with transaction():
        for number in range(20):
            add_product(site_id, f"peg-{number}")
    losing = SearchContext(indexing.clock, transaction, cast(SearchEngine, Lost(indexing, EngineFault.INDEX)))
    with pytest.raises(SearchUnavailable):
        apply_waiting(losing, site_id)
    db.session.rollback()
    assert outbox.count(site_id) == (20, 0)
