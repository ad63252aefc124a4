"""The search cluster is away, slow, incomplete, full, or refuses a document: saves go on and wait, pages answer in
time and say what is wrong, and once it is well again nothing is lost. So it is where builders and writers die."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from sqlalchemy import select

from app.adapters.opensearch import OpenSearchEngine
from app.adapters.write_locks import write_lock_for
from app.config import OpenSearchSettings
from app.domain.alerts.alerts import open_about
from app.domain.alerts.causes import Cause
from app.domain.search.engine import EngineFault, EngineState, IndexName, SearchEngine
from app.domain.search.index import healing, outbox
from app.domain.search.index.outbox import apply_waiting
from app.domain.search.index.rebuild import rebuild
from app.domain.search.index.runs import latest_run
from app.domain.search.models import RebuildRun
from app.domain.work.models import State
from app.extensions import db
from app.transaction import transaction
from tests.fakes.clock import StoppedClock
from tests.faults.cluster_shops import (
    MOST_SECONDS,
    ClusterShop,
    apply_in_vain,
    holds_all,
    save,
    seconds_for,
    waiting,
)
from tests.faults.faulty_engine import FaultyEngine
from tests.faults.proxy import Proxy, proxied
from tests.faults.shops import SITE, fill
from tests.injected_faults import injected
from tests.opensearch import Node, running_node
from tests.searching import add_product, add_site, request
from tests.shared_node import lose_files
from tests.waiting import until

PRODUCTS = IndexName.PRODUCTS


class ShopBehindProxy(ClusterShop):
    """A shop whose index lies at one node, behind a proxy."""

    def __init__(self, folder: Path, node: Node, proxy: Proxy) -> None:
        super().__init__(folder, f"http://127.0.0.1:{proxy.port}", node.url)
        self.node, self.proxy = node, proxy


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    with running_node(tmp_path_factory.mktemp("node")) as node:
        yield node


@contextmanager
def cluster_shop(folder: Path, node: Node) -> Iterator[ShopBehindProxy]:
    with proxied(node.port) as proxy:
        made = ShopBehindProxy(folder, node, proxy)
        fill(made)
        yield made
        made.end_all()
        made.client.close()


@pytest.fixture
def shop(shared: Node, tmp_path: Path) -> Iterator[ShopBehindProxy]:
    with cluster_shop(tmp_path, shared) as made:
        yield made


# The network


@pytest.mark.parametrize(
    ("fault", "named"),
    [
        ("silent", {EngineFault.SLOW}),
        ("reset", {EngineFault.UNREACHABLE}),
        ("slow", {EngineFault.SLOW}),
    ],
)
def test_while_the_network_ails_pages_answer_in_time_and_saves_wait(
    shop: ShopBehindProxy, fault: str, named: set[EngineFault]
) -> None:
    with shop.opened() as context:
        context.engine.status(SITE, PRODUCTS)
        shop.proxy.fault = fault
        injected()
        for number in range(3):
            status, seconds = seconds_for("/search?q=name")
            assert status == 503 and seconds < MOST_SECONDS
            save(number)
            apply_in_vain(context)
        found = context.engine.status(SITE, PRODUCTS)
        assert found.state is EngineState.UNREACHABLE and found.fault in named
        assert waiting() == 3
        shop.proxy.fault = ""
        until(lambda: context.engine.status(SITE, PRODUCTS).state is EngineState.HEALTHY)
        assert holds_all(context)


# The node


@pytest.fixture
def own_shop(tmp_path: Path) -> Iterator[ShopBehindProxy]:
    """A shop with a node of its own, which the test may hurt."""
    with running_node(tmp_path / "node") as node, cluster_shop(tmp_path, node) as made:
        yield made


def test_a_node_that_stands_still_or_dies_loses_nothing(own_shop: ShopBehindProxy) -> None:
    with own_shop.opened() as context:
        own_shop.node.pause()
        injected()
        assert seconds_for("/search?q=name")[1] < MOST_SECONDS
        save(1)
        apply_in_vain(context)
        assert context.engine.status(SITE, PRODUCTS).fault is EngineFault.SLOW
        own_shop.node.go_on()
        until(lambda: context.engine.status(SITE, PRODUCTS).state is EngineState.HEALTHY)
        assert holds_all(context)
        save(2)
        apply_waiting(context, SITE)
        acknowledged = dict(context.engine.digests(SITE, PRODUCTS))
        own_shop.node.kill()  # Right after the change was said to be there.
        injected()
        save(3)
        assert seconds_for("/search?q=name")[1] < MOST_SECONDS
        apply_in_vain(context)
        assert waiting() == 1
        own_shop.node.start("discovery.type=single-node")
        until(lambda: context.engine.status(SITE, PRODUCTS).state is EngineState.HEALTHY)
        assert dict(context.engine.digests(SITE, PRODUCTS)) == acknowledged
        assert holds_all(context)


def test_a_first_index_whose_node_goes_away_is_built_once_it_is_back(own_shop: ShopBehindProxy) -> None:
    """By what the shop does each second, without anybody's help. Changes that were saved meanwhile are in it."""
    with own_shop.opened() as context:
        with transaction():
            site_id = add_site("new.test").id
            for number in range(5):
                add_product(site_id, f"first-{number}", "Of a new shop")
        clock = StoppedClock(context.clock.now())
        engine = FaultyEngine(context.engine, "")
        engine.plan("added", own_shop.node.kill)
        context = replace(context, engine=cast(SearchEngine, engine), clock=clock)
        healing.heal(context)
        (run_id,) = waiting_runs()
        rebuild(context, run_id)
        injected()
        failed = latest_run(site_id)
        assert failed is not None and failed.state == State.FAILED
        clock.move(minutes=5)
        healing.heal(context)
        assert waiting_runs() == [], "while the cluster is away none would succeed"
        with transaction():
            add_product(site_id, "later", "Saved meanwhile")
        own_shop.node.start("discovery.type=single-node")
        until(lambda: context.engine.status(SITE, PRODUCTS).state is EngineState.HEALTHY)
        healing.heal(context)
        (run_id,) = waiting_runs()
        assert rebuild(context, run_id)
        apply_waiting(context, site_id)
        assert context.engine.status(site_id, PRODUCTS).documents == 6
        assert open_about(Cause.INDEX_NOT_REBUILT) == []


