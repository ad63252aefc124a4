"""F52: machines of the search cluster die, one of them or most. Searches go on from what is left, changes too or they
wait, a rebuild is whole or nothing, and once the machines are back nothing is lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from flask import Flask, current_app

from app.domain.catalogue.models import Product
from app.domain.search.engine import EngineFault, EngineState, IndexName, SearchContext
from app.domain.search.index.rebuild import rebuild
from app.extensions import db
from app.transaction import transaction
from tests.faults.cluster_shops import (
    ClusterShop,
    apply_in_vain,
    holds_all,
    save,
    seconds_for,
    waiting,
)
from tests.faults.shops import SITE, check_equal, fill
from tests.injected_faults import injected, requested
from tests.opensearch import Node, running_cluster
from tests.searching import add_product, request
from tests.waiting import until

pytestmark = [pytest.mark.thorough, pytest.mark.fault("F52"), pytest.mark.timeout(600)]
PRODUCTS = IndexName.PRODUCTS
SEARCHERS = 3
PATIENCE = 5  # Seconds for which a page waits. This machine is busier than a cluster's.


@dataclass
class Machines:
    """The machines of a cluster, and a shop that names all of them."""

    nodes: list[Node]
    shop: ClusterShop

    def manager(self) -> Node:
        return self._named(self.shop.client.cat.cluster_manager(params={"format": "json"})[0]["node"])

    def holder(self) -> Node:
        """The machine that has the shop's products first, and copies them to the others."""
        shards = self.shop.client.cat.shards(index=f"{self.shop.prefix}-1-products-*", params={"format": "json"})
        return self._named(next(shard["node"] for shard in shards if shard["prirep"] == "p"))

    def _named(self, name: str) -> Node:
        return next(node for node in self.nodes if node.folder.name == name)

    def until_green(self) -> None:
        self.shop.client.cluster.health(params={"wait_for_status": "green", "timeout": "60s", "request_timeout": 70})

    @property
    def color(self) -> str:
        return str(self.shop.client.cluster.health()["status"])

    def start_again(self) -> None:
        dead = [node for node in self.nodes if not node.is_running]
        for node in dead:
            node.begin()
        for node in dead:
            node.await_ready()
        self.until_green()


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Node]]:
    with running_cluster(tmp_path_factory.mktemp("cluster")) as made:
        yield made


@pytest.fixture
def machines(nodes: list[Node], tmp_path: Path, replicas: int) -> Iterator[Machines]:
    addresses = ",".join(node.url for node in nodes)
    made = Machines(nodes, ClusterShop(tmp_path, addresses, addresses, replicas, PATIENCE))
    fill(made.shop)
    made.until_green()
    yield made
    made.shop.end_all()
    made.start_again()
    made.shop.client.close()


@dataclass
class Searches:
    """Pages of search, each with the moments when it was requested and answered, and its status."""

    answers: list[tuple[float, float, int]]

    def failed_after(self, moment: float) -> list[int]:
        return [status for began, _, status in self.answers if status != 200 and began > moment]

    @property
    def failed(self) -> int:
        return sum(status != 200 for _, _, status in self.answers)

    def answered_after(self, moment: float) -> int:
        return sum(status == 200 and began > moment for began, _, status in self.answers)


@contextmanager
def searches() -> Iterator[Searches]:
    """Shoppers who search all the time."""
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]
    ended, made = threading.Event(), Searches([])

    def search() -> None:
        client = app.test_client()
        while not ended.is_set():
            began = time.monotonic()
            status = client.get("/search?q=name", base_url="http://shop.test").status_code
            made.answers.append((began, time.monotonic(), status))

    with ThreadPoolExecutor(SEARCHERS) as shoppers:
        running = [shoppers.submit(search) for _ in range(SEARCHERS)]
        try:
            yield made
        finally:
            ended.set()
    for one in running:
        one.result()
    requested(len(made.answers), made.failed)


@pytest.mark.parametrize(("replicas", "which"), [(1, "holder"), (2, "manager")])
def test_searches_and_changes_go_on_while_one_machine_is_dead(machines: Machines, which: str) -> None:
    dying = machines.manager() if which == "manager" else machines.holder()
    with machines.shop.opened() as context, searches() as made:
        until(lambda: len(made.answers) > 20)
        dying.kill()
        died = time.monotonic()
        injected()
        for number in range(10):
            save(number)
            apply_in_vain(context)
        until(lambda: made.answered_after(died) > 50)
        assert made.failed_after(died) == []
        assert made.failed <= SEARCHERS, "only those that were on their way can fail"
        until(lambda: applies_all(context), 10)
        found = context.engine.status(SITE, PRODUCTS)
        assert (found.state, found.fault, found.documents) == (EngineState.HEALTHY, None, 130)
        assert machines.color == "yellow"


def applies_all(context: SearchContext) -> bool:
    apply_in_vain(context)
    return waiting() == 0


@pytest.mark.parametrize("replicas", [2])
def test_without_a_quorum_searches_go_on_and_changes_wait(machines: Machines) -> None:
    left = machines.holder()  # It takes changes, and cannot have them confirmed: the hardest case.
    with machines.shop.opened() as context:
        with transaction():
            product = add_product(SITE, "renamed", "First")
        assert holds_all(context)
        for node in machines.nodes:
            if node is not left:
                node.kill()
        injected()
        until(lambda: context.engine.status(SITE, PRODUCTS).fault is EngineFault.QUORUM, 4 * PATIENCE)
        found = context.engine.status(SITE, PRODUCTS)
        assert (found.state, found.documents) == (EngineState.HEALTHY, 121)
        assert "no quorum" in str(found.error)
        for number in range(3):
            status, seconds = seconds_for("/search?q=name")
            assert status == 200 and seconds < 2 * PATIENCE
            save(number)
        rename(product.id, "Older")
        apply_in_vain(context)
        rename(product.id, "Newer")
        assert waiting() == 5
        left.kill()
        left.start("discovery.initial_state_timeout=1s")
        alone = context.engine.status(SITE, PRODUCTS)
        assert alone.fault in (EngineFault.QUORUM, EngineFault.UNREACHABLE), "it knows no index, and none is lost"
        machines.start_again()
        until(lambda: context.engine.status(SITE, PRODUCTS).fault is None)
        assert holds_all(context), "the name is the newer one: an old change never wins"


def rename(product_id: int, name: str) -> None:
    with transaction():
        db.session.get_one(Product, product_id).name = name


@pytest.mark.parametrize("replicas", [1])
@pytest.mark.parametrize("point", ["added", "publish"])
def test_a_rebuild_during_which_a_machine_dies_is_whole_or_nothing(machines: Machines, point: str) -> None:
    shop = machines.shop
    before = machines.holder()
    builder = shop.do("save_and_rebuild", fault=f"{point}:STOP")
    builder.until_stopped()
    dying = machines.manager() if point == "publish" else before
    dying.kill()
    builder.signal("CONT")
    status = builder.finish()
    with shop.opened(minutes_from_now=10) as context:
        until(lambda: context.engine.status(SITE, PRODUCTS).state is EngineState.HEALTHY)
        until(lambda: applies_all(context), 10)
        check_equal(context)
        assert status == 0 or shop.runs(), "a builder that failed has said so"
    with shop.opened(minutes_from_now=40) as context:
        assert rebuild(context, request(context, SITE, "PRODUCTS")), "with two of three machines"
        assert holds_all(context)
    assert len(shop.indices) <= 2
