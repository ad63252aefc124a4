"""Stored events reach their handlers once and again; what follows a committed change raises nothing."""

from __future__ import annotations

import errno
from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import delete, select
from sqlalchemy.exc import OperationalError
from structlog.typing import EventDict

from app.adapters.null_engine import NullEngine
from app.domain.alerts import alerts
from app.domain.alerts.causes import Cause
from app.domain.search.engine import SearchContext
from app.domain.search.index.needed_rebuilds import needed_since
from app.domain.search.index.rebuild import rebuild
from app.domain.search.index.runs import REBUILD
from app.domain.search.models import OutboxEntry, RebuildRun
from app.domain.search.serving import configuration
from app.domain.sites import stored_events
from app.domain.sites.models import Site, StoredEvent
from app.domain.taxonomy.models import Taxonomy, TaxonomyTask
from app.domain.work import leases
from app.domain.work.models import State
from app.extensions import db
from app.jobs import events
from app.jobs.events import follow_up
from app.jobs.scheduler import Scheduler
from app.ports import clock
from app.transaction import transaction
from tests import factories
from tests.domain.taxonomy.lifecycle_shop import level, make_active, make_taxonomy
from tests.factories import make_product, make_rule, make_site
from tests.fakes.clock import StoppedClock
from tests.fakes.queue import RecordingQueue
from tests.searching import request

pytestmark = pytest.mark.usefixtures("context")

SAVED = "TaxonomyIndexEvent"
SWITCHED = "ActiveTaxonomyChangedEvent"


@pytest.fixture
def site(context: None) -> Site:
    with transaction():
        made = make_site()
        make_taxonomy(made, "camping")
        make_active(made, "camping")
    return made


def store(clock: StoppedClock, site: Site, name: str, **payload: object) -> None:
    with transaction():
        stored_events.store(clock, site.id, name, payload)


def switch(clock: StoppedClock, site: Site) -> None:
    store(clock, site, SWITCHED, **{"from": "camping", "to": "garden"})


def left() -> list[tuple[str, int]]:
    db.session.rollback()
    return [(name, attempts) for name, attempts in db.session.execute(select(StoredEvent.name, StoredEvent.attempts))]


def all_runs() -> list[RebuildRun]:
    return list(db.session.scalars(select(RebuildRun).order_by(RebuildRun.created_at)))


def test_an_event_wakes_the_worker_once_its_transaction_is_committed(
    site: Site, clock: StoppedClock, queue: RecordingQueue
) -> None:
    store(clock, site, SAVED, taxonomyId="camping", revision=2)
    assert ("events:deliver", ()) in queue.jobs


def test_an_event_of_a_transaction_that_fails_never_was(site: Site, clock: StoppedClock, queue: RecordingQueue) -> None:
    with pytest.raises(ZeroDivisionError), transaction():
        stored_events.store(clock, site.id, SAVED, {})
        raise ZeroDivisionError
    assert left() == []
    assert queue.jobs == []


def test_a_structure_save_of_the_active_taxonomy_has_completeness_recomputed(site: Site, clock: StoppedClock) -> None:
    store(clock, site, SAVED, taxonomyId="camping", revision=2)
    events.deliver()
    assert left() == []
    assert db.session.scalars(select(TaxonomyTask.kind)).all() == ["RECOMPUTE"]


def test_products_of_a_level_that_is_called_otherwise_now_are_indexed_anew(
    site: Site, clock: StoppedClock, queue: RecordingQueue
) -> None:
    with transaction():
        tent = make_product(site, "TENT-1", taxonomy_level_id="tents")
        make_product(site, "STOVE-1", taxonomy_level_id="stoves")
    with transaction():
        db.session.execute(delete(OutboxEntry))
    store(clock, site, SAVED, taxonomyId="camping", revision=2, renamedLevels=["tents", "gone"])
    events.deliver()
    assert [(entry.kind, entry.record_id) for entry in db.session.scalars(select(OutboxEntry))] == [
        ("product", tent.id)
    ]


def test_products_of_the_levels_below_one_that_is_called_otherwise_are_indexed_anew(
    site: Site, clock: StoppedClock, queue: RecordingQueue
) -> None:
    below = [{"levelId": "ssd", "name": "Solid-state drives", "attributes": [], "children": []}]
    levels = [{"levelId": "drives", "name": "Drives", "attributes": [], "children": below}]
    with transaction():
        factories.make_taxonomy(site, levels, active=True, id="parts")
        drive = make_product(site, "SSD-1", taxonomy_level_id="ssd")
        make_product(site, "STOVE-1", taxonomy_level_id="stoves")
    with transaction():
        db.session.execute(delete(OutboxEntry))
    store(clock, site, SAVED, taxonomyId="parts", revision=2, renamedLevels=["drives"])
    events.deliver()
    assert [entry.record_id for entry in db.session.scalars(select(OutboxEntry))] == [drive.id]