def waiting_runs() -> list[str]:
    return list(db.session.scalars(select(RebuildRun.id).where(RebuildRun.state == State.WAITING)))


def test_an_index_that_lost_its_machine_is_said_to_be_incomplete_and_a_rebuild_brings_it_back(
    shop: ShopBehindProxy,
) -> None:
    with shop.opened() as context:
        lose_files(shop.client, f"{shop.prefix}-1-products-*")
        injected()
        save()
        apply_in_vain(context)
        found = context.engine.status(SITE, PRODUCTS)
        assert found.fault is EngineFault.MISSING_SHARD and "red" in str(found.error)
        status, seconds = seconds_for("/search?q=name")
        assert status == 503 and seconds < MOST_SECONDS
        assert waiting() == 1
        assert rebuild(context, request(context, SITE, "PRODUCTS"))
        assert context.engine.status(SITE, PRODUCTS).state is EngineState.HEALTHY
        assert holds_all(context)


def test_a_full_disk_leaves_the_index_readable_and_changes_waiting(shop: ShopBehindProxy) -> None:
    def block(value: bool | None) -> None:
        """As a node does whose disk is fuller than its flood stage."""
        shop.client.indices.put_settings(index=f"{shop.prefix}-*", body={"index.blocks.read_only_allow_delete": value})

    with shop.opened() as context:
        before = context.engine.status(SITE, PRODUCTS)
        block(True)
        injected()
        save()
        apply_in_vain(context)
        found = context.engine.status(SITE, PRODUCTS)
        assert (found.state, found.fault) == (EngineState.HEALTHY, EngineFault.DISK_FULL)
        assert "disks of the search cluster are full" in str(found.error)
        assert (found.documents, waiting()) == (before.documents, 1)
        assert outbox.set_aside(SITE) == []
        block(None)
        assert holds_all(context)
        assert context.engine.status(SITE, PRODUCTS).error is None


