"""Who asks for a rebuild joins one that lives; a dead one blocks nobody."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import select

from app.adapters.null_engine import NullEngine
from app.domain.search.engine import SearchContext
from app.domain.search.index import runs
from app.domain.search.index.rebuild import rebuild
from app.domain.search.index.runs import REBUILD
from app.domain.search.models import RebuildRun
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Invalid, NotFound
from app.domain.sites.settings import change_settings
from app.domain.work import leases
from app.domain.work.context import WorkerLocks
from app.extensions import db
from app.transaction import transaction
from tests.fakes.clock import StoppedClock
from tests.fakes.queue import RecordingQueue
from tests.searching import add_site, request

pytestmark = pytest.mark.usefixtures("context")


@pytest.fixture
def site_id(indexing: SearchContext) -> int:
    with transaction():
        return add_site().id


def request_run(indexing: SearchContext, site_id: int, scope: str = "ALL") -> tuple[str, bool]:
    with transaction():
        run, joined = runs.request_rebuild(
            Author(site_id, "Ann", indexing.clock), indexing.engine, indexing.locks, scope
        )
    return run.id, joined


def states() -> list[str]:
    return list(db.session.scalars(select(RebuildRun.state).order_by(RebuildRun.created_at)))


def test_a_request_makes_a_waiting_run_and_wakes_the_worker(
    indexing: SearchContext, site_id: int, queue: RecordingQueue
) -> None:
    run_id, joined = request_run(indexing, site_id, "PRODUCTS")
    assert not joined
    assert queue.jobs == [("search:rebuild", (run_id,))]
    assert runs.view(runs.run_of(site_id, run_id)) == {
        "runId": run_id,
        "scope": "PRODUCTS",
        "state": "waiting",
        "documentCount": 0,
        "totalCount": None,
        "outcome": None,
        "error": None,
        "requestedBy": "Ann",
        "createdAt": "2026-11-20T12:00:00Z",
        "startedAt": None,
        "finishedAt": None,
        "joined": False,
    }


def test_a_waiting_run_is_joined_whatever_scope_is_asked(indexing: SearchContext, site_id: int) -> None:
    first, _ = request_run(indexing, site_id, "PRODUCTS")
    assert request_run(indexing, site_id, "ALL") == (first, True)


@pytest.mark.parametrize(
    ("running", "wanted", "queued"),
    [
        ("PRODUCTS", "ALL", "CONTENT"),
        ("PRODUCTS", "CONTENT", "CONTENT"),
        ("CONTENT", "ALL", "PRODUCTS"),
        ("CONTENT", "PRODUCTS", "PRODUCTS"),
        ("PRODUCTS", "PRODUCTS", None),
        ("ALL", "PRODUCTS", None),
        ("ALL", "ALL", None),
    ],
)
def test_what_a_joined_run_leaves_out_is_rebuilt_right_after_it(
    indexing: SearchContext, site_id: int, queue: RecordingQueue, running: str, wanted: str, queued: str | None
) -> None:
    first, _ = request_run(indexing, site_id, running)
    assert request_run(indexing, site_id, wanted) == (first, True)
    assert runs.view(runs.run_of(site_id, first)).get("queuedScope") == queued
    assert rebuild(indexing, first)
    after = [run for run in db.session.scalars(select(RebuildRun)) if run.id != first]
    assert [(run.scope, run.state, run.requested_by) for run in after] == ([(queued, "waiting", "Ann")] * bool(queued))
    assert [job for job in queue.jobs if job[0] == "search:rebuild"][1:] == [
        ("search:rebuild", (run.id,)) for run in after
    ]


def test_it_is_rebuilt_after_a_failure_as_well(indexing: SearchContext, site_id: int, clock: StoppedClock) -> None:
    request_run(indexing, site_id, "PRODUCTS")
    request_run(indexing, site_id, "CONTENT")
    clock.move(minutes=31)
    with transaction():
        runs.expire_runs(clock, indexing.engine)
    assert [(run.scope, run.state) for run in in_order()] == [("PRODUCTS", "failed"), ("CONTENT", "waiting")]


def test_the_run_that_replaces_a_dead_one_brings_what_was_queued_behind_it(
    indexing: SearchContext, site_id: int, clock: StoppedClock
) -> None:
    request_run(indexing, site_id, "PRODUCTS")
    request_run(indexing, site_id, "CONTENT")
    clock.move(minutes=31)
    assert not request_run(indexing, site_id, "PRODUCTS")[1]
    assert [(run.scope, run.state) for run in in_order()] == [("PRODUCTS", "failed"), ("ALL", "waiting")]


def test_content_that_is_searched_no_more_is_not_queued(indexing: SearchContext, site_id: int) -> None:
    first, _ = request_run(indexing, site_id, "PRODUCTS")
    request_run(indexing, site_id, "CONTENT")
    with transaction():
        change_settings(site_id, {"search-content-enabled": False})
    assert rebuild(indexing, first)
    assert request_run(indexing, site_id, "PRODUCTS")[0] != first
    assert request_run(indexing, site_id, "ALL")[1]
    assert [run.queued_scope for run in in_order()] == ["CONTENT", None]


@pytest.mark.parametrize(("seconds", "queued"), [(-5, None), (-4, "PRODUCTS"), (0, "PRODUCTS"), (1, "PRODUCTS")])
def test_a_run_that_began_before_what_it_must_bring_is_followed_by_another(
    indexing: SearchContext, site_id: int, clock: StoppedClock, seconds: int, queued: str | None
) -> None:
    first, _ = request_run(indexing, site_id, "PRODUCTS")
    with transaction():
        assert leases.claim(REBUILD, clock, RebuildRun.id == first)
        author, saved_at = Author(site_id, "Ann", clock), clock.now() + timedelta(seconds=seconds)
        run, _ = runs.request_rebuild(author, indexing.engine, indexing.locks, "PRODUCTS", since=saved_at)
        assert (run.id, run.queued_scope) == (first, queued)


def in_order() -> list[RebuildRun]:
    return list(db.session.scalars(select(RebuildRun).order_by(RebuildRun.created_at, RebuildRun.state)))


@pytest.mark.parametrize(("seconds", "joins"), [(29 * 60 + 59, True), (30 * 60 + 1, False)])
def test_a_living_run_is_joined_for_half_an_hour(
    indexing: SearchContext, site_id: int, clock: StoppedClock, seconds: int, joins: bool
) -> None:
    first, _ = request_run(indexing, site_id)
    with transaction():
        assert leases.claim(REBUILD, clock, RebuildRun.id == first, lease=timedelta(hours=1))
    clock.move(seconds=seconds)
    second, joined = request_run(indexing, site_id)
    assert (second == first, joined) == (joins, joins)


def test_the_shop_itself_ends_no_run_whose_builder_lives(
    indexing: SearchContext, site_id: int, clock: StoppedClock
) -> None:
    """A hundred thousand products may take longer than half an hour to embed."""
    first, _ = request_run(indexing, site_id)
    with transaction():
        assert leases.claim(REBUILD, clock, RebuildRun.id == first, lease=timedelta(hours=2))
    clock.move(minutes=70)
    author = Author(site_id, runs.BY_ITSELF, clock)
    with transaction():
        run, joined = runs.request_rebuild(author, indexing.engine, indexing.locks, "PRODUCTS")
        assert (run.id, joined) == (first, True)
    clock.move(minutes=51)
    with transaction():
        assert not runs.request_rebuild(author, indexing.engine, indexing.locks, "PRODUCTS")[1]


def test_a_run_whose_builder_died_is_failed_and_replaced_at_once(
    indexing: SearchContext, site_id: int, clock: StoppedClock
) -> None:
    first, _ = request_run(indexing, site_id)
    with transaction():
        leases.claim(REBUILD, clock, RebuildRun.id == first, lease=timedelta(seconds=5))
    clock.move(seconds=6)
    second, joined = request_run(indexing, site_id)
    assert not joined and second != first
    dead = runs.run_of(site_id, first)
    assert (dead.state, dead.error) == ("failed", "The process that built the index stopped before it was done.")


def test_a_run_whose_builder_is_known_to_be_dead_is_replaced_although_its_lease_runs(
    indexing: SearchContext, site_id: int, clock: StoppedClock
) -> None:
    class Locks(WorkerLocks):
        def is_dead(self, name: str) -> bool:
            return name == f"rebuild-{first}-1"

    first, _ = request_run(indexing, site_id)
    context = replace(indexing, locks=Locks())
    assert request_run(context, site_id) == (first, True)  # It waits, so it has no builder.
    with transaction():
        leases.claim(REBUILD, clock, RebuildRun.id == first)
    second, joined = request_run(context, site_id)
    assert not joined and second != first
    assert runs.run_of(site_id, first).error == "The process that built the index stopped before it was done."


def test_two_sites_rebuild_side_by_side(indexing: SearchContext, site_id: int) -> None:
    with transaction():
        other = add_site("other.test").id
    assert not request_run(indexing, site_id)[1]
    assert not request_run(indexing, other)[1]


def test_the_run_of_another_site_is_not_found(indexing: SearchContext, site_id: int) -> None:
    with transaction():
        other = add_site("other.test").id
    run_id = request(indexing, site_id)
    with pytest.raises(NotFound):
        runs.run_of(other, run_id)


@pytest.mark.concurrent
def test_requests_at_the_same_moment_make_one_run(app: Flask, indexing: SearchContext, site_id: int) -> None:
    answers: list[tuple[str, bool]] = []
    together = threading.Barrier(8)

    def press() -> None:
        with app.app_context():
            together.wait()
            answers.append(request_run(indexing, site_id))
            db.session.remove()

    db.session.remove()
    threads = [threading.Thread(target=press) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({run_id for run_id, _ in answers}) == 1
    assert sorted(joined for _, joined in answers) == [False] + [True] * 7


def test_without_an_engine_there_is_nothing_to_rebuild(clock: StoppedClock, site_id: int) -> None:
    with pytest.raises(Conflict, match="not set up"), transaction():
        runs.request_rebuild(Author(site_id, "Ann", clock), NullEngine(), WorkerLocks(), "ALL")
    assert states() == []


def test_content_is_rebuilt_only_where_it_is_searched(indexing: SearchContext, site_id: int) -> None:
    with transaction():
        change_settings(site_id, {"search-content-enabled": False})
    with pytest.raises(Conflict, match="switched off"):
        request_run(indexing, site_id, "CONTENT")
    assert states() == []


@pytest.mark.parametrize("scope", ["", "all", "EVERYTHING", "PRODUCTS "])
def test_an_unknown_scope_is_refused(indexing: SearchContext, site_id: int, scope: str) -> None:
    with pytest.raises(Invalid):
        request_run(indexing, site_id, scope)
    assert states() == []
