"""What search keeps only for a time goes, but never what its status tells."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select

from app.domain.search.index.runs import RETENTIONS
from app.domain.search.models import RebuildRun
from app.extensions import db
from app.transaction import transaction
from tests.fakes.clock import StoppedClock
from tests.purging import purged
from tests.searching import add_site

pytestmark = pytest.mark.usefixtures("context")


def add_run(
    clock: StoppedClock, site_id: int, run_id: str, days: float, scope: str = "ALL", state: str = "done"
) -> None:
    at = clock.now() - timedelta(days=days)
    db.session.add(
        RebuildRun(
            id=run_id, site_id=site_id, scope=scope, state=state, requested_by="x", created_at=at, generations={}
        )
    )


def left(clock: StoppedClock) -> set[str]:
    purged(clock, *RETENTIONS)
    return set(db.session.scalars(select(RebuildRun.id)))


def test_the_last_rebuild_of_a_site_stays_however_old(clock: StoppedClock) -> None:
    with transaction():
        quiet, busy = add_site("quiet.test").id, add_site("busy.test").id
        add_run(clock, quiet, "older", 90)
        add_run(clock, quiet, "only", 60)
        add_run(clock, busy, "replaced", 50)
        add_run(clock, busy, "fresh", 1)
    assert left(clock) == {"only", "fresh"}


def test_a_failure_does_not_take_the_place_of_what_was_done(clock: StoppedClock) -> None:
    with transaction():
        site_id = add_site().id
        add_run(clock, site_id, "done", 60)
        add_run(clock, site_id, "content", 55, scope="CONTENT")
        add_run(clock, site_id, "failed", 50, state="failed")
        add_run(clock, site_id, "failed last", 40, state="failed")
    assert left(clock) == {"done", "content", "failed last"}


def test_a_run_is_kept_for_thirty_days_to_the_second(clock: StoppedClock) -> None:
    a_second = timedelta(seconds=1) / timedelta(days=1)
    with transaction():
        site_id = add_site().id
        for days in (31, 30 + a_second, 30, 29, 0):
            add_run(clock, site_id, f"{days:.5f} days", days)
    assert left(clock) == {"30.00000 days", "29.00000 days", "0.00000 days"}
