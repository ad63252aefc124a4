"""Tasks are done in order, batch by batch, and by one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from app.domain.catalogue.models import Product
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, NotFound
from app.domain.sites.models import AuditEntry, Site
from app.domain.sites.settings import change_settings
from app.domain.taxonomy import tasks
from app.domain.taxonomy.models import Taxonomy, TaxonomyTask
from app.domain.taxonomy.renames import ValueRename
from app.domain.taxonomy.tasks import Kind
from app.domain.taxonomy.tasks.batch import Batch, Work
from app.domain.taxonomy.tasks.befores import without_befores
from app.domain.taxonomy.tasks.queue import TASK
from app.domain.taxonomy.tasks.runner import WORKS, Works, sites_with_work, work_off
from app.domain.taxonomy.tasks.summary import summary_of
from app.domain.work import leases
from app.domain.work.context import WorkContext
from app.extensions import db
from app.transaction import transaction
from tests.domain.taxonomy.tasks.conftest import LEVELS, Worker, add, product, task
from tests.factories import make_site, make_task
from tests.fakes.clock import StoppedClock
from tests.fakes.queue import RecordingQueue
from tests.purging import purged
from tests.taxonomy_saves import save_structure

AddTask = Callable[..., str]


@pytest.fixture
def five(site_id: int) -> list[int]:
    return [add(site_id, f"T-{number}", "tents") for number in range(5)]


def to_boots(ids: list[int]) -> dict[str, Any]:
    return {"taxonomyId": "kit", "levelId": "boots", "products": ids}


def breaking(at_batch: int, error: BaseException) -> Works:
    """Levels are assigned as ever until the batch of this number, which fails after it changed its products."""
    done: list[int] = []
    real = WORKS[Kind.ASSIGN_LEVEL]

    def change(batch: Batch) -> None:
        real.change(batch)
        done.append(1)
        if len(done) == at_batch:
            db.session.flush()
            raise error

    return {Kind.ASSIGN_LEVEL: Work(real.candidates, change)}


def test_whoever_asks_wakes_the_worker(site_id: int, add_task: AddTask, queue: RecordingQueue) -> None:
    add_task(Kind.RECOMPUTE)
    assert queue.jobs == [("catalogue:work_off_tasks", (site_id,))]


def test_all_products_are_done_and_counted(five: list[int], add_task: AddTask, work: Worker) -> None:
    task_id = add_task(Kind.ASSIGN_LEVEL, **to_boots(five))
    work()
    done = task(task_id)
    assert (done.state, done.done, done.total, without_befores(done.report)) == ("done", 5, 5, {"changed": 5})
    assert done.started_at and done.finished_at and done.lease_until is None
    assert {product(f"T-{number}").taxonomy_level_id for number in range(5)} == {"boots"}


def test_tasks_of_a_site_are_done_in_the_order_in_which_they_were_asked_for(
    five: list[int], add_task: AddTask, work: Worker, site_id: int
) -> None:
    ids = [add_task(Kind.ASSIGN_LEVEL, **to_boots(five) | {"levelId": level}) for level in ("boots", "gear", "tents")]
    assert [waiting.id for waiting in tasks.unfinished(site_id)] == ids
    work()
    assert product("T-0").taxonomy_level_id == "tents"
    assert tasks.unfinished(site_id) == []


def test_an_equal_recomputing_that_waits_is_joined(add_task: AddTask, work: Worker) -> None:
    first = add_task(Kind.RECOMPUTE)
    assert add_task(Kind.RECOMPUTE) == first
    work()
    assert add_task(Kind.RECOMPUTE) != first


def test_a_worker_that_dies_in_a_batch_loses_only_that_and_the_next_goes_on(
    five: list[int], add_task: AddTask, clock: StoppedClock, site_id: int, work: Worker
) -> None:
    task_id = add_task(Kind.ASSIGN_LEVEL, **to_boots(five))
    with pytest.raises(SystemExit):
        work_off(WorkContext(clock, transaction), site_id, batch=2, works=breaking(2, SystemExit("stopped")))
    half = task(task_id)
    assert (half.state, half.done, half.reached, without_befores(half.report)) == (
        "running",
        2,
        five[1],
        {"changed": 2},
    )
    assert [product(f"T-{number}").taxonomy_level_id for number in range(4)] == ["boots", "boots", "tents", "tents"]
    assert sites_with_work(clock) == {site_id}
    work()
    assert (task(task_id).state, without_befores(task(task_id).report)) == ("done", {"changed": 5})


def test_while_somebody_works_nobody_else_begins(
    five: list[int], add_task: AddTask, clock: StoppedClock, site_id: int, work: Worker
) -> None:
    task_id = add_task(Kind.ASSIGN_LEVEL, **to_boots(five))
    with transaction():
        held = task(task_id)
        held.state, held.lease_until = "running", clock.now() + TASK.lease
    work()
    assert task(task_id).done == 0
    assert sites_with_work(clock) == set()
    clock.move(seconds=TASK.lease.total_seconds())
    assert sites_with_work(clock) == {site_id}
    work()
    assert task(task_id).state == "done"


def test_when_the_time_is_up_the_rest_is_left_for_the_next(
    five: list[int], add_task: AddTask, clock: StoppedClock, site_id: int
) -> None:
    task_id = add_task(Kind.ASSIGN_LEVEL, **to_boots(five))
    context = WorkContext(clock, transaction)
    assert work_off(context, site_id, timedelta(0), batch=2)
    assert task(task_id).done == 2
    assert sites_with_work(clock) == {site_id}
    assert work_off(context, site_id, timedelta(0), batch=2)
    assert not work_off(context, site_id, timedelta(0), batch=2)
    assert task(task_id).state == "done"


def test_what_nobody_expected_fails_the_task_and_keeps_what_was_done(
    five: list[int], add_task: AddTask, clock: StoppedClock, site_id: int
) -> None:
    task_id = add_task(Kind.ASSIGN_LEVEL, **to_boots(five))
    with pytest.raises(RuntimeError):
        work_off(WorkContext(clock, transaction), site_id, batch=2, works=breaking(2, RuntimeError("odd")))
    failed = task(task_id)
    assert (failed.state, failed.done, failed.error) == (
        "failed",
        2,
        "Something unexpected went wrong: RuntimeError: odd",
    )


AWAY = OperationalError("update", {}, Exception("away"))


def always_failing(error: Exception) -> Works:
    def change(_batch: Batch) -> None:
        raise error

    candidates = WORKS[Kind.ASSIGN_LEVEL].candidates
    return {Kind.ASSIGN_LEVEL: Work(candidates, change)}


def test_a_database_that_is_away_fails_no_task_before_an_hour(
    five: list[int], add_task: AddTask, clock: StoppedClock, site_id: int
) -> None:
    task_id = add_task(Kind.ASSIGN_LEVEL, **to_boots(five))
    result = []
    for minutes in (0, 50, 10):
        clock.move(minutes=minutes)
        with pytest.raises(OperationalError):
            work_off(WorkContext(clock, transaction), site_id, works=always_failing(AWAY))
        result.append((task(task_id).state, task(task_id).error))
    reason = "The database refused the work for an hour. It can go on where it was."
    assert result == [("running", None), ("running", None), ("failed", reason)]


def test_a_refusal_that_outlasts_the_lease_is_noted_and_ends_the_attempt(
    five: list[int], add_task: AddTask, clock: StoppedClock, site_id: int
) -> None:
    """A busy SQLite keeps each try waiting for five seconds, and nothing can renew the lease meanwhile."""
    task_id = add_task(Kind.ASSIGN_LEVEL, **to_boots(five))

    def slowly_failing(_batch: Batch) -> None:
        clock.move(seconds=6)
        raise AWAY

    works = {Kind.ASSIGN_LEVEL: Work(WORKS[Kind.ASSIGN_LEVEL].candidates, slowly_failing)}
    with pytest.raises(OperationalError):
        work_off(WorkContext(clock, transaction), site_id, works=works)
    assert (task(task_id).state, task(task_id).attempts) == ("running", 1)
    assert task(task_id).refused_since is not None


def test_what_a_task_did_before_does_not_count_as_time_without_the_database(
    five: list[int], add_task: AddTask, clock: StoppedClock, site_id: int, work: Worker
) -> None:
    """It is old and it is slow, and then the database is away for a moment, twice."""
    task_id = add_task(Kind.ASSIGN_LEVEL, **to_boots(five))
    clock.move(hours=3)
    for done in (2, 4):
        assert work_off(WorkContext(clock, transaction), site_id, timedelta(0), batch=2)
        clock.move(minutes=61)
        with pytest.raises(OperationalError):
            work_off(WorkContext(clock, transaction), site_id, works=always_failing(AWAY))
        assert (task(task_id).state, task(task_id).done) == ("running", done)
    work()
    assert (task(task_id).state, task(task_id).refused_since) == ("done", None)


def test_a_task_that_failed_goes_on_where_it_was_and_before_later_ones(
    five: list[int], add_task: AddTask, clock: StoppedClock, site_id: int, work: Worker, queue: RecordingQueue
) -> None:
    task_id = add_task(Kind.ASSIGN_LEVEL, **to_boots(five))
    with pytest.raises(RuntimeError):
        work_off(WorkContext(clock, transaction), site_id, batch=2, works=breaking(2, RuntimeError("odd")))
    later = add_task(Kind.RECOMPUTE)
    queue.jobs.clear()
    with transaction():
        tasks.resume(Author(site_id, "Otto Oak", clock), task_id)
    assert queue.jobs == [("catalogue:work_off_tasks", (site_id,))]
    again = task(task_id)
    assert (again.state, again.reached, again.done, again.error, again.finished_at) == (
        "waiting",
        five[1],
        2,
        None,
        None,
    )
    assert [waiting.id for waiting in tasks.unfinished(site_id)] == [task_id, later]
    work()
    assert (task(task_id).state, without_befores(task(task_id).report)) == ("done", {"changed": 5})
    assert [product(f"T-{number}").revision for number in range(5)] == [2] * 5
    logged = db.session.execute(select(AuditEntry.actor, AuditEntry.action)).all()
    assert ("Otto Oak", "taxonomy.task_resume") in [tuple(row) for row in logged]


def test_only_what_failed_can_go_on(add_task: AddTask, clock: StoppedClock, site_id: int, work: Worker) -> None:
    task_id = add_task(Kind.RECOMPUTE)
    for _ in range(2):
        with pytest.raises(Conflict), transaction():
            tasks.resume(Author(site_id, "Mia", clock), task_id)
        work()
    with pytest.raises(NotFound), transaction():
        tasks.resume(Author(site_id + 1, "Mia", clock), task_id)


def test_a_kind_that_nobody_knows_fails_once_and_holds_up_no_other(
    add_task: AddTask, clock: StoppedClock, site_id: int, work: Worker
) -> None:
    """It was requested by a newer version of the shop, before an older one was put in its place."""
    with transaction():
        unknown = make_task(db.session.get_one(Site, site_id), "POLISH", state="waiting").id
    later = add_task(Kind.RECOMPUTE)
    work()
    assert (task(unknown).state, task(unknown).error) == (
        "failed",
        "This version of the shop cannot do work of the kind POLISH.",
    )
    assert task(later).state == "done"
    summaries = summary_of(task(unknown))
    assert (summaries.title, summaries.summary) == ("Work of the kind POLISH", "Dealt with 0 products.")


def test_the_taxonomy_that_is_set_counts_also_while_the_plan_lacks_the_engine(
    site_id: int, add_task: AddTask, work: Worker, clock: StoppedClock
) -> None:
    """Products hold their classification meanwhile; what is not done to it now would never be."""
    add(site_id, "T-1", "tents", colour=["Moss"], sleeps=2)
    with transaction():
        site = db.session.get_one(Site, site_id)
        site.capabilities = [name for name in site.capabilities if name != "TAXONOMY_ENGINE"]
        db.session.get_one(Product, product("T-1").id).completeness_score = 0
    rename_moss(clock, site_id)
    add_task(Kind.RECOMPUTE)
    work()
    assert product("T-1").taxonomy_attributes == {"colour": ["Fern"], "sleeps": 2}
    assert product("T-1").completeness_score == 100


def rename_moss(clock: StoppedClock, site_id: int) -> None:
    """As a save of the structure does."""
    levels = deepcopy(LEVELS)
    levels[0]["attributes"][0]["allowedValues"] = ["Fern", "Clay", "Sky"]
    levels[0]["children"][1]["attributes"][1]["allowedValues"] = ["Moss", "Fern", "Tan"]
    with transaction():
        known, renames = db.session.get_one(Taxonomy, (site_id, "kit")), [ValueRename("gear", "colour", "Moss", "Fern")]
        save_structure(clock, site_id, "kit", known.revision, "Kit", "", levels, "Mia", renames=renames)


@pytest.mark.parametrize("batches_before", [0, 1])
def test_renames_come_before_what_was_asked_for_earlier_or_runs_already(
    site_id: int, add_task: AddTask, clock: StoppedClock, work: Worker, batches_before: int
) -> None:
    """Else the move would drop words that the taxonomy no longer has and that are about to be renamed."""
    ids = [add(site_id, f"G-{number}", "gear", colour=["Moss"]) for number in range(4)]
    task_id = add_task(Kind.ASSIGN_LEVEL, taxonomyId="kit", levelId="tents", products=ids)
    real, done = WORKS[Kind.ASSIGN_LEVEL], []

    def change(batch: Batch) -> None:
        real.change(batch)
        done.append(len(batch.ids))

    context, works = WorkContext(clock, transaction), dict(WORKS) | {Kind.ASSIGN_LEVEL: Work(real.candidates, change)}
    for _ in range(batches_before):
        assert work_off(context, site_id, timedelta(0), batch=2, works=works)
    rename_moss(clock, site_id)
    work_off(context, site_id, batch=2, works=works)
    held = [(product(f"G-{n}").taxonomy_level_id, product(f"G-{n}").taxonomy_attributes) for n in range(4)]
    assert held == [("tents", {"colour": ["Fern"]})] * 4
    assert (task(task_id).state, without_befores(task(task_id).report), done) == ("done", {"changed": 4}, [2, 2])


def test_a_task_that_runs_gives_way_to_a_rename_after_its_batch(
    site_id: int, add_task: AddTask, clock: StoppedClock
) -> None:
    ids = [add(site_id, f"G-{number}", "gear", colour=["Moss"]) for number in range(4)]
    add_task(Kind.ASSIGN_LEVEL, taxonomyId="kit", levelId="tents", products=ids)
    saved: list[int] = []

    @contextmanager
    def and_a_user_saves_after_the_first_batch() -> Iterator[None]:
        with transaction():
            yield
        if not saved and product("G-0").taxonomy_level_id == "tents":
            saved.append(1)
            rename_moss(clock, site_id)

    work_off(WorkContext(clock, and_a_user_saves_after_the_first_batch), site_id, batch=2)
    held = [(product(f"G-{n}").taxonomy_level_id, product(f"G-{n}").taxonomy_attributes) for n in range(4)]
    assert (saved, held) == ([1], [("tents", {"colour": ["Fern"]})] * 4)
    ended = db.session.scalars(select(TaxonomyTask.kind).order_by(TaxonomyTask.finished_at)).all()
    assert len(ended) == 2 and tasks.unfinished(site_id) == []


@pytest.mark.parametrize("kind", [Kind.ASSIGN_LEVEL, Kind.ASSIGN_VALUE, Kind.RESTORE])
def test_what_was_asked_for_under_another_taxonomy_fails_and_says_so(
    five: list[int], site_id: int, add_task: AddTask, work: Worker, kind: Kind
) -> None:
    task_id = add_task(kind, **to_boots(five) | {"attributeId": "colour", "way": "clear"})
    with transaction():
        change_settings(site_id, {"taxonomy-active-id": "garden"})
    work()
    assert (task(task_id).state, task(task_id).done, task(task_id).error) == (
        "failed",
        0,
        "Another taxonomy is active now, so the rest was left as it is.",
    )
    assert {product(f"T-{number}").taxonomy_level_id for number in range(5)} == {"tents"}


def test_the_end_stands_in_the_activity_log(five: list[int], add_task: AddTask, work: Worker) -> None:
    add_task(Kind.ASSIGN_LEVEL, **to_boots(five) | {"levelName": "Boots"})
    work()
    entry = db.session.scalars(select(AuditEntry)).one()
    assert (entry.actor, entry.action, entry.summary) == (
        "Mia Moss",
        "taxonomy.assign_level",
        "5 products moved to “Boots”.",
    )


def test_tasks_of_other_sites_are_not_found(add_task: AddTask, site_id: int) -> None:
    task_id = add_task(Kind.RECOMPUTE)
    with transaction():
        other = make_site("other.test").id
    with pytest.raises(NotFound):
        tasks.task_of(other, task_id)
    assert tasks.task_of(site_id, task_id).id == task_id
    assert tasks.latest(other) is None
    latest = tasks.latest(site_id, [Kind.RECOMPUTE])
    assert latest and latest.id == task_id
    assert tasks.latest(site_id, [Kind.RESTORE]) is None


def test_a_task_as_json(add_task: AddTask, site_id: int) -> None:
    result = tasks.view(tasks.task_of(site_id, add_task(Kind.RECOMPUTE)))
    assert (result["state"], result["done"], result["total"], result["outcome"], result["createdAt"]) == (
        "waiting",
        0,
        None,
        None,
        "2026-11-20T12:00:00Z",
    )


def test_a_task_goes_a_month_after_its_end(add_task: AddTask, work: Worker, clock: StoppedClock, site_id: int) -> None:
    ended = add_task(Kind.RECOMPUTE)
    work()
    waits = add_task(Kind.RECOMPUTE)
    clock.move(days=29)
    assert purged(clock, leases.retention(TASK, "tasks")) == 0
    clock.move(days=2)
    assert purged(clock, leases.retention(TASK, "tasks")) == 1
    assert db.session.get(TaxonomyTask, ended) is None
    assert tasks.task_of(site_id, waits).state == "waiting"


def test_two_that_took_up_the_same_task_do_its_batches_in_turns(
    five: list[int], add_task: AddTask, clock: StoppedClock, site_id: int
) -> None:
    task_id = add_task(Kind.ASSIGN_LEVEL, **to_boots(five))
    other = WorkContext(clock, transaction)

    @contextmanager
    def halted_after_each_commit() -> Iterator[None]:
        with transaction():
            yield
        clock.move(seconds=2 * TASK.lease.total_seconds())
        work_off(other, site_id, timedelta(0), batch=1)

    work_off(WorkContext(clock, halted_after_each_commit), site_id, batch=1)
    assert (task(task_id).state, task(task_id).done, without_befores(task(task_id).report)) == (
        "done",
        5,
        {"changed": 5},
    )
    assert [product(f"T-{number}").revision for number in range(5)] == [2] * 5
