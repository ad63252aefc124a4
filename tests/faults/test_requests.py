"""F20 and F21: however many ask at once, one rebuild runs, and a dead one holds up nobody."""

from __future__ import annotations

import signal

from app.domain.search.index.rebuild import rebuild
from tests.faults.shops import SITE, Shop, check
from tests.searching import request


def test_many_requests_from_several_processes_make_one_run(shop: Shop) -> None:
    """F20."""
    servers = [shop.do("ask_often", "25") for _ in range(4)]
    for server in servers:
        assert server.finish() == 0
    answers = [line.split() for server in servers for line in server.said]
    assert len(answers) == 100
    assert len({run_id for _, run_id in answers}) == 1
    assert [word for word, _ in answers].count("asked") == 1
    check(shop)


def test_of_two_builders_one_builds(shop: Shop) -> None:
    """F20."""
    before = shop.live
    shop.do("ask").finish()
    first, second = shop.do("build", fault="sealed:1"), shop.do("build", fault="sealed:1")
    assert (first.finish(), second.finish()) == (0, 0)
    assert shop.run()[0] == "done"
    assert len(shop.generations - {before}) == 1
    check(shop)


def test_after_the_builder_was_killed_the_next_request_is_not_held_up(shop: Shop) -> None:
    """F21: as soon as the dead one's lease is over, long before half an hour."""
    builder = shop.do("rebuild", fault="added:KILL")
    assert builder.finish() == -signal.SIGKILL
    assert shop.run()[0] == "running"
    with shop.opened(minutes_from_now=1) as indexing:
        assert rebuild(indexing, request(indexing, SITE, "PRODUCTS"))
    check(shop)