def test_a_save_by_the_release_before_which_does_not_say_what_it_changed_has_the_products_rebuilt(
    site: Site, clock: StoppedClock
) -> None:
    store(clock, site, SAVED, taxonomyId="camping", revision=2, placedLevels=[], definedAttributes=[])
    events.deliver()
    assert needed_since(site.id) is None
    store(clock, site, SAVED, taxonomyId="camping", revision=3)
    events.deliver()
    assert needed_since(site.id) == clock.now()


def test_a_structure_save_of_another_taxonomy_asks_for_nothing(site: Site, clock: StoppedClock) -> None:
    store(clock, site, SAVED, taxonomyId="garden", revision=2)
    events.deliver()
    assert left() == []
    assert db.session.scalars(select(TaxonomyTask)).all() == []


def test_events_told_twice_are_followed_up_once(site: Site, clock: StoppedClock, indexing: SearchContext) -> None:
    """As after a crash between the follow-up and a second delivery by another worker."""
    for _ in range(2):
        store(clock, site, SAVED, taxonomyId="camping", revision=2)
        switch(clock, site)
    events.deliver()
    events.deliver()
    assert left() == []
    assert len(db.session.scalars(select(TaxonomyTask)).all()) == 1
    assert [(run.scope, run.state) for run in all_runs()] == [("PRODUCTS", "waiting")]


def test_a_switch_waits_for_a_running_rebuild_and_then_asks_for_its_own(
    site: Site, clock: StoppedClock, indexing: SearchContext
) -> None:
    """The one that runs may have read products before they were cleared."""
    running = request(indexing, site.id, "PRODUCTS")
    with transaction():
        run = db.session.get_one(RebuildRun, running)
        run.state, run.lease_until = "running", clock.now() + timedelta(minutes=5)
    switch(clock, site)
    events.deliver()
    assert left() == [(SWITCHED, 0)]
    with transaction():
        leases.end(REBUILD, clock, db.session.get_one(RebuildRun, running), State.DONE, None)
    clock.move(seconds=1)
    events.deliver()
    assert left() == []
    assert [run.state for run in all_runs()] == ["done", "waiting"]


@pytest.mark.parametrize(("scope", "serves"), [("PRODUCTS", True), ("ALL", True), ("CONTENT", False)])
def test_a_rebuild_that_has_not_begun_serves_if_it_reads_products(
    site: Site, clock: StoppedClock, indexing: SearchContext, scope: str, serves: bool
) -> None:
    request(indexing, site.id, scope)
    switch(clock, site)
    events.deliver()
    assert (left() == []) is serves
    assert len(all_runs()) == 1


def test_a_shop_without_an_engine_has_nothing_to_rebuild(site: Site, clock: StoppedClock, app) -> None:
    ports = app.extensions["shop-ports"]
    app.extensions["shop-ports"] = type(ports)(NullEngine(), ports.clock, ports.queue)
    switch(clock, site)
    events.deliver()
    assert left() == []
    assert all_runs() == []


@pytest.mark.parametrize("state", ["running", "not set up"])
def test_the_names_of_levels_are_served_after_a_switch_whether_or_not_a_rebuild_can_begin(
    site: Site, clock: StoppedClock, app: Flask, indexing: SearchContext, state: str
) -> None:
    with transaction():
        fields = {"match": "any", "levels": ["tents"], "redirect_url": None, "boosts": ["T-1"]}
        make_rule(site, "week", words_version=configuration.raise_version(site.id), **fields)
    running = request(indexing, site.id, "PRODUCTS")
    with transaction():
        db.session.get_one(Taxonomy, (site.id, "camping")).root_levels = [level("tents") | {"name": "Canvas houses"}]
        run = db.session.get_one(RebuildRun, running)
        run.state, run.lease_until = "running", clock.now() + timedelta(minutes=5)
    if state == "not set up":
        ports = app.extensions["shop-ports"]
        app.extensions["shop-ports"] = type(ports)(NullEngine(), ports.clock, ports.queue)
    switch(clock, site)
    before = configuration.serving_state(site.id).live_version
    for _ in range(3):
        events.deliver()
    assert left() == ([(SWITCHED, 0)] if state == "running" else [])
    assert configuration.read_snapshot(site.id).rules.rules[0].names == ("Canvas houses",)
    assert configuration.serving_state(site.id).live_version == before + 1, "once, however often it is tried"


