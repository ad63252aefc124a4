"""F29: PostgreSQL, or the network to it, goes silent: nothing is refused, nothing closed, and no answer comes."""

from __future__ import annotations

import http.client
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import make_url

from app.domain.alerts.alerts import open_alerts, unwritten_alerts
from app.domain.alerts.causes import Cause
from app.domain.machines import machines
from app.jobs.scheduler import Scheduler
from tests.faults.browser import HOST
from tests.faults.proxy import Proxy, proxied
from tests.faults.shops import Shop
from tests.faults.test_postgresql import server, shop
from tests.faults.web_process import WebProcess, web_process
from tests.injected_faults import injected
from tests.waiting import until

__all__ = ["server", "shop"]
pytestmark = pytest.mark.fault("F29")

MACHINE, PRODUCTS = "/readyz?scope=machine", "/v1/product"
LONGEST_WAIT = 3.0  # For what waits for nothing, on a busy machine.
MOST_SECONDS = 25.0  # For a refusal: a connection that hangs, then a new one that is not made.


@pytest.fixture
def network(shop: Shop) -> Iterator[Proxy]:
    folder = make_url(shop.config.database_url).query["host"]
    with proxied(Path(str(folder)) / ".s.PGSQL.5432") as proxy:
        yield proxy


@pytest.fixture
def address(shop: Shop, network: Proxy) -> str:
    """The database's address through the network that can go silent."""
    database = make_url(shop.config.database_url).database
    return f"postgresql+psycopg://shop@127.0.0.1:{network.port}/{database}"


def answer(web: WebProcess, path: str) -> tuple[int, float]:
    """The status of an address, and the seconds until it came."""
    before = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", web.port, timeout=2 * MOST_SECONDS)
    try:
        connection.request("GET", path, headers={"Host": HOST})
        status = connection.getresponse().status
    finally:
        connection.close()
    return status, time.monotonic() - before


def test_a_web_server_answers_that_it_lives_and_that_it_is_not_ready(shop: Shop, network: Proxy, address: str) -> None:
    with web_process(shop, DATABASE_URL=address) as web, ThreadPoolExecutor(12) as clients:
        assert [answer(web, path)[0] for path in (MACHINE, "/", PRODUCTS)] == [200] * 3
        network.fault = "silent"
        injected()
        looks = [clients.submit(answer, web, MACHINE) for _ in range(6)]
        pages = [clients.submit(answer, web, PRODUCTS) for _ in range(4)]
        while not all(look.done() for look in looks):
            assert web.seconds_for("/healthz") < LONGEST_WAIT
            assert web.seconds_for("/static/admin/base.css") < MOST_SECONDS
        for look in (*looks, *pages):
            status, seconds = look.result()
            assert (status, seconds < MOST_SECONDS) == (503, True), seconds
        network.fault = ""
        until(lambda: answer(web, MACHINE)[0] == 200, 30)
        assert answer(web, PRODUCTS)[0] == 200


def test_a_scheduler_notes_that_the_database_is_gone_and_goes_on_once_it_answers(
    shop: Shop, network: Proxy, address: str
) -> None:
    """Whatever a look does: it meets the silence on its first connection, and then on new ones."""
    shop.config = replace(shop.config, database_url=f"{address}?connect_timeout=2")
    with shop.opened() as context:
        scheduler = Scheduler(lambda _name, work: work() or True)
        scheduler.look()
        network.fault = "silent"
        injected()
        for _ in range(2):
            context.clock.move(seconds=30)
            before = time.monotonic()
            scheduler.look()
            assert time.monotonic() - before < MOST_SECONDS
        assert [alert.cause for alert in unwritten_alerts(context.clock)] == [Cause.DATABASE_GONE]
        network.fault = ""
        context.clock.move(seconds=15)
        scheduler.look()
        assert [alert.cause for alert in open_alerts(None)] == ["database_gone"]
        assert machines.is_recent(context.clock, machines.last_seen(context.machine))
