"""The banner of the editor: what search does not have yet, the rebuild that a save needs, and what came of tasks."""

from __future__ import annotations

from datetime import timedelta

import pytest
from flask import Flask

from app.domain.search.models import OutboxEntry, RebuildRun
from app.domain.sites.models import Site
from app.domain.taxonomy.models import Taxonomy, TaxonomyTask
from app.domain.taxonomy.tasks.runner import work_off
from app.domain.work.context import WorkContext
from app.extensions import db
from app.jobs import events
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser
from tests.blueprints.admin.taxonomy_editor import (
    EDITOR,
    LEVELS,
    colour_with,
    edit,
    merchandiser_of_tents,
    save,
    texts,
)
from tests.factories import make_run, make_taxonomy
from tests.fakes.clock import StoppedClock


@pytest.fixture
def mia(app: Flask) -> Merchandiser:
    return merchandiser_of_tents(app)


def follow_up(app: Flask) -> None:
    """What the worker does with the event of a save; the outbox is empty then."""
    with app.app_context():
        events.deliver()
        with transaction():
            db.session.query(OutboxEntry).delete()


def add_stoves(app: Flask, mia: Merchandiser) -> None:
    edit(mia, {"edit": "level.add", "parent": "camping", "name": "Stoves"})
    save(mia)
    follow_up(app)


def banner(mia: Merchandiser) -> str:
    return mia.fragment(f"{EDITOR}/banner?part=reindex").text


def test_the_banner_follows_the_rebuild_that_comes_of_a_save_by_itself(app: Flask, mia: Merchandiser) -> None:
    edit(mia, {"edit": "level.add", "parent": "camping", "name": "Stoves"})
    save(mia)
    assert "follow by themselves in a few seconds" in texts(mia.get(EDITOR))
    follow_up(app)
    waiting = banner(mia)
    assert "by themselves" in waiting and 'hx-trigger="every 1500ms"' in waiting
    assert "Rebuild…" not in waiting
    with app.app_context(), transaction():
        needed = db.session.query(Taxonomy).one().rebuild_needed_at
        assert needed is not None
        make_run(
            db.session.get_one(Site, mia.site_id),
            state="running",
            scope="PRODUCTS",
            started_at=needed + timedelta(seconds=5),
            lease_until=needed + timedelta(hours=1),
            done=2,
            total=5,
        )
    running = banner(mia)
    assert "Rebuilding: 40 %." in running and 'hx-trigger="every 1500ms"' in running
    with app.app_context(), transaction():
        run = db.session.query(RebuildRun).one()
        run.state, run.done, run.finished_at = "done", 3, run.started_at
    ended = mia.fragment(f"{EDITOR}/banner?part=reindex").text
    assert "Shoppers have the new filters: 3 products indexed" in ended and "every" not in ended
    assert "Shoppers’ filters are up to date: 3 products indexed" in texts(mia.get(EDITOR)), "it is no news there"


def test_a_rebuild_that_has_not_come_for_a_minute_is_offered(
    app: Flask, mia: Merchandiser, clock: StoppedClock
) -> None:
    add_stoves(app, mia)
    clock.move(minutes=1)
    assert "Rebuild now" not in banner(mia)
    clock.move(seconds=1)
    late = banner(mia)
    assert "Rebuild now" in late and 'hx-trigger="every 5s"' in late
    assert "do not have the last save yet" in late and "failed" not in late
    assert 'hx-trigger="every 1500ms"' in mia.swap(f"{EDITOR}/rebuild", {}).text


def test_a_save_of_texts_alone_leaves_the_filters_up_to_date(app: Flask, mia: Merchandiser) -> None:
    edit(mia, {"edit": "level.change", "level": "tents", "name": "Tents", "description": "To sleep in"})
    save(mia)
    follow_up(app)
    assert "Shoppers’ filters are up to date" in banner(mia) and "every" not in banner(mia)


def test_a_rebuild_that_failed_says_why_and_is_offered_again(app: Flask, mia: Merchandiser) -> None:
    add_stoves(app, mia)
    with app.app_context(), transaction():
        needed = db.session.query(Taxonomy).one().rebuild_needed_at
        assert needed is not None
        began = needed + timedelta(seconds=5)
        site = db.session.get_one(Site, mia.site_id)
        make_run(site, state="failed", scope="PRODUCTS", started_at=began, finished_at=began, error="The disk is full.")
    page = mia.get(EDITOR)
    assert "The rebuild failed: The disk is full." in texts(page)
    opener = next(button for button in page.all("button") if button.get("commandfor") == "rebuild-products")
    assert opener["command"] == "show-modal"
    assert page.texts["h2"].count("Rebuild the index of products?") == 1
    assert 'hx-trigger="every 1500ms"' in mia.swap(f"{EDITOR}/rebuild", {}).text
    with app.app_context():
        assert db.session.query(RebuildRun.state).order_by(RebuildRun.created_at.desc()).first() == ("waiting",)


