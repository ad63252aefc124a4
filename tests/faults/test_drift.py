"""F43 and F44: nightly jobs repair and clear up, and can be killed and run again."""

from __future__ import annotations

import signal

import pytest
from sqlalchemy import func, select

from app.domain.search.engine import Delete, IndexDocument, IndexName, Upsert
from app.domain.search.index.reconcile import reconcile
from app.domain.search.models import RebuildRun, ReconcileReport
from app.extensions import db
from tests.faults.shops import SITE, Shop, check
from tests.injected_faults import injected


def drift(shop: Shop) -> None:
    """Two documents lost, one too many, one in an old state, in the live index."""
    with shop.opened() as indexing, indexing.engine.exclusive(SITE, IndexName.PRODUCTS):
        stale = Upsert(IndexDocument("p3", "old", card={"sku": "sku-2", "name": "old"}, digest="old"))
        extra = Upsert(IndexDocument("p999999", "ghost", card={"sku": "ghost", "name": "ghost"}, digest="ghost"))
        indexing.engine.apply(SITE, IndexName.PRODUCTS, [Delete("p1"), Delete("p2"), stale, extra])
    injected(4)


def reports(shop: Shop) -> list[tuple[int, int, int]]:
    with shop.opened():
        rows = db.session.execute(
            select(ReconcileReport.missing, ReconcileReport.extra, ReconcileReport.stale).order_by(ReconcileReport.id)
        )
        return [tuple(row) for row in rows]  # type: ignore[misc]


@pytest.mark.fault("F43")
def test_drift_is_counted_and_repaired_while_saves_go_on(shop: Shop) -> None:
    """F43."""
    drift(shop)
    saver = shop.do("save", "0")
    saver.line()
    assert shop.do("job", "reconcile").finish() == 0
    saver.signal("KILL")
    saver.finish()
    (counted,) = reports(shop)
    # A save of a drifted record repairs it too, so there may be less to count by then.
    assert 1 <= sum(counted) <= 4
    check(shop, saver.said)


@pytest.mark.fault("F43")
def test_drift_is_counted_exactly_when_nothing_else_happens(shop: Shop) -> None:
    """F43."""
    drift(shop)
    assert shop.do("job", "reconcile").finish() == 0
    with shop.opened() as indexing:
        reconcile(indexing, SITE)
    assert reports(shop) == [(2, 1, 1), (0, 0, 0)]


@pytest.mark.fault("F44")
def test_a_reconciliation_that_was_killed_is_finished_by_the_next(shop: Shop) -> None:
    """F44."""
    drift(shop)
    assert shop.do("job", "reconcile", fault="apply:KILL").finish() == -signal.SIGKILL
    assert shop.do("job", "reconcile").finish() == 0
    assert reports(shop) == [(2, 1, 1), (0, 0, 0)]
    check(shop)


@pytest.mark.fault("F44")
def test_a_purge_run_twice_removes_no_more_than_once(shop: Shop) -> None:
    """F44."""
    injected()
    for _ in range(2):
        assert shop.do("job", "purge").finish() == 0
    with shop.opened():
        assert db.session.scalar(select(func.count()).select_from(RebuildRun)) == 1
