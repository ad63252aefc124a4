"""F18: the queue answers slowly, not at all, or tears its connections. A save waits for it once and hardly, and what
it did not hear of is done all the same."""

from __future__ import annotations

import time

import pytest

from app.adapters.queue import TIMEOUT, RqQueue
from app.operations.supervisor.embedded_redis import EmbeddedRedis
from app.transaction import transaction
from tests.faults.proxy import proxied
from tests.faults.shops import SITE, Shop, check
from tests.injected_faults import injected
from tests.searching import add_product
from tests.waiting import until

pytestmark = pytest.mark.fault("F18")

MOST_SECONDS = 0.5


@pytest.mark.parametrize("connected", [True, False], ids=["connected", "not connected"])
@pytest.mark.parametrize("fault", ["slow", "silent", "reset"])
def test_saves_hardly_wait_for_a_queue_that_ails(shop: Shop, redis: EmbeddedRedis, fault: str, connected: bool) -> None:
    with proxied(redis.socket) as proxy:
        queue = RqQueue(f"redis://127.0.0.1:{proxy.port}", shop.config.queue_prefix)
        if connected:
            assert queue.enqueue("events:deliver")
        proxy.fault = fault
        injected()
        with shop.opened(queue=queue):
            waits = [saving(number) for number in range(10)]
            assert fault == "reset" or max(waits) > TIMEOUT, "the fault happened"
            assert max(waits) < MOST_SECONDS and sum(waits) < 2 * MOST_SECONDS, "only the first asks the queue"
        proxy.fault = ""
    shop.do("eager_scheduler")
    until(lambda: len([sku for sku in shop.found() if sku.startswith("ailing")]) == 10)
    check(shop, [f"saved ailing-{number} saved" for number in range(10)])


def saving(number: int) -> float:
    before = time.monotonic()
    with transaction():
        add_product(SITE, f"ailing-{number}", "saved")
    return time.monotonic() - before