def test_the_banner_counts_what_search_does_not_have(app: Flask, mia: Merchandiser, clock: StoppedClock) -> None:
    """ "Up to date" is told only while nothing waits and nothing was set aside."""
    with app.app_context(), transaction():
        make_run(db.session.get_one(Site, mia.site_id), started_at=clock.now() + timedelta(days=365))
        db.session.query(OutboxEntry).delete()
        for record in (1, 2):
            db.session.add(entry(mia.site_id, record, clock, attempts=0))
        db.session.add(entry(mia.site_id, 3, clock, attempts=1))
    page = mia.get(EDITOR)
    text = texts(page)
    assert "2 changes wait to get into search. 1 record could not be indexed" in text
    assert "up to date" not in text
    assert "/admin/search" in {link.get("href") for link in page.all("a")}
    clock.move(minutes=3)
    assert "2 changes wait for more than two minutes" in texts(mia.get(EDITOR))


def entry(site_id: int, record_id: int, clock: StoppedClock, attempts: int) -> OutboxEntry:
    return OutboxEntry(
        site_id=site_id, kind="product", record_id=record_id, attempts=attempts, created_at=clock.now(), error="no"
    )


def test_what_came_of_a_save_is_told_for_two_minutes_and_a_failure_for_longer(
    app: Flask, mia: Merchandiser, clock: StoppedClock
) -> None:
    edit(mia, colour_with(("Crimson", "Red"), ("Blue", "Blue")))
    save(mia)
    with app.app_context():
        work_off(WorkContext(clock, transaction), mia.site_id)
    address = f"{EDITOR}/banner?part=tasks"
    result = "Renaming values on products"
    assert result in mia.fragment(address).text and "3 products have the new words now." in mia.fragment(address).text
    clock.move(minutes=1)
    assert result in mia.fragment(address).text
    assert 'hx-trigger="every 60s"' in mia.fragment(address).text
    clock.move(minutes=2)
    assert result not in mia.fragment(address).text and "hx-get" not in mia.fragment(address).text
    assert result not in texts(mia.get(EDITOR))
    with app.app_context(), transaction():
        db.session.query(TaxonomyTask).filter_by(kind="RENAME_VALUES").one().state = "failed"
    assert result in mia.fragment(address).text


def test_a_taxonomy_that_the_shop_does_not_use_has_no_banner(app: Flask, mia: Merchandiser) -> None:
    with app.app_context(), transaction():
        make_taxonomy(db.session.get_one(Site, mia.site_id), LEVELS, id="spare")
    page = mia.get("/admin/catalogue/taxonomy/spare?level=tents&attribute=colour")
    assert "Rebuild…" not in texts(page)
    assert not [place for place in page.all("span") if "data-products" in place]


def test_a_rebuild_that_was_requested_before_the_save_and_began_after_it_brings_it(
    app: Flask, mia: Merchandiser, clock: StoppedClock
) -> None:
    with app.app_context(), transaction():
        requested = clock.now()
        make_run(db.session.get_one(Site, mia.site_id), state="waiting", scope="ALL", created_at=requested)
    clock.move(seconds=5)
    add_stoves(app, mia)
    clock.move(seconds=5)
    with app.app_context(), transaction():
        run = db.session.query(RebuildRun).one()
        run.state, run.started_at, run.finished_at = "done", clock.now(), clock.now()
    assert "Shoppers’ filters are up to date" in texts(mia.get(EDITOR))
    with app.app_context(), transaction():
        db.session.query(RebuildRun).one().started_at = requested
    assert "follow by themselves in a few seconds" in texts(mia.get(EDITOR))


@pytest.mark.parametrize(
    ("scope", "seconds_before_the_save", "is_in_it"),
    [("ALL", 5, False), ("PRODUCTS", 5, False), ("CONTENT", -5, False), ("PRODUCTS", -5, True)],
)
def test_a_rebuild_that_does_not_bring_the_save_is_not_shown_as_if_it_did(
    app: Flask, mia: Merchandiser, clock: StoppedClock, scope: str, seconds_before_the_save: int, is_in_it: bool
) -> None:
    """It began before the save, or is of something else; the products are then rebuilt right after it."""
    add_stoves(app, mia)
    with app.app_context(), transaction():
        began = clock.now() - timedelta(seconds=seconds_before_the_save)
        site = db.session.get_one(Site, mia.site_id)
        lease = clock.now() + timedelta(hours=1)
        make_run(site, state="running", scope=scope, created_at=began, started_at=began, lease_until=lease)
    assert ("Rebuilding." in texts(mia.get(EDITOR))) == is_in_it
    answer = mia.swap(f"{EDITOR}/rebuild", {})
    assert ("Products are rebuilt" in answer.text) != is_in_it and 'hx-trigger="every 1500ms"' in answer.text
    with app.app_context(), transaction():
        run = db.session.query(RebuildRun).one()
        assert run.queued_scope == (None if is_in_it else "PRODUCTS")
        run.state, run.finished_at = "done", clock.now()
        db.session.query(OutboxEntry).delete()
    assert ("Shoppers have the new filters" in mia.fragment(f"{EDITOR}/banner?part=reindex").text) == is_in_it
