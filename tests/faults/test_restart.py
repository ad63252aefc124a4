"""F07 and F08: a builder died between the swap and its commit, or the disk of the index is older than the database."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest

from app.jobs.scheduler import Scheduler
from app.ports import clock
from tests.faults.shops import Shop, check
from tests.injected_faults import injected


def look_twice(shop: Shop) -> None:
    """A scheduler that starts and does what it finds to do."""
    with shop.opened(minutes_from_now=1):
        scheduler = Scheduler(lambda _name, work: work() or True)
        scheduler.look()
        clock().move(seconds=10)  # type: ignore[attr-defined]
        scheduler.look()


@pytest.mark.fault("F07")
def test_a_swap_whose_builder_died_right_after_it_stands_and_nothing_is_built_again(shop: Shop) -> None:
    """F07."""
    before, said = shop.live, shop.save(5)
    assert shop.do("rebuild", fault="published:KILL").finish() == -signal.SIGKILL
    published = shop.live
    assert published != before and shop.run()[0] == "running"
    said += shop.save(3)
    look_twice(shop)
    assert shop.run() == ("done", None) and len(shop.runs()) == 1
    assert shop.live == published
    check(shop, said)


@pytest.mark.fault("F08")
def test_an_index_that_is_older_than_the_database_says_is_repaired_by_the_nightly_comparison(
    shop: Shop, tmp_path: Path
) -> None:
    """F08: the outbox no longer holds what the old generation lacks."""
    before = tmp_path / "before"
    shutil.copytree(shop.index, before, symlinks=True)
    said = shop.save(5)
    assert shop.do("rebuild").finish() == 0
    shutil.rmtree(shop.index)
    shutil.move(before, shop.index)
    injected()
    said += shop.save(3)
    look_twice(shop)
    assert shop.do("job", "reconcile").finish() == 0
    check(shop, said)
