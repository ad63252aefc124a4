"""F14 to F17: the queue only wakes; what must happen stands in the database and happens without it."""

from __future__ import annotations

import time

import pytest
from redis import Redis

from app.adapters.queue import RqQueue
from app.operations.supervisor.embedded_redis import EmbeddedRedis
from app.transaction import transaction
from tests.faults.shops import SITE, Shop, check
from tests.injected_faults import injected
from tests.searching import add_product
from tests.waiting import until


def run_has_ended(shop: Shop) -> bool:
    return shop.run()[0] in ("done", "failed")


@pytest.mark.fault("F14", "F15")
def test_a_save_is_found_in_time_although_the_queue_stays_down(shop: Shop, redis: EmbeddedRedis) -> None:
    """F14 and F15: the scheduler applies the outbox, and builds what nobody else does."""
    redis.stop(5)
    injected()
    shop.do("scheduler")
    with shop.opened(queue=RqQueue(redis.url, shop.config.queue_prefix)):
        before = time.monotonic()
        with transaction():
            add_product(SITE, "late", "saved without a queue")
        assert time.monotonic() - before < 0.5
    until(lambda: shop.found().get("late"), seconds=10)
    shop.do("request_rebuild").finish()
    assert shop.run()[0] in ("waiting", "running")
    until(lambda: shop.run()[0] == "done", seconds=30)
    check(shop)


@pytest.mark.fault("F16")
def test_a_build_survives_the_death_of_the_queue(shop: Shop, redis: EmbeddedRedis) -> None:
    """F16: the worker ends; its build ends with a result."""
    worker = shop.do("work", "builds", fault="added:2")
    shop.do("request_rebuild").finish()
    until(lambda: shop.run()[0] == "running")
    redis.stop(0)
    injected()
    worker.finish()
    until(lambda: run_has_ended(shop))
    check(shop)


@pytest.mark.fault("F17")
def test_what_a_flushed_queue_forgot_is_asked_for_again(shop: Shop, redis: EmbeddedRedis) -> None:
    """F17."""
    said = shop.save(3)
    shop.do("request_rebuild").finish()
    with Redis.from_url(redis.url) as connection:
        assert connection.keys("*builds*")
        connection.flushall()
        injected()
    shop.do("work", "builds")
    shop.do("eager_scheduler")
    until(lambda: shop.run()[0] == "done", seconds=30)
    check(shop, said)
