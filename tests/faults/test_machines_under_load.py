"""F53 and F54: two machines behind a proxy, with PostgreSQL, two Redis, OpenSearch and a bucket between them. One is
killed, stopped, upgraded while the shop is busy: a request is lost only with the machine that has it in hand."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest
from sqlalchemy import create_engine, text

from app.operations.supervisor.parts import NEEDS_A_STOP, PREPARED, PREPARED_WITH_DEMO
from tests.balancer import Balancer, balancer_before
from tests.injected_faults import injected
from tests.load import PAGES, Load, load_on
from tests.machines import Machine, shared_services
from tests.operations.supervisor.test_running_shop import Stall
from tests.releases import Releases
from tests.waiting import until

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(600)]
DRAIN_SECONDS = 5  # Longer than the proxy takes to notice.
MORE = 60  # Requests that are awaited before and after what happens.


@dataclass
class Shop:
    """Two machines and the proxy before them."""

    left: Machine
    right: Machine
    proxy: Balancer
    releases: Releases
    database_url: str

    def answers(self, load: Load, more: int = MORE) -> None:
        """Wait until so many more requests are answered."""
        before = load.made
        until(lambda: load.made >= before + more, 120)

    def serves(self, machine: Machine) -> None:
        """Wait until the proxy gives the machine requests, and it answers."""
        upstream = self.proxy.of(machine.port)
        before = upstream.answered
        until(lambda: upstream.answered > before + 5, 60)

    def revision(self) -> str:
        engine = create_engine(self.database_url)
        try:
            with engine.connect() as connection:
                return str(connection.scalar(text("SELECT version_num FROM alembic_version")))
        finally:
            engine.dispose()

    def finds(self, skus: list[str]) -> bool:
        """Whether search at each machine finds all products of the load that were said to be saved."""
        return all(set(skus) <= found_at(machine) for machine in (self.left, self.right))


def found_at(machine: Machine) -> set[str]:
    found: set[str] = set()
    for page in range(1, 100):
        address = f"{machine.address}/v1/product?q=zephyr&pageSize=100&pageNumber={page}"
        with urllib.request.urlopen(address, timeout=20) as answer:
            items = json.load(answer)["items"]
        found |= {item["skuCode"] for item in items}
        if len(items) < 100:
            break
    return found


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, opensearch_url: str) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("machines")
    releases = Releases(tmp_path_factory.mktemp("releases"))
    with ExitStack() as stack:
        shared = stack.enter_context(shared_services(folder, opensearch_url))
        # This machine is busier than a cluster's: an answer that takes its time is no fault here.
        settings = shared | {"DRAIN_SECONDS": str(DRAIN_SECONDS), "OPENSEARCH_TIMEOUT": "10"}
        release = releases.add("1")
        left, right = (Machine(folder / name, release, settings) for name in ("left", "right"))
        assert left.prepare() == PREPARED_WITH_DEMO
        for machine in (left, right):
            stack.callback(machine.kill)
            machine.start()
            for path in PAGES:
                until(lambda machine=machine, path=path: machine.status_of(path) == 200)
        proxy = stack.enter_context(balancer_before(left.port, right.port))
        yield Shop(left, right, proxy, releases, shared["DATABASE_URL"])


@pytest.mark.fault("F53")
def test_a_machine_that_is_killed_takes_only_its_own_requests_along(shop: Shop) -> None:
    intent = Stall(shop.left.address).call("/paymentIntents", {"amountInPence": 1250, "currency": "gbp"})
    with load_on(shop.proxy.port) as load:
        shop.serves(shop.left)
        shop.answers(load)
        lost_before = len(shop.proxy.lost_requests)
        shop.left.kill()
        died = time.monotonic()
        injected()
        shop.answers(load)
        till = Stall(shop.right.address)
        till.present(intent, "visa")
        assert till.call(f"/paymentIntents/{intent['id']}/capture", {})["status"] == "succeeded"
        shop.left.start()
        shop.serves(shop.left)
    lost = shop.proxy.lost_requests[lost_before:]
    assert [one for one in lost if one.port != shop.left.port or one.sent_at > died] == []
    assert len(load.failures) == len(lost), load.failures
    assert len(load.saved) > 10
    until(lambda: shop.finds(load.saved))


@pytest.mark.fault("F53")
def test_a_machine_that_is_stopped_loses_no_request(shop: Shop) -> None:
    with load_on(shop.proxy.port) as load:
        shop.serves(shop.left)
        injected()
        before = shop.proxy.of(shop.left.port).refused
        shop.left.stop()
        shop.answers(load)
        shop.left.start()
        shop.serves(shop.left)
    assert load.failures == []
    assert shop.proxy.of(shop.left.port).refused == before, "it said that it leaves before it took no more requests"


@pytest.mark.fault("F54")
def test_an_upgrade_from_machine_to_machine_with_a_migration_fails_no_request(shop: Shop) -> None:
    """Also one of the release before that is started once more in between."""
    new = shop.releases.add("2", migration="second")
    with load_on(shop.proxy.port) as load:
        shop.answers(load)
        shop.left.release = new
        assert shop.left.prepare("production", "upgrade") == PREPARED
        injected()
        assert shop.revision() == "second"
        shop.answers(load)
        for machine, release in ((shop.right, shop.right.release), (shop.left, new), (shop.right, new)):
            machine.stop()
            machine.release = release
            machine.start()
            shop.serves(machine)
        shop.answers(load)
    assert load.failures == []
    assert len(load.saved) > 10
    until(lambda: shop.finds(load.saved))


@pytest.mark.fault("F54")
def test_a_migration_that_the_other_machines_cannot_live_with_is_refused(shop: Shop) -> None:
    known, before = shop.revision(), shop.left.release
    shop.left.release = shop.releases.add("3", migration="third", more="NEEDS_A_STOP = True")
    injected()
    assert shop.left.prepare("production", "upgrade") == NEEDS_A_STOP
    shop.left.release = before
    assert shop.revision() == known
    assert [machine.status_of("/") for machine in (shop.left, shop.right)] == [200, 200]
