"""F01 to F04: whatever ends or halts the process that builds, the old or the new index is live and whole."""

from __future__ import annotations

import os
import signal

import pytest
from sqlalchemy import select

from app.domain.search.index import runs
from app.domain.search.index.rebuild import rebuild
from app.domain.search.models import RebuildRun
from app.extensions import db
from app.operations.supervisor.embedded_redis import EmbeddedRedis
from app.transaction import transaction
from tests.faults.faulty_engine import POINTS
from tests.faults.shops import SITE, Shop, check, need_strace
from tests.injected_faults import injected
from tests.searching import request
from tests.waiting import until

AFTER_THE_SWAP = ("published", "discard")


@pytest.mark.fault("F01")
@pytest.mark.parametrize("point", POINTS)
def test_killed_at_a_point_of_the_protocol(shop: Shop, point: str) -> None:
    """F01."""
    before = shop.live
    said = shop.save(5)
    builder = shop.do("rebuild", fault=f"{point}:KILL")
    assert builder.finish() == -signal.SIGKILL
    assert (shop.live != before) == (point in AFTER_THE_SWAP)
    said += shop.save(5)
    check(shop, said)


KILLED_IN = [("write", 3), ("write", 12), ("fsync", 2), ("fsync", 4), ("rename", 1), ("rename", 3), ("unlink", 1)]


@pytest.mark.fault("F01")
@pytest.mark.parametrize(("call", "number"), KILLED_IN)
def test_killed_in_a_system_call(shop: Shop, call: str, number: int) -> None:
    """F01."""
    need_strace()
    builder = shop.do("rebuild", strace=("-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={number}"))
    assert builder.finish() != 0
    check(shop)


@pytest.mark.fault("F01")
@pytest.mark.torture
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("call", ["write", "pwrite64", "fsync", "fdatasync", "rename", "unlink", "mkdir", "symlink"])
def test_killed_in_every_system_call(shop: Shop, call: str) -> None:
    need_strace()
    for number in range(1, 400):
        builder = shop.do("rebuild", strace=("-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={number}"))
        if builder.finish() == 0:
            return
        check(shop)


def run_is_done(shop: Shop) -> bool:
    return shop.run()[0] == "done"


@pytest.mark.fault("F02")
def test_an_orphan_whose_worker_was_killed_is_the_one_that_publishes(shop: Shop, redis: EmbeddedRedis) -> None:
    """F02: the second worker finds the run taken and leaves it alone."""
    before = shop.live
    first = shop.do("work", "builds", fault="sealed:3")
    shop.do("request_rebuild").finish()
    until(lambda: shop.run()[0] == "running")
    os.kill(first.pid, signal.SIGKILL)
    injected()
    shop.do("work", "builds")
    until(lambda: run_is_done(shop))
    assert shop.live != before
    with shop.opened():
        assert db.session.scalars(select(RebuildRun.fence).order_by(RebuildRun.created_at.desc())).first() == 1
    check(shop)


@pytest.mark.fault("F03")
def test_a_builder_that_was_halted_past_its_lease_publishes_nothing(shop: Shop) -> None:
    """F03."""
    before = shop.live
    builder = shop.do("rebuild", fault="sealed:STOP")
    builder.until_stopped()
    with shop.opened(minutes_from_now=1) as indexing, transaction():
        assert len(runs.expire_runs(indexing.clock, indexing.engine)) == 1
    builder.signal("CONT")
    assert builder.finish() == 0
    assert shop.live == before
    assert shop.run() == ("failed", "The process that built the index stopped before it was done.")
    check(shop)


@pytest.mark.fault("F03")
def test_a_builder_that_was_halted_does_not_hinder_the_next(shop: Shop) -> None:
    """F03: the next builds while the late one is still there, and removes what that has made."""
    late = shop.do("rebuild", fault="sealed:STOP")
    late.until_stopped()
    with shop.opened(minutes_from_now=1) as indexing:
        with transaction():
            runs.expire_runs(indexing.clock, indexing.engine)
        assert rebuild(indexing, request(indexing, SITE, "PRODUCTS"))
    published = shop.live
    late.signal("CONT")
    assert late.finish() == 0
    assert shop.live == published
    check(shop)


@pytest.mark.fault("F04")
def test_a_worker_that_is_told_to_stop_ends_its_build_cleanly(shop: Shop, redis: EmbeddedRedis) -> None:
    """F04."""
    before = shop.live
    worker = shop.do("work", "builds", fault="added:60")
    shop.do("request_rebuild").finish()
    until(lambda: shop.run()[0] == "running")
    until(lambda: any(name.endswith(".tmp") for name in shop.generations))
    worker.signal("TERM")
    injected()
    worker.finish(seconds=10)
    assert shop.run() == ("failed", "The worker was stopped while it built the index.")
    assert shop.live == before
    assert shop.generations == {before}
    check(shop)