def test_an_event_that_fails_keeps_its_reason_is_tried_again_later_and_holds_up_no_other(
    site: Site, clock: StoppedClock
) -> None:
    store(clock, site, "NobodyKnowsThisEvent")
    store(clock, site, SAVED, taxonomyId="garden", revision=2)
    events.deliver()
    assert left() == [("NobodyKnowsThisEvent", 1)]
    assert "NobodyKnowsThisEvent" in (db.session.scalar(select(StoredEvent.error)) or "")
    events.deliver()
    assert left() == [("NobodyKnowsThisEvent", 1)], "it rests after a failure"
    clock.move(seconds=5)
    events.deliver()
    events.deliver()
    assert left() == [("NobodyKnowsThisEvent", 2)]
    clock.move(seconds=5)
    events.deliver()
    assert left() == [("NobodyKnowsThisEvent", 2)], "pauses double"
    clock.move(seconds=5)
    events.deliver()
    assert left() == [("NobodyKnowsThisEvent", 3)]


def test_an_event_that_fails_for_days_is_tried_every_few_hours(site: Site, clock: StoppedClock) -> None:
    store(clock, site, "NobodyKnowsThisEvent")
    for _ in range(20):
        clock.move(hours=10)
        events.deliver()
    assert left() == [("NobodyKnowsThisEvent", 20)]
    for _ in range(3):
        clock.move(hours=1)
        events.deliver()
    assert left() == [("NobodyKnowsThisEvent", 20)]
    clock.move(hours=3)
    events.deliver()
    assert left() == [("NobodyKnowsThisEvent", 21)]


def test_who_comes_to_an_event_just_after_somebody_else_failed_leaves_it(site: Site, clock: StoppedClock) -> None:
    store(clock, site, "NobodyKnowsThisEvent")
    seen = stored_events.waiting(clock)
    events.deliver()
    assert [stored_events.take(clock, event_id) for event_id in seen] == [None]


def test_without_a_queue_the_scheduler_delivers_what_waits_for_seconds(
    site: Site, clock: StoppedClock, queue: RecordingQueue, indexing: SearchContext
) -> None:
    queue.down = True
    switch(clock, site)
    scheduler = Scheduler(lambda _name, _work: False)
    scheduler.look()
    assert left() == [(SWITCHED, 0)], "a worker has its chance first"
    clock.move(seconds=3)
    scheduler.look()
    assert left() == []
    assert [run.state for run in all_runs()] == ["waiting"]


def test_the_rebuild_after_a_switch_reads_products_as_they_are_now(
    site: Site, clock: StoppedClock, indexing: SearchContext
) -> None:
    switch(clock, site)
    events.deliver()
    assert rebuild(indexing, all_runs()[0].id)
    assert all_runs()[0].state == "done"


@pytest.mark.parametrize(
    ("error", "level", "said"),
    [
        (RuntimeError("no such word"), "error", "RuntimeError: no such word"),
        (OperationalError("update", {}, Exception("away"), connection_invalidated=True), "warning", "Exception"),
        (OSError(errno.ENOSPC, "No space left on device"), "warning", "No space left on device"),
    ],
    ids=["an error of ours", "a busy database", "a full disk"],
)
def test_an_error_is_logged_with_its_facts(log_lines: list[EventDict], error: Exception, level: str, said: str) -> None:
    with follow_up("not_counted", site=7):
        raise error
    lines = [line for line in log_lines if line["event"] == "not_counted"]
    assert [(line["log_level"], line["site"], line.get("exc_info", False)) for line in lines] == [
        (level, 7, level == "error")
    ]
    assert said in lines[0]["error"]


def test_a_full_disk_is_an_alert_too() -> None:
    with follow_up("not_counted"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert [alert.cause for alert in alerts.unwritten_alerts(clock())] == [Cause.DISK_FULL]


def test_nothing_unsaved_stays_in_the_session() -> None:
    with follow_up("not_counted"):
        db.session.add(Site())
        raise RuntimeError("no such word")
    assert not db.session.new


def test_who_stops_the_process_is_heard(app: Flask) -> None:
    with pytest.raises(KeyboardInterrupt), follow_up("not_counted"):
        raise KeyboardInterrupt
