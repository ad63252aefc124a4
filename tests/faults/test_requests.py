"""F20 and F21: however many ask at once, one rebuild runs, and a dead one holds up nobody."""

from __future__ import annotations

import shutil
import signal

import pytest

from app.domain.search.engine import EngineState, IndexName
from app.domain.search.index.rebuild import rebuild
from app.domain.sites.settings import change_settings
from app.jobs.scheduler import Scheduler
from app.transaction import transaction
from tests.faults.shops import SITE, Shop, check
from tests.injected_faults import injected
from tests.searching import request as request_now


@pytest.mark.fault("F20")
def test_many_requests_from_several_processes_make_one_run(shop: Shop) -> None:
    """F20."""
    injected(100)
    servers = [shop.do("request_often", "25") for _ in range(4)]
    for server in servers:
        assert server.finish() == 0
    answers = [line.split() for server in servers for line in server.said]
    assert len(answers) == 100
    assert len({run_id for _, run_id in answers}) == 1
    assert [word for word, _ in answers].count("asked") == 1
    check(shop)


@pytest.mark.fault("F20")
def test_of_two_builders_one_builds(shop: Shop) -> None:
    """F20."""
    before = shop.live
    shop.do("request_rebuild").finish()
    first, second = shop.do("build", fault="sealed:1"), shop.do("build", fault="sealed:1")
    assert (first.finish(), second.finish()) == (0, 0)
    assert shop.run()[0] == "done"
    assert len(shop.generations - {before}) == 1
    check(shop)


@pytest.mark.fault("F21")
def test_after_the_builder_was_killed_the_next_request_begins_anew_at_once(shop: Shop) -> None:
    """F21: the dead one's lease has not run out, but its lock is free."""
    builder = shop.do("rebuild", fault="added:KILL")
    assert builder.finish() == -signal.SIGKILL
    assert shop.run()[0] == "running"
    request = shop.do("request_rebuild")
    assert (request.finish(), request.line().split()[0]) == (0, "asked")
    states = {"failed": "The process that built the index stopped before it was done.", "waiting": None}
    assert shop.runs() == states
    assert shop.do("build").finish() == 0
    assert shop.run() == ("done", None)
    check(shop)


@pytest.mark.fault("F21")
def test_a_builder_that_lives_is_joined(shop: Shop) -> None:
    """F21: one that is slow holds its lock."""
    builder = shop.do("rebuild", fault="sealed:STOP")
    builder.until_stopped()
    request = shop.do("request_rebuild")
    assert (request.finish(), request.line().split()[0]) == (0, "joined")
    builder.signal("CONT")
    assert builder.finish() == 0
    assert shop.run() == ("done", None)
    check(shop)


@pytest.mark.fault("F21")
def test_a_builder_of_another_machine_is_known_by_its_lease_alone(shop: Shop) -> None:
    """F21: two machines share the database, not the folder of the locks."""
    assert shop.do("rebuild", fault="added:KILL").finish() == -signal.SIGKILL
    shutil.rmtree(shop.config.lock_folder)
    request = shop.do("request_rebuild")
    assert (request.finish(), request.line().split()[0]) == (0, "joined")
    with shop.opened(minutes_from_now=1) as indexing:
        assert rebuild(indexing, request_now(indexing, SITE, "PRODUCTS"))
    check(shop)


@pytest.mark.fault("F21")
def test_the_scheduler_ends_the_run_of_a_killed_builder_at_its_next_look(shop: Shop) -> None:
    """F21."""
    assert shop.do("rebuild", fault="added:KILL").finish() == -signal.SIGKILL
    with shop.opened():
        Scheduler(lambda _name, _work: True).look()
    assert shop.run()[0] == "failed"
    check(shop)


@pytest.mark.fault("F25")
def test_runs_of_products_and_of_content_do_not_overlap(shop: Shop) -> None:
    """F25: who asks for the other joins the one that builds and is queued behind it, so neither undoes what the other
    did."""
    switch_content_search(shop, on=True)
    builder = shop.do("rebuild", "CONTENT", fault="sealed:STOP")
    builder.until_stopped()
    request = shop.do("request_rebuild", "PRODUCTS")
    assert (request.finish(), request.line().split()[0]) == (0, "joined")
    builder.signal("CONT")
    assert builder.finish() == 0
    assert content_status(shop) is EngineState.HEALTHY
    assert shop.run() == ("waiting", None), "of products"
    before = shop.live
    assert shop.do("build").finish() == 0
    assert shop.run() == ("done", None)
    assert shop.live != before
    assert content_status(shop) is EngineState.HEALTHY
    check(shop)


@pytest.mark.fault("F25")
def test_content_search_that_is_switched_off_while_its_index_is_built_is_off(shop: Shop) -> None:
    """F25: the products of the same run are swapped in; of content nothing is."""
    switch_content_search(shop, on=True)
    before = shop.live
    builder = shop.do("rebuild", "ALL", fault="sealed:STOP")
    builder.until_stopped()
    switch_content_search(shop, on=False)
    builder.signal("CONT")
    assert builder.finish() == 0
    assert shop.run() == ("done", None)
    assert shop.live != before
    assert content_status(shop) is not EngineState.HEALTHY
    check(shop)


def switch_content_search(shop: Shop, on: bool) -> None:
    with shop.opened(), transaction():
        change_settings(SITE, {"search-content-enabled": on})


def content_status(shop: Shop) -> EngineState:
    with shop.opened() as indexing:
        return indexing.engine.status(SITE, IndexName.CONTENT).state