def test_a_document_that_the_index_does_not_take_is_set_aside_and_delays_no_others(shop: ShopBehindProxy) -> None:
    """One with more fields than an index may have."""
    with shop.opened() as context:
        (live,) = shop.indices
        shop.client.indices.put_settings(index=live, body={"index.mapping.total_fields.limit": 1})
        injected()
        with transaction():
            add_product(SITE, "strange", "Brings a new field").manufacturer = "Moor"
        save()
        apply_waiting(context, SITE)
        (set_aside,) = outbox.set_aside(SITE)
        assert "Limit of total fields" in set_aside.error
        assert waiting() == 0
        assert context.engine.status(SITE, PRODUCTS).documents == 121, "the other product is there"
        assert rebuild(context, request(context, SITE, "PRODUCTS"))
        assert holds_all(context)


def test_a_cluster_that_goes_away_while_records_go_one_by_one_sets_none_aside(shop: ShopBehindProxy) -> None:
    """One that does not fit makes the whole batch fail; after the first that is taken, the network is torn."""

    def tear() -> None:
        shop.proxy.fault = "reset"

    with shop.opened() as context:
        (live,) = shop.indices
        shop.client.indices.put_settings(index=live, body={"index.mapping.total_fields.limit": 1})
        with transaction():
            add_product(SITE, "strange", "Brings a new field").manufacturer = "Moor"
            for number in range(20):
                add_product(SITE, f"good-{number}", "Fits")
        engine = FaultyEngine(context.engine, "")
        engine.plan("applied", tear)
        before = waiting()
        apply_in_vain(replace(context, engine=cast(SearchEngine, engine)))
        assert (waiting(), outbox.set_aside(SITE)) == (before, [])
        shop.proxy.fault = ""
        until(lambda: context.engine.status(SITE, PRODUCTS).state is EngineState.HEALTHY)
        shop.client.indices.put_settings(index=live, body={"index.mapping.total_fields.limit": 10_000})
        assert holds_all(context)


# Builders and writers


@pytest.mark.parametrize("point", ["started", "added", "sealed", "exclusive", "publish", "published"])
def test_a_builder_that_is_killed_leaves_the_old_index_or_the_new_one(shop: ShopBehindProxy, point: str) -> None:
    assert shop.do("save_and_rebuild", fault=f"{point}:KILL").finish() == -signal.SIGKILL
    with shop.opened(minutes_from_now=10) as context:
        assert context.engine.status(SITE, PRODUCTS).state is EngineState.HEALTHY
        assert holds_all(context)
    with shop.opened(minutes_from_now=40) as context:
        assert rebuild(context, request(context, SITE, "PRODUCTS"))
        assert holds_all(context)
    assert len(shop.indices) <= 2


@pytest.mark.parametrize("point", ["exclusive", "apply", "applied"])
def test_a_writer_that_is_killed_leaves_its_changes_waiting(shop: ShopBehindProxy, point: str) -> None:
    with shop.opened():
        save()
    assert shop.do("apply", fault=f"{point}:KILL").finish() == -signal.SIGKILL
    with shop.opened() as context:
        assert waiting() == 1
        assert holds_all(context)


def test_a_writer_that_stands_still_while_others_go_on_overwrites_nothing(shop: ShopBehindProxy) -> None:
    """It holds the lock of this machine; another machine, which sees another lock, goes on without it."""
    with shop.opened():
        save()
    still = shop.do("apply", fault="apply:STOP")
    still.until_stopped()
    with shop.opened() as context:
        elsewhere = write_lock_for(replace(shop.config, index_dir=shop.folder / "elsewhere" / "index"))
        url = f"http://127.0.0.1:{shop.proxy.port}"
        other = OpenSearchEngine(OpenSearchSettings(url=url, prefix=shop.prefix), elsewhere)
        with transaction():
            product = add_product(SITE, "later", "Later")
        context_elsewhere = replace(context, engine=other)
        apply_waiting(context_elsewhere, SITE)
        with transaction():
            db.session.delete(product)
        apply_waiting(context_elsewhere, SITE)
        still.signal("CONT")
        assert still.finish() != 0
        assert holds_all(context)
