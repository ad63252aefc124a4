"""The history of rebuilds has all of 30 days, and nothing else."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.adapters.null_engine import NullEngine
from app.domain.relevance.overview import rebuild_history
from app.transaction import transaction
from tests.factories import make_run, make_site
from tests.fakes.clock import StoppedClock

pytestmark = pytest.mark.usefixtures("context")


@pytest.mark.parametrize(
    ("age", "is_shown"),
    [
        (timedelta(days=29), True),
        (timedelta(days=30), True),
        (timedelta(days=30, seconds=1), False),
        (timedelta(days=31), False),
    ],
)
def test_a_run_is_shown_for_thirty_days_after_its_end(clock: StoppedClock, age: timedelta, is_shown: bool) -> None:
    """Also before the nightly purge, and where it is kept as the latest that was done."""
    with transaction():
        site = make_site()
        make_run(site, created_at=clock.now() - age - timedelta(minutes=5), finished_at=clock.now() - age)
    assert rebuild_history(clock, NullEngine(), site.id).total_items == is_shown


def test_all_are_shown_a_page_at_a_time_the_latest_first(clock: StoppedClock) -> None:
    with transaction():
        site, other = make_site(), make_site("other.test")
        make_run(other, created_at=clock.now(), finished_at=clock.now())
        for hours in range(60):
            at = clock.now() - timedelta(hours=hours)
            make_run(site, created_at=at, finished_at=at, done=hours)
    pages = [rebuild_history(clock, NullEngine(), site.id, number, page_size=25) for number in (1, 2, 3, 4)]
    assert [run.done for page in pages for run in page.items] == list(range(60))
    assert [(page.total_items, page.total_pages) for page in pages] == [(60, 3)] * 4
