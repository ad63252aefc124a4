"""F47: no scheduler runs for days, then two at once."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import func, select

from app.domain.machines.coexistence import on_machine
from app.domain.search.models import JobSlot, ReconcileReport
from app.extensions import db
from app.jobs.scheduled import SCHEDULED, machine_of
from app.transaction import transaction
from tests.faults.shops import Shop, check
from tests.injected_faults import injected
from tests.waiting import until

pytestmark = pytest.mark.fault("F47")


def reports(shop: Shop) -> int:
    with shop.opened():
        return db.session.scalar(select(func.count()).select_from(ReconcileReport)) or 0


def slots(shop: Shop) -> dict[str, int]:
    """How many slots of each job were claimed since yesterday."""
    with shop.opened() as indexing:
        recent = JobSlot.slot > indexing.clock.now() - timedelta(days=2)
        counted = select(JobSlot.job, func.count()).where(recent).group_by(JobSlot.job)
        return {job: count for job, count in db.session.execute(counted)}


def test_what_was_missed_without_a_scheduler_is_done_once_by_two(shop: Shop) -> None:
    said = shop.save(3)
    with shop.opened() as indexing, transaction():
        week_ago = indexing.clock.now() - timedelta(days=7)
        names = [on_machine(name, machine_of(job)) for name, job in SCHEDULED.items()]
        db.session.add_all(JobSlot(job=name, slot=week_ago, claimed_at=week_ago) for name in names)
    first, second = shop.do("scheduler"), shop.do("scheduler")
    injected(2)
    until(lambda: reports(shop) and slots(shop).keys() == {*names}, 60)
    first.signal("KILL")
    first.finish()
    said += shop.save(3)
    until(lambda: _applied(shop, said), 60)  # By the second, which has looked at the jobs as well.
    assert second.is_running and reports(shop) == 1
    assert slots(shop)["reconcile"] == 1
    second.signal("KILL")
    second.finish()
    check(shop, said)


def _applied(shop: Shop, said: list[str]) -> bool:
    saved = [line.split() for line in said if line.startswith("saved new-")]
    found = shop.found()
    return all(sku in found for _, sku, _ in saved)
