"""A rebuild ends with an index that equals the database, whatever happens meanwhile."""

from __future__ import annotations

import errno
from collections.abc import Iterator

import pytest
from flask import Flask
from sqlalchemy import Connection, insert, select, update
from sqlalchemy.orm import Session

from app.domain.catalogue.models import Product
from app.domain.relevance.overview import run_summary
from app.domain.search.engine import IndexName, SearchContext
from app.domain.search.index import runs
from app.domain.search.index.outbox import apply_waiting
from app.domain.search.index.rebuild import rebuild
from app.domain.search.index.runs import REBUILD
from app.domain.search.models import OutboxEntry, RebuildRun
from app.domain.sites.settings import change_settings
from app.domain.work import leases
from app.extensions import db
from app.transaction import transaction
from tests.fakes.clock import StoppedClock
from tests.searching import add_page, add_product, add_site, found, request
from tests.searching_interrupted import Interrupted
from tests.snapshots import built

pytestmark = pytest.mark.usefixtures("context")


STEPS = ("start", "add", "added", "sealed", "lock")


@pytest.fixture
def site_id(app: Flask, indexing: SearchContext) -> int:
    """A shop with a tent and a stove in its index."""

    def build() -> int:
        with transaction():
            site_id = add_site().id
            add_product(site_id, "tent")
            add_product(site_id, "stove")
            add_page(site_id, "delivery", "<p>We deliver on Mondays.</p>")
        rebuild(indexing, request(indexing, site_id))
        return site_id

    return built(app, build, __name__)


def product(sku: str) -> Product:
    return db.session.scalars(select(Product).where(Product.sku == sku)).one()


def run_of(run_id: str) -> RebuildRun:
    db.session.rollback()
    return db.session.get_one(RebuildRun, run_id)


def outbox_rows() -> int:
    return len(db.session.scalars(select(OutboxEntry)).all())


def test_it_indexes_what_is_enabled(indexing: SearchContext, site_id: int) -> None:
    with transaction():
        product("stove").enabled = False
    rebuild(indexing, request(indexing, site_id))
    assert found(indexing, site_id) == {"tent"}
    assert found(indexing, site_id, IndexName.CONTENT) == {"delivery"}


def test_it_says_how_far_it_came_and_how_it_ended(indexing: SearchContext, site_id: int) -> None:
    run_id = request(indexing, site_id)
    assert run_of(run_id).state == "waiting"
    assert rebuild(indexing, run_id)
    run = run_of(run_id)
    assert (run.state, run.done, run.total, run.error) == ("done", 3, 3, None)


def test_a_scope_leaves_the_other_index_alone(indexing: SearchContext, site_id: int) -> None:
    before = indexing.engine.status(site_id, IndexName.PRODUCTS).generation
    rebuild(indexing, request(indexing, site_id, "CONTENT"))
    assert indexing.engine.status(site_id, IndexName.PRODUCTS).generation == before


def test_afterwards_no_entry_is_left(indexing: SearchContext, site_id: int) -> None:
    with transaction():
        add_product(site_id, "lamp")
    rebuild(indexing, request(indexing, site_id))
    assert outbox_rows() == 0


@pytest.mark.parametrize("step", STEPS)
def test_what_is_saved_while_it_runs_is_in_the_new_index(indexing: SearchContext, site_id: int, step: str) -> None:
    def shopkeeping() -> None:
        with transaction():
            add_product(site_id, "lamp")
            product("tent").name = "big tent"
            db.session.delete(product("stove"))
        db.session.remove()

    interrupted = Interrupted(indexing.engine, step, shopkeeping)
    rebuild(SearchContext(indexing.clock, transaction, interrupted), request(indexing, site_id))
    assert interrupted.step == "passed"
    assert found(indexing, site_id) == {"lamp", "tent"}
    assert found(indexing, site_id, words="big") == {"tent"}


