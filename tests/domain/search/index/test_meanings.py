"""A sentence model that comes after the index leads to a rebuild by the shop itself."""

from __future__ import annotations

import fcntl
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from sqlalchemy import select

from app.adapters.sentence_model.model import RELEASED, MiniLm, ModelFiles
from app.adapters.whoosh import WhooshEngine
from app.domain.search.engine import EngineFault, IndexName, SearchContext, SearchRequest
from app.domain.search.index.healing import heal
from app.domain.search.index.outbox import apply_waiting
from app.domain.search.index.rebuild import rebuild
from app.domain.search.index.runs import REBUILD
from app.domain.search.models import RebuildRun
from app.domain.search.sentence_model import Vectors
from app.domain.sites.models import AuditEntry
from app.domain.sites.settings import change_settings
from app.domain.system.overview import sentence_model_line
from app.domain.work import leases
from app.domain.work.leases import Claim
from app.extensions import db
from app.transaction import transaction
from tests.fakes.clock import StoppedClock
from tests.fakes.failing_engine import FailingEngine
from tests.fakes.queue import RecordingQueue
from tests.fakes.sentence_model import WordSums
from tests.searching import add_product, add_site, request
from tests.searching_interrupted import Interrupted

pytestmark = pytest.mark.usefixtures("context")


@pytest.fixture
def site_id(indexing: SearchContext) -> int:
    with transaction():
        site_id = add_site().id
        add_product(site_id, "couch", "Couch")
    rebuild(indexing, request(indexing, site_id))
    return site_id


@pytest.fixture
def with_model(indexing: SearchContext, tmp_path: Path) -> SearchContext:
    model = WordSums({"couch": "sofa", "settee": "sofa"})
    return replace(indexing, engine=WhooshEngine(tmp_path / "index", model, wait=60))


