"""A damaged or lost index is rebuilt by the shop itself, with pauses, and its owner is told."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from app.adapters.null_engine import NullEngine
from app.adapters.whoosh import WhooshEngine
from app.adapters.whoosh.generation import read_commit, write_commit
from app.domain.alerts.models import Alert
from app.domain.search.engine import EngineFault, EngineState, IndexName, SearchContext
from app.domain.search.index.healing import heal, lacks_products, lost_indexes
from app.domain.search.index.rebuild import rebuild
from app.domain.search.index.runs import REBUILD
from app.domain.search.models import RebuildRun
from app.domain.sites.models import AuditEntry
from app.domain.sites.settings import change_settings
from app.domain.work import leases
from app.extensions import db
from app.transaction import transaction
from tests.fakes.clock import StoppedClock
from tests.fakes.failing_engine import FailingEngine
from tests.fakes.queue import RecordingQueue
from tests.searching import add_page, add_product, add_site, found, request

pytestmark = pytest.mark.usefixtures("context")


@pytest.fixture
def site_id(indexing: SearchContext, clock: StoppedClock) -> int:
    with transaction():
        site_id = add_site().id
        add_product(site_id, "tent")
        add_page(site_id, "delivery")
    rebuild(indexing, request(indexing, site_id))
    clock.move(minutes=5)
    return site_id


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "index" / "1"


def spoil(index: Path) -> None:
    for segment in (index / "current").resolve().glob("*.seg"):
        os.truncate(segment, 100)


def requested() -> list[tuple[str, str, str]]:
    """The scope, state and requester of the rebuilds after the first."""
    query = select(RebuildRun).order_by(RebuildRun.created_at)
    return [(run.scope, run.state, run.requested_by) for run in db.session.scalars(query).all()[1:]]


def states() -> list[str]:
    """The states of all rebuilds."""
    return list(db.session.scalars(select(RebuildRun.state).order_by(RebuildRun.created_at)))


def alerts() -> dict[tuple[str, str], str]:
    """The open ones."""
    rows = db.session.scalars(select(Alert).where(Alert.ended_at.is_(None)))
    return {(alert.cause, alert.subject): alert.detail for alert in rows}


def fail_the_rebuild(clock: StoppedClock) -> None:
    with transaction():
        claim = leases.claim(REBUILD, clock)
        assert claim is not None
        leases.fail(clock, claim, "There is no space left on the disk. Free some, then rebuild.")


def test_nothing_happens_while_all_is_well(indexing: SearchContext, site_id: int) -> None:
    heal(indexing)
    assert (requested(), alerts()) == ([], {})


@pytest.mark.parametrize(
    ("names", "scope", "named"),
    [
        (["products"], "PRODUCTS", "products"),
        (["content"], "CONTENT", "pages and collections"),
        (["products", "content"], "ALL", "products and of pages and collections"),
    ],
)
def test_what_is_damaged_is_rebuilt_and_the_owner_told_until_it_is(
    indexing: SearchContext, site_id: int, index: Path, queue: RecordingQueue, names: list[str], scope: str, named: str
) -> None:
    for name in names:
        spoil(index / name)
    heal(indexing)
    heal(indexing)
    assert requested() == [(scope, "waiting", "the shop itself")]
    entry = db.session.scalars(select(AuditEntry).where(AuditEntry.action == "index.rebuild")).one()
    assert (entry.actor, entry.summary) == ("the shop itself", f"Requested a rebuild of the lost index of {named}")
    subjects = {"products": "products", "content": "pages and collections"}
    assert alerts().keys() == {("index_damaged", subjects[name]) for name in names}
    assert all("is damaged" in detail for detail in alerts().values())
    job, arguments = queue.jobs[-1]
    assert job == "search:rebuild" and rebuild(indexing, *map(str, arguments))
    heal(indexing)
    assert alerts() == {}
    assert all(indexing.engine.status(site_id, name).state is EngineState.HEALTHY for name in IndexName)
    assert found(indexing, site_id) == {"tent"}


@pytest.mark.parametrize("fault", [fault for fault in EngineFault if fault is not EngineFault.INDEX])
def test_an_engine_that_fails_is_said_and_not_rebuilt_until_it_is_well(
    indexing: SearchContext, site_id: int, fault: EngineFault
) -> None:
    engine = FailingEngine(indexing.engine, fault)
    failing = replace(indexing, engine=engine)
    heal(failing)
    heal(failing)
    assert alerts() == {("search_engine_failing", ""): f"The cluster has a fault: {fault}."}
    assert lost_indexes(engine, site_id) == []
    engine.fault = None
    heal(failing)
    assert (requested(), alerts()) == ([], {})


def test_a_new_shop_waits_with_its_first_index_for_an_engine_that_does_not_answer(indexing: SearchContext) -> None:
    with transaction():
        site_id = add_site().id
        add_product(site_id, "tent")
    engine = FailingEngine(indexing.engine, EngineFault.UNREACHABLE)
    failing = replace(indexing, engine=engine)
    heal(failing)
    assert not lacks_products(engine, site_id)
    assert db.session.scalars(select(RebuildRun)).all() == []
    engine.fault = None
    heal(failing)
    assert [run.site_id for run in db.session.scalars(select(RebuildRun))] == [site_id]


def upgraded(indexing: SearchContext, index: Path) -> SearchContext:
    """The processes of a shop after an upgrade: a release whose segments have no number of their analysis made the
    index."""
    directory = (index / "current").resolve()
    commit = read_commit(directory)
    for segment in commit.segments:
        del segment.analysis
    write_commit(directory, commit, commit.segments)
    return replace(indexing, engine=WhooshEngine(index.parent.parent))


def test_an_index_that_another_release_made_answers_until_it_is_rebuilt(
    indexing: SearchContext, site_id: int, index: Path, queue: RecordingQueue
) -> None:
    indexing = upgraded(indexing, index / "products")
    heal(indexing)
    heal(indexing)
    assert (requested(), alerts()) == ([("PRODUCTS", "waiting", "the shop itself")], {})
    entry = db.session.scalars(select(AuditEntry).where(AuditEntry.action == "index.rebuild")).one()
    assert entry.summary == "Requested a rebuild of the index of products, which another release of the shop made"
    assert found(indexing, site_id) == {"tent"}
    assert rebuild(indexing, *map(str, queue.jobs[-1][1]))
    heal(indexing)
    assert len(requested()) == 1
    assert not indexing.engine.status(site_id, IndexName.PRODUCTS).outdated


def test_rebuilds_of_an_outdated_index_that_fail_are_not_repeated_for_ever(
    indexing: SearchContext, site_id: int, index: Path, clock: StoppedClock
) -> None:
    indexing = upgraded(indexing, index / "products")
    for _ in range(4):
        heal(indexing)
        if any(state == "waiting" for _, state, _ in requested()):
            fail_the_rebuild(clock)
        clock.move(minutes=90)
    assert [state for _, state, _ in requested()] == ["failed", "failed"]


def test_a_folder_that_is_gone_is_rebuilt(indexing: SearchContext, site_id: int, index: Path) -> None:
    shutil.rmtree(index)
    heal(indexing)
    assert requested() == [("ALL", "waiting", "the shop itself")]


def test_a_site_without_index_gets_its_first_which_was_not_lost(indexing: SearchContext) -> None:
    with transaction():
        new = add_site("new.test").id
    assert lost_indexes(indexing.engine, new) == []
    heal(indexing)
    heal(indexing)
    run = db.session.scalars(select(RebuildRun)).one()
    assert (run.site_id, run.scope, run.requested_by) == (new, "ALL", "the shop itself")
    assert rebuild(indexing, run.id) and alerts() == {}


def test_content_that_is_not_searched_is_not_lost(indexing: SearchContext, site_id: int, index: Path) -> None:
    with transaction():
        change_settings(site_id, {"search-content-enabled": False})
    spoil(index / "content")
    assert lost_indexes(indexing.engine, site_id) == []


def test_without_an_engine_nothing_is_lost(indexing: SearchContext, site_id: int) -> None:
    assert lost_indexes(NullEngine(), site_id) == []
    with transaction():
        add_site("new.test")
    heal(replace(indexing, engine=NullEngine()))
    assert requested() == []


def test_one_that_is_under_way_is_waited_for(indexing: SearchContext, site_id: int, index: Path) -> None:
    run_id = request(indexing, site_id, "PRODUCTS")
    spoil(index / "products")
    heal(indexing)
    assert requested() == [("PRODUCTS", "waiting", "tests")]
    assert rebuild(indexing, run_id)


def test_golden_searches_do_not_hold_back_what_takes_the_place_of_nothing(
    indexing: SearchContext, site_id: int, index: Path
) -> None:
    spoil(index / "products")
    assert rebuild(indexing, request(indexing, site_id, "PRODUCTS"), examine=lambda *_: "It would break a search.")
    assert indexing.engine.status(site_id, IndexName.PRODUCTS).state is EngineState.HEALTHY


def test_one_that_fails_is_tried_again_after_a_pause_and_the_second_failure_is_told(
    indexing: SearchContext, site_id: int, index: Path, clock: StoppedClock
) -> None:
    spoil(index / "products")
    heal(indexing)
    fail_the_rebuild(clock)
    heal(indexing)
    assert len(requested()) == 1 and ("index_not_rebuilt", "") not in alerts()
    clock.move(minutes=1)
    heal(indexing)
    assert len(requested()) == 2
    fail_the_rebuild(clock)
    heal(indexing)
    assert alerts()["index_not_rebuilt", ""] == "There is no space left on the disk. Free some, then rebuild."
    clock.move(minutes=2)
    heal(indexing)
    assert len(requested()) == 3
    assert rebuild(indexing, db.session.scalars(select(RebuildRun.id).where(RebuildRun.state == "waiting")).one())
    heal(indexing)
    assert alerts() == {}


def test_a_first_index_that_could_not_be_built_is_tried_again_with_pauses(
    indexing: SearchContext, clock: StoppedClock
) -> None:
    """Whichever engine it is: what ailed it may be over."""
    with transaction():
        site_id = add_site("new.test").id
        add_product(site_id, "tent")
    heal(indexing)
    fail_the_rebuild(clock)
    heal(indexing)
    assert (states(), alerts()) == (["failed"], {})
    clock.move(minutes=1)
    heal(indexing)
    heal(indexing)
    assert (states(), alerts()) == (["failed", "waiting"], {})
    entry = db.session.scalars(select(AuditEntry).where(AuditEntry.action == "index.rebuild")).one()
    expected = "Requested a rebuild of the missing index of products and of pages and collections"
    assert (entry.actor, entry.summary) == ("the shop itself", expected)
    fail_the_rebuild(clock)
    heal(indexing)
    assert alerts()["index_not_rebuilt", ""] == "There is no space left on the disk. Free some, then rebuild."
    assert ("index_damaged", "products") not in alerts()
    assert lost_indexes(indexing.engine, site_id) == [], "it was never there"
    clock.move(minutes=2)
    heal(indexing)
    assert rebuild(indexing, db.session.scalars(select(RebuildRun.id).where(RebuildRun.state == "waiting")).one())
    heal(indexing)
    assert (found(indexing, site_id), alerts()) == ({"tent"}, {})


def test_pages_whose_search_was_switched_on_wait_for_the_rebuild_that_is_requested_then(
    indexing: SearchContext, clock: StoppedClock
) -> None:
    with transaction():
        site_id = add_site("new.test").id
        change_settings(site_id, {"search-content-enabled": False})
    heal(indexing)
    assert rebuild(indexing, db.session.scalars(select(RebuildRun.id)).one())
    with transaction():
        change_settings(site_id, {"search-content-enabled": True})
    clock.move(minutes=10)
    heal(indexing)
    assert states() == ["done"]


def test_a_fault_that_lasts_is_one_alert_noted_once_a_minute(
    indexing: SearchContext, site_id: int, index: Path, clock: StoppedClock
) -> None:
    spoil(index / "products")
    for _ in range(6):
        heal(indexing)
        clock.move(seconds=30)
    (alert,) = db.session.scalars(select(Alert)).all()
    assert alert.times == 3