@pytest.mark.parametrize("step", STEPS)
def test_what_is_applied_to_the_old_index_meanwhile_is_in_the_new_one_too(
    indexing: SearchContext, site_id: int, step: str
) -> None:
    def save_and_apply() -> None:
        with transaction():
            add_product(site_id, "lamp")
        if step != "lock":
            apply_waiting(indexing, site_id)
            assert "lamp" in found(indexing, site_id)

    interrupted = Interrupted(indexing.engine, step, save_and_apply)
    rebuild(SearchContext(indexing.clock, transaction, interrupted), request(indexing, site_id))
    assert "lamp" in found(indexing, site_id)
    assert outbox_rows() == 0


@pytest.mark.parametrize("nth", [1, 2])
@pytest.mark.parametrize("step", [*STEPS, "replay", "publish"])
def test_a_failure_leaves_both_old_indexes_live_and_says_why(
    indexing: SearchContext, site_id: int, step: str, nth: int
) -> None:
    """At the first index of the two that are built, and at the second."""

    def fill_the_disk() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with transaction():
        add_product(site_id, "lamp")
        add_page(site_id, "returns")
    before = [indexing.engine.status(site_id, index).generation for index in IndexName]
    run_id = request(indexing, site_id)
    rebuild(SearchContext(indexing.clock, transaction, Interrupted(indexing.engine, step, fill_the_disk, nth)), run_id)
    run = run_of(run_id)
    assert (run.state, run.error) == ("failed", "There is no space left on the disk. Free some, then rebuild.")
    assert [indexing.engine.status(site_id, index).generation for index in IndexName] == before
    assert found(indexing, site_id) == {"tent", "stove"}
    assert found(indexing, site_id, IndexName.CONTENT) == {"delivery"}
    shown = run_summary(indexing.clock, indexing.engine, run)
    assert shown.aftermath == "The old index stays live, so shoppers notice nothing."
    apply_waiting(indexing, site_id)
    assert found(indexing, site_id) == {"tent", "stove", "lamp"}
    assert found(indexing, site_id, IndexName.CONTENT) == {"delivery", "returns"}


def test_a_worker_that_is_told_to_stop_says_so_in_the_run(indexing: SearchContext, site_id: int) -> None:
    def stop() -> None:
        raise SystemExit("The worker is being stopped.")

    run_id = request(indexing, site_id)
    with pytest.raises(SystemExit):
        rebuild(SearchContext(indexing.clock, transaction, Interrupted(indexing.engine, "added", stop)), run_id)
    assert run_of(run_id).error == "The worker was stopped while it built the index."


@pytest.mark.parametrize("step", ["added", "sealed", "lock"])
def test_a_builder_that_lost_its_run_publishes_nothing(
    indexing: SearchContext, site_id: int, clock: StoppedClock, step: str
) -> None:
    def outlast_the_lease() -> None:
        clock.move(seconds=60)
        with transaction():
            assert [run.id for run in runs.expire_runs(clock, indexing.engine)] == [run_id]

    before = indexing.engine.status(site_id, IndexName.PRODUCTS).generation
    run_id = request(indexing, site_id)
    late = SearchContext(clock, transaction, Interrupted(indexing.engine, step, outlast_the_lease))
    assert not rebuild(late, run_id)
    assert run_of(run_id).state == "failed"
    assert indexing.engine.status(site_id, IndexName.PRODUCTS).generation == before


def test_a_builder_that_died_right_after_the_swap_leaves_a_run_that_is_done(
    indexing: SearchContext, site_id: int, clock: StoppedClock
) -> None:
    class Killed(BaseException):
        """Nothing after this point happens, as after SIGKILL."""

    def die() -> None:
        raise Killed

    run_id = request(indexing, site_id, "ALL")
    with pytest.raises(Killed):
        rebuild(SearchContext(clock, transaction, Interrupted(indexing.engine, "swapped", die)), run_id)
    with transaction():
        run = db.session.get_one(RebuildRun, run_id)
        run.state, run.error, run.lease_until = "running", None, clock.now()
    with transaction():
        runs.expire_runs(clock, indexing.engine)
    assert run_of(run_id).state == "done"