class LockWatching(WordSums):
    """Notes of each text that it embeds whether changes could be applied meanwhile."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.free: list[bool] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        with (self.folder / "publish.lock").open() as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self.free.append(True)
            except BlockingIOError:
                self.free.append(False)
        return super().embed(texts)


def test_nothing_is_embedded_while_others_wait_for_the_index(
    indexing: SearchContext, site_id: int, tmp_path: Path
) -> None:
    model = LockWatching(tmp_path / "index" / str(site_id) / "products")
    context = replace(indexing, engine=WhooshEngine(tmp_path / "index", model, wait=60))
    rebuild(context, request(context, site_id))
    with transaction():
        add_product(site_id, "settee", "Settee")
    apply_waiting(context, site_id)
    assert model.embedded == ["Couch", "Settee"]
    assert model.free == [True, True]


def test_a_site_by_words_alone_embeds_nothing(
    indexing: SearchContext, with_model: SearchContext, site_id: int, tmp_path: Path
) -> None:
    model = WordSums()
    context = replace(indexing, engine=WhooshEngine(tmp_path / "index", model))
    with transaction():
        change_settings(site_id, {"search-by-meaning": False})
        add_product(site_id, "settee", "Settee")
    rebuild(context, request(context, site_id))
    with transaction():
        add_product(site_id, "divan", "Divan")
    apply_waiting(context, site_id)
    assert model.embedded == []
    with transaction():
        change_settings(site_id, {"search-by-meaning": True})
    rebuild(context, request(context, site_id))
    assert sorted(model.embedded) == ["Couch", "Divan", "Settee"]


def requested() -> list[tuple[str, str]]:
    """The scope and requester of the rebuilds after the first."""
    runs = db.session.scalars(select(RebuildRun).order_by(RebuildRun.created_at)).all()
    return [(run.scope, run.requested_by) for run in runs[1:]]


def test_a_model_that_is_new_leads_to_one_rebuild_and_to_searches_by_meaning(
    with_model: SearchContext, site_id: int, clock: StoppedClock, queue: RecordingQueue
) -> None:
    clock.move(hours=2)
    heal(with_model)
    heal(with_model)
    assert requested() == [("PRODUCTS", "the shop itself")]
    entry = db.session.scalars(select(AuditEntry).where(AuditEntry.action == "index.rebuild")).one()
    assert entry.summary == "Requested a rebuild, so that the meaning of words counts in search"
    assert rebuild(with_model, *map(str, queue.jobs[-1][1]))
    settee = SearchRequest(words="settee", by_meaning=True)
    found = with_model.engine.search(site_id, IndexName.PRODUCTS, settee)
    assert (found.by_meaning_alone, [hit.card["sku"] for hit in found.hits][-1]) == (1, "couch")
    clock.move(hours=2)
    heal(with_model)
    assert len(requested()) == 1


def test_a_rebuild_that_a_worker_without_the_model_did_is_not_repeated_at_once(
    indexing: SearchContext, with_model: SearchContext, site_id: int, clock: StoppedClock, queue: RecordingQueue
) -> None:
    clock.move(hours=2)
    heal(with_model)
    assert rebuild(indexing, *map(str, queue.jobs[-1][1]))
    clock.move(minutes=50)
    heal(with_model)
    assert len(requested()) == 1
    clock.move(minutes=20)
    heal(with_model)
    assert len(requested()) == 2


def try_in_vain(indexing: SearchContext, queue: RecordingQueue) -> None:
    """Have the worker do what was requested last, without the model."""
    assert rebuild(indexing, *map(str, queue.jobs[-1][1]))


def test_two_rebuilds_in_vain_are_enough_until_somebody_else_rebuilds(
    indexing: SearchContext, with_model: SearchContext, site_id: int, clock: StoppedClock, queue: RecordingQueue
) -> None:
    for _ in range(2):
        clock.move(hours=2)
        heal(with_model)
        try_in_vain(indexing, queue)
    clock.move(hours=2)
    heal(with_model)
    assert len(requested()) == 2
    rebuild(indexing, request(indexing, site_id))
    clock.move(hours=2)
    heal(with_model)
    assert len(requested()) == 4


def test_rebuilds_that_fail_are_not_repeated_for_ever_either(
    with_model: SearchContext, site_id: int, clock: StoppedClock, queue: RecordingQueue
) -> None:
    for tries in (1, 2, 2):
        clock.move(hours=2)
        heal(with_model)
        assert len(requested()) == tries
        with transaction():
            if claim := leases.claim(REBUILD, clock):
                leases.fail(clock, claim, "The golden search couch would break.")
    advice = sentence_model_line(WordSums(), with_model.engine, site_id).advice
    assert advice == (
        "Two rebuilds for it were in vain. Rebuild the products by hand once the cause is gone. "
        "The last one failed: The golden search couch would break."
    )


def test_a_rebuild_that_failed_before_one_that_did_not_is_no_news(
    indexing: SearchContext, with_model: SearchContext, site_id: int, clock: StoppedClock, queue: RecordingQueue
) -> None:
    clock.move(hours=2)
    heal(with_model)
    with transaction():
        leases.fail(clock, cast(Claim[RebuildRun], leases.claim(REBUILD, clock)), "The disk is full.")
    clock.move(minutes=1)
    rebuild(indexing, request(indexing, site_id))
    clock.move(hours=2)
    heal(with_model)
    advice = sentence_model_line(WordSums(), with_model.engine, site_id).advice
    assert advice == "The shop requests a rebuild of the products by itself."


def test_a_cluster_that_is_away_is_not_said_to_need_a_rebuild(with_model: SearchContext, site_id: int) -> None:
    away = FailingEngine(with_model.engine, EngineFault.UNREACHABLE)
    line = sentence_model_line(WordSums(), away, site_id)
    assert (line.word, line.advice) == ("Not in use", "The cluster has a fault: unreachable.")


def test_another_model_is_tried_anew(
    indexing: SearchContext,
    with_model: SearchContext,
    tmp_path: Path,
    site_id: int,
    clock: StoppedClock,
    queue: RecordingQueue,
) -> None:
    class Other(WordSums):
        name = "other"

    for _ in range(2):
        clock.move(hours=2)
        heal(with_model)
        try_in_vain(indexing, queue)
    clock.move(hours=2)
    heal(with_model)
    assert len(requested()) == 2
    heal(replace(indexing, engine=WhooshEngine(tmp_path / "index", Other())))
    assert len(requested()) == 3


def test_a_damaged_model_leads_to_no_rebuild(
    indexing: SearchContext, tmp_path: Path, site_id: int, clock: StoppedClock
) -> None:
    damaged = MiniLm(ModelFiles(tmp_path / "nothing", RELEASED))
    clock.move(hours=2)
    heal(replace(indexing, engine=WhooshEngine(tmp_path / "index", damaged)))
    assert requested() == []


def test_a_site_that_switched_meaning_off_is_rebuilt_for_it_once_it_switches_it_on(
    with_model: SearchContext, site_id: int, clock: StoppedClock
) -> None:
    with transaction():
        change_settings(site_id, {"search-by-meaning": False})
    clock.move(hours=2)
    heal(with_model)
    assert requested() == []
    with transaction():
        change_settings(site_id, {"search-by-meaning": True})
    heal(with_model)
    assert len(requested()) == 1


def test_without_a_model_nothing_is_rebuilt(indexing: SearchContext, site_id: int, clock: StoppedClock) -> None:
    clock.move(hours=2)
    heal(indexing)
    assert requested() == []


def test_what_is_saved_just_before_a_swap_has_its_vector_when_it_is_applied(
    with_model: SearchContext, site_id: int
) -> None:
    def save() -> None:
        with transaction():
            add_product(site_id, "settee", "Settee")

    engine = Interrupted(with_model.engine, "lock", save)
    rebuild(replace(with_model, engine=engine), request(with_model, site_id))
    apply_waiting(with_model, site_id)
    status = with_model.engine.status(site_id, IndexName.PRODUCTS)
    assert (status.documents, status.vectors) == (2, 2)
