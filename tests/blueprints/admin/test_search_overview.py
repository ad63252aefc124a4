"""The Overview of the Search section, with the engine in every state."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import select

from app.adapters.null_engine import NullEngine
from app.domain.catalogue.models import Product
from app.domain.search.engine import EngineFault
from app.domain.search.index.runs import request_rebuild, view
from app.domain.search.models import OutboxEntry, RebuildRun, ReconcileReport
from app.domain.shared.author import Author
from app.domain.sites.accounts import Role
from app.domain.sites.activity import activity
from app.domain.sites.models import Site
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.jobs import search
from app.ports import EXTENSION, Ports, search_engine, worker_locks
from app.transaction import transaction
from tests.factories import make_page, make_product, make_run
from tests.fakes.clock import StoppedClock
from tests.fakes.failing_engine import FailingEngine
from tests.page_client import PageClient, check_page


@pytest.fixture
def shop(app: Flask, site_id: int) -> int:
    """Two shown products, a hidden one and a page."""
    with app.app_context(), transaction():
        site = db.session.get(Site, site_id)
        assert site is not None
        make_product(site)
        make_product(site)
        make_product(site, enabled=False)
        make_page(site)
    return site_id


def test_a_shop_that_was_never_indexed_is_told_to_rebuild(shop: int, signed_in) -> None:
    html = _html(signed_in())
    assert "never built" in html
    assert "Unreachable" in html
    assert "Rebuild…" in html


@pytest.mark.parametrize(
    ("fault", "word"), [(EngineFault.CERTIFICATE, "Certificate not trusted"), (EngineFault.DISK_FULL, "Disk full")]
)
def test_the_card_says_what_is_wrong_with_a_cluster(
    app: Flask, shop: int, signed_in, fault: EngineFault, word: str
) -> None:
    browser: PageClient = signed_in(Role.ADMIN)
    browser.post("/admin/search/rebuild", {"scope": "ALL"})
    with app.app_context():
        search.rebuild(_run().id)
    ports: Ports = app.extensions[EXTENSION]
    app.extensions[EXTENSION] = replace(ports, search_engine=FailingEngine(ports.search_engine, fault))
    for page in (
        _html(browser, address) for address in ("/admin/search", "/admin/settings/search", "/admin/settings/system")
    ):
        assert word in page and "The cluster has a fault" in page
        assert "The shop rebuilds it by itself" not in page and "never built" not in page
    assert ("what is saved waits" in _html(browser)) == (fault is EngineFault.CERTIFICATE), "a full disk answers"


def test_an_index_that_is_damaged_is_unreachable_and_said_to_heal_by_itself(
    app: Flask, shop: int, signed_in, clock: StoppedClock, tmp_path: Path
) -> None:
    browser: PageClient = signed_in()
    browser.post("/admin/search/rebuild", {"scope": "ALL"})
    with app.app_context():
        search.rebuild(_run().id)
    assert "Healthy" in _html(browser)
    for segment in (tmp_path / "index" / str(shop) / "products").glob("gen-*/*.seg"):
        os.truncate(segment, 100)
    page = _html(browser)
    assert "Unreachable" in page and "its index is damaged" in page
    assert "The shop rebuilds it by itself" in page and "never built" not in page
    clock.move(minutes=1)
    with app.app_context():
        search.heal()
    page = _html(browser)
    assert "A rebuild is under way" in page and "requested by the shop itself" in page
    with app.app_context():
        (entry,) = [entry for entry in activity(shop).items if entry.actor == "the shop itself"]
    assert entry.summary == "Requested a rebuild of the lost index of products"


@pytest.mark.parametrize("index", ["products", "content"])
def test_the_overview_and_the_test_of_a_search_say_the_same_of_an_index_that_is_gone(
    app: Flask, shop: int, signed_in, tmp_path: Path, index: str
) -> None:
    browser: PageClient = signed_in()
    browser.post("/admin/search/rebuild", {"scope": "ALL"})
    with app.app_context():
        search.rebuild(_run().id)
        sku = db.session.scalars(select(Product.sku).where(Product.enabled)).first()
    tested, as_json = f"/admin/search/test?q={sku}", {"Accept": "application/json"}
    assert browser.client.get(tested, headers=as_json).json["found"] == 1
    shutil.rmtree(tmp_path / "index" / str(shop) / index)
    status = browser.client.get("/admin/search/rest/status").json["engine"]
    answer = browser.client.get(tested, headers=as_json).json
    assert answer["engine"] == status and status["error"]
    overview, test = _html(browser), _html(browser, tested)
    assert all(status["error"] in page and "The shop rebuilds it" in page for page in (overview, test))
    if index == "products":
        assert status["state"] == "UNREACHABLE" and "Unreachable" in overview
        assert (answer["found"], answer["products"]) == (None, [])
    else:
        assert status["state"] == "HEALTHY" and "Pages missing" in overview
        assert answer["found"] == 1 and answer["content"] == []
        assert browser.client.get("/admin/search/rest/status").json["pagesIndexed"] is None
        assert "are not in search yet" not in overview and status["error"] in _html(browser, "/admin/")


def test_a_rebuild_is_followed_from_waiting_to_done(app: Flask, shop: int, signed_in) -> None:
    browser: PageClient = signed_in()
    browser.get("/admin/search")
    browser.post("/admin/search/rebuild", {"scope": "ALL"})
    assert "A rebuild waits for its turn" in _html(browser)
    same = _fragment(browser, was="waiting")
    assert "every 1500ms" in same and "hx-partial" not in same
    with app.app_context():
        search.rebuild(_run().id)
    done = _fragment(browser, was="waiting")
    assert "The last rebuild is done: Everything. 3 documents." in done
    assert "every 1500ms" not in done and "Healthy" in done
    page = _html(browser)
    assert "all that the shop shows" in page and "requested by The Merchandiser" in page


def test_a_worker_that_does_not_take_up_a_rebuild_is_named(shop: int, signed_in, clock: StoppedClock) -> None:
    browser = signed_in()
    browser.get("/admin/search")
    browser.post("/admin/search/rebuild", {"scope": "ALL"})
    assert "Starts in a moment" in _html(browser)
    clock.move(seconds=20)
    assert "The worker does not answer; nothing is lost." in _html(browser)
    assert "Starts in a moment" not in _html(browser)


def test_the_message_of_a_request_goes_when_the_rebuild_is_done(app: Flask, shop: int, signed_in) -> None:
    browser: PageClient = signed_in()
    browser.get("/admin/search")
    browser.post("/admin/search/rebuild", {"scope": "ALL"})
    assert "The rebuild is requested." in _html(browser)
    assert 'id="flashes"' not in _fragment(browser, "")
    with app.app_context():
        search.rebuild(_run().id)
    assert '<div id="flashes" class="flashes" role="status" hx-swap-oob="true">' in _fragment(browser, "waiting")


def test_a_second_request_joins_the_first_and_says_whose_it_is(app: Flask, shop: int, signed_in) -> None:
    browser: PageClient = signed_in()
    browser.get("/admin/search")
    browser.post("/admin/search/rebuild", {"scope": "PRODUCTS"})
    browser.post("/admin/search/rebuild", {"scope": "ALL"})
    shown = _html(browser)
    assert "A rebuild of products, requested by The Merchandiser, is under way already." in shown
    result = "Pages and collections are rebuilt right after it, since it rebuilds products only."
    assert shown.count(result) == 2, "in the message, and in the card of the run while it lasts"
    with app.app_context():
        assert len(db.session.scalars(select(RebuildRun)).all()) == 1


def test_a_failed_rebuild_tells_why_and_what_is_left(app: Flask, shop: int, signed_in, clock: StoppedClock) -> None:
    with app.app_context(), transaction():
        db.session.add(_failed_run(shop, clock))
    browser: PageClient = signed_in()
    html = _html(browser)
    assert "The last rebuild failed" in html and "no space left" in html
    assert "There is no index of products in use" in html
    assert "7 documents" not in html and '<td data-label="Documents" class="n">–</td>' in html
    assert "7 documents" not in _html(browser, "/admin/")


def test_after_a_failed_rebuild_a_cluster_that_is_away_is_not_taken_for_one_without_an_index(
    app: Flask, shop: int, signed_in, clock: StoppedClock
) -> None:
    with app.app_context(), transaction():
        db.session.add(_failed_run(shop, clock))
    ports: Ports = app.extensions[EXTENSION]
    app.extensions[EXTENSION] = replace(
        ports, search_engine=FailingEngine(ports.search_engine, EngineFault.UNREACHABLE)
    )
    html = _html(signed_in())
    assert "no space left" in html and "There is no index" not in html and "None" not in html


def test_without_an_engine_the_page_works_and_shows_the_way(app: Flask, shop: int, signed_in) -> None:
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], search_engine=NullEngine())
    browser: PageClient = signed_in()
    html = _html(browser)
    assert "Not set up" in html and "/admin/settings/search" in html and "Rebuild…" not in html
    assert "SEARCH_ENGINE=whoosh" in browser.client.get("/admin/settings/search").text
    browser.post("/admin/search/rebuild", {"scope": "ALL"})
    assert "Search is not set up" in _html(browser)


def test_pages_are_off_while_content_search_is_off(app: Flask, shop: int, signed_in) -> None:
    with app.app_context(), transaction():
        change_settings(shop, {"search-content-enabled": False})
    browser: PageClient = signed_in()
    html = _html(browser)
    assert "content search is off" in html and ">Off" in html
    browser.post("/admin/search/rebuild", {"scope": "CONTENT"})
    assert "Content search is switched off" in _html(browser)


def test_the_nightly_comparison_shows_what_it_found(app: Flask, shop: int, signed_in, clock: StoppedClock) -> None:
    with app.app_context(), transaction():
        for days, missing in ((0, 2), (3, 0), (29, 5), (31, 100)):
            db.session.add(ReconcileReport(site_id=shop, at=clock.now() - timedelta(days=days), missing=missing))
    html = _html(signed_in())
    assert "The last one found 2 missing, 0 out of date and 0 that should not be there" in html
    assert "over 30 days: 7 in all" in html


def test_an_unknown_scope_is_refused_and_nothing_starts(app: Flask, shop: int, signed_in) -> None:
    browser: PageClient = signed_in()
    browser.get("/admin/search")
    browser.post("/admin/search/rebuild", {"scope": "EVERYTHING"}, status=400)
    with app.app_context():
        assert db.session.scalars(select(RebuildRun)).all() == []


def test_changes_that_do_not_get_through_are_noticed(app: Flask, shop: int, signed_in, clock: StoppedClock) -> None:
    with app.app_context():
        with transaction():
            run, _ = request_rebuild(Author(shop, "Mia Moss", clock), search_engine(), worker_locks(), "ALL")
            run_id = run.id
        search.rebuild(run_id)
        with transaction():
            db.session.add(OutboxEntry(site_id=shop, kind="product", record_id=1, created_at=clock.now()))
    browser = signed_in()
    clock.move(minutes=2)
    assert "See whether the worker is running" not in _html(browser)
    clock.move(seconds=1)
    assert "1 change waits for more than two minutes" in _html(browser)
    assert "1 change waits for more than two minutes" in browser.client.get("/admin/").text


def test_the_dashboard_tells_what_wants_a_look(shop: int, signed_in) -> None:
    html = signed_in().client.get("/admin/").text
    assert "never built" in html and "1 product is hidden from the shop." in html


def test_the_json_of_a_run_is_the_contracts(app: Flask, shop: int, clock: StoppedClock) -> None:
    with app.app_context():
        assert set(view(_failed_run(shop, clock))) == {
            "runId", "scope", "state", "documentCount", "totalCount", "outcome", "error", "requestedBy",
            "createdAt", "startedAt", "finishedAt", "joined",
        }  # fmt: skip


def _html(browser: PageClient, address: str = "/admin/search") -> str:
    answer = browser.client.get(address)
    check_page(answer.text)
    return " ".join(answer.text.split())


def _fragment(browser: PageClient, was: str) -> str:
    return browser.client.get(f"/admin/search/run?was={was}", headers={"HX-Request": "true"}).text


def _run() -> RebuildRun:
    return db.session.scalars(select(RebuildRun)).one()


def test_a_rebuild_that_was_blocked_leads_to_what_can_be_changed(
    app: Flask, shop: int, signed_in, clock: StoppedClock
) -> None:
    with app.app_context(), transaction():
        run = _failed_run(shop, clock)
        run.error, run.blocked = (
            "The new index was blocked, since it would break a golden search that passes.",
            True,
        )
        db.session.add(run)
    links = {link.get("href") for link in signed_in().get("/admin/search").all("a")}
    assert "/admin/settings/search#golden-searches" in links


def _failed_run(site_id: int, clock: StoppedClock) -> RebuildRun:
    return RebuildRun(
        id="r1",
        site_id=site_id,
        scope="ALL",
        state="failed",
        done=7,
        total=9,
        error="no space left on the disk",
        requested_by="Mia Moss",
        created_at=clock.now(),
        generations={},
    )


def test_the_whole_history_is_a_page_away(app: Flask, shop: int, signed_in, clock: StoppedClock) -> None:
    browser: PageClient = signed_in()
    assert "Show all" not in _html(browser)
    with app.app_context(), transaction():
        for hours in range(60):
            at = clock.now() - timedelta(hours=hours)
            make_run(db.session.get_one(Site, shop), created_at=at, finished_at=at, done=1000 + hours)
    assert '<a href="/admin/search/rebuilds">Show all 60</a>' in _html(browser)
    first, second = _html(browser, "/admin/search/rebuilds"), _html(browser, "/admin/search/rebuilds?p=2")
    assert "1,049" in first and "1,050" not in first and "/admin/search/rebuilds?p=2" in first
    assert "1,050" in second and "1,059" in second


def test_a_history_without_rebuilds_says_so(shop: int, signed_in) -> None:
    assert "The rebuilds of the last 30 days are listed here." in _html(signed_in(), "/admin/search/rebuilds")