def test_while_another_process_builds_the_index_nobody_else_does(
    indexing: SearchContext, site_id: int, clock: StoppedClock
) -> None:
    run_id = request(indexing, site_id)
    with transaction():
        other = leases.claim(REBUILD, clock, RebuildRun.id == run_id)
    assert other and not rebuild(indexing, run_id)
    assert (run_of(run_id).state, run_of(run_id).fence) == ("running", other.fence)
    clock.move(seconds=REBUILD.lease.total_seconds())
    assert not rebuild(indexing, run_id), "what it left is not resumed"
    with transaction():
        runs.expire_runs(clock, indexing.engine)
    assert rebuild(indexing, request(indexing, site_id))


def test_a_builder_that_lost_its_run_does_not_hinder_the_one_that_has_it(
    indexing: SearchContext, site_id: int, clock: StoppedClock
) -> None:
    """The later one begins while the earlier is still at it, and takes what that has made for debris."""

    def another_builds() -> None:
        clock.move(seconds=60)
        with transaction():
            runs.expire_runs(clock, indexing.engine)
            add_product(site_id, "lamp")
        assert rebuild(indexing, request(indexing, site_id))

    run_id = request(indexing, site_id)
    rebuild(SearchContext(clock, transaction, Interrupted(indexing.engine, "sealed", another_builds)), run_id)
    assert run_of(run_id).error == "The process that built the index stopped before it was done."
    assert found(indexing, site_id) == {"tent", "stove", "lamp"}


def test_a_run_is_built_once(indexing: SearchContext, site_id: int) -> None:
    run_id = request(indexing, site_id)
    assert rebuild(indexing, run_id)
    assert not rebuild(indexing, run_id)


def test_content_search_switched_off_meanwhile_leaves_the_products_rebuilt(
    indexing: SearchContext, site_id: int
) -> None:
    def switch_off() -> None:
        with transaction():
            change_settings(site_id, {"search-content-enabled": False})

    content_before = indexing.engine.status(site_id, IndexName.CONTENT).generation
    run_id = request(indexing, site_id)
    rebuild(SearchContext(indexing.clock, transaction, Interrupted(indexing.engine, "lock", switch_off)), run_id)
    assert run_of(run_id).state == "done"
    assert indexing.engine.status(site_id, IndexName.CONTENT).generation == content_before


# SQLite lets nobody save beside somebody who does.
out_of_order = pytest.mark.parametrize("database_kind", ["postgresql"], indirect=True)


@pytest.fixture
def slow_saver(app: Flask) -> Iterator[Connection]:
    """Somebody who saves in a transaction that stays open."""
    with app.app_context(), db.engine.connect() as connection:
        yield connection


@out_of_order
def test_a_save_that_commits_after_later_ones_is_not_skipped(
    indexing: SearchContext, site_id: int, slow_saver: Connection
) -> None:
    """Its entry has a lower number than entries that were applied, and than those the rebuild saw."""
    slow = Session(slow_saver)
    slow.execute(insert(OutboxEntry), {"site_id": site_id, "kind": "product", "record_id": product("tent").id})
    slow.execute(update(Product.__table__).where(Product.__table__.c.sku == "tent").values(name="yurt"))
    with transaction():
        add_product(site_id, "lamp")
    apply_waiting(indexing, site_id)
    late = Interrupted(indexing.engine, "sealed", slow.commit)
    rebuild(SearchContext(indexing.clock, transaction, late), request(indexing, site_id))
    assert found(indexing, site_id, words="yurt") == {"tent"}


@out_of_order
def test_a_save_that_commits_after_later_ones_is_applied(
    indexing: SearchContext, site_id: int, slow_saver: Connection
) -> None:
    slow = Session(slow_saver)
    slow.execute(insert(OutboxEntry), {"site_id": site_id, "kind": "product", "record_id": product("tent").id})
    slow.execute(update(Product.__table__).where(Product.__table__.c.sku == "tent").values(name="yurt"))
    with transaction():
        add_product(site_id, "lamp")
    apply_waiting(indexing, site_id)
    slow.commit()
    apply_waiting(indexing, site_id)
    assert found(indexing, site_id, words="yurt") == {"tent"}
    assert outbox_rows() == 0
