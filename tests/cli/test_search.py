"""Rebuilding, reconciling and searching from the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Event, current_thread

import pytest
from click.testing import Result
from flask import Flask
from sqlalchemy import delete, select, update

from app.adapters.whoosh import WhooshEngine
from app.cli.search import finished_run
from app.domain.catalogue.models import INDEXED_SEPARATELY, Product
from app.domain.relevance import golden
from app.domain.search.index import runs
from app.domain.search.index.runs import REBUILD
from app.domain.search.models import OutboxEntry, RebuildRun, ReconcileReport
from app.domain.search.sentence_model import Vectors
from app.domain.shared.author import Author
from app.domain.sites.models import Site
from app.domain.sites.settings import change_settings
from app.domain.work import leases
from app.extensions import db
from app.ports import EXTENSION, search_engine, worker_locks
from app.transaction import transaction
from tests.fakes.clock import StoppedClock
from tests.fakes.queue import RecordingQueue
from tests.fakes.sentence_model import WordSums
from tests.searching import add_page, add_product, add_site


@pytest.fixture(autouse=True)
def site(app: Flask) -> None:
    with app.app_context(), transaction():
        site_id = add_site("shop.test").id
        add_product(site_id, "tent-1", "Green tent")
        add_product(site_id, "tent-2", "Red tent")
        add_product(site_id, "stove-1", "Gas stove")
        add_page(site_id, "tents", "<p>How to pitch a tent.</p>")


def run(app: Flask, *arguments: str, stdin: str = "") -> Result:
    return app.test_cli_runner().invoke(args=arguments, input=stdin)


def test_a_rebuild_that_is_waited_for_needs_no_worker(app: Flask) -> None:
    result = run(app, "index", "rebuild", "--wait")
    assert result.exit_code == 0
    assert "Done: 4 documents" in result.output


def test_a_rebuild_from_the_command_line_is_blocked_by_golden_searches_too(app: Flask, clock: StoppedClock) -> None:
    run(app, "index", "rebuild", "--wait")
    with app.app_context(), transaction():
        site_id = db.session.scalars(select(Site.id)).one()
        change_settings(site_id, {"search-golden-hold": True})
        golden.add(Author(site_id, "Mia", clock), golden.Expectation("gas", "stove-1", 1))
        renamed = update(Product).where(Product.sku == "stove-1").values(name="Cooker")
        db.session.execute(renamed, execution_options=INDEXED_SEPARATELY)
    result = run(app, "index", "rebuild", "--wait")
    assert result.exit_code == 1
    assert "“gas” (stove-1 not found)" in result.output


def test_a_rebuild_whose_builder_died_is_not_waited_for_without_end(app: Flask, clock: StoppedClock) -> None:
    with app.app_context():
        with transaction():
            site_id = db.session.scalars(select(Site.id)).one()
            joined, _ = runs.request_rebuild(Author(site_id, "tests", clock), search_engine(), worker_locks(), "ALL")
            assert leases.claim(REBUILD, clock, RebuildRun.id == joined.id, lease=timedelta(0))
            run_id = joined.id
        assert finished_run(site_id, run_id).has_failed


def test_a_rebuild_that_is_not_waited_for_is_asked_for(app: Flask, queue: RecordingQueue) -> None:
    result = run(app, "index", "rebuild", "--scope", "PRODUCTS")
    assert result.exit_code == 0
    (job, (run_id,)) = queue.jobs[-1]
    assert job == "search:rebuild"
    assert str(run_id) in result.output


def test_a_rebuild_that_was_joined_is_waited_for_with_what_it_leaves_out(app: Flask) -> None:
    run(app, "index", "rebuild", "--scope", "PRODUCTS")
    result = run(app, "index", "rebuild", "--wait")
    assert result.exit_code == 0
    assert "Pages and collections are rebuilt right after it, since it rebuilds products only." in result.output
    assert result.output.count("Done: ") == 2
    assert json.loads(run(app, "index", "status").output)["pagesIndexed"] == 1


def test_the_status_is_json_and_its_exit_status_tells(app: Flask) -> None:
    assert run(app, "index", "status").exit_code == 1
    run(app, "index", "rebuild", "--wait")
    result = run(app, "index", "status", "--site", "shop.test")
    assert result.exit_code == 0
    assert json.loads(result.output)["productsIndexed"] == 3


def test_reconciling_tells_what_it_repaired(app: Flask) -> None:
    assert run(app, "index", "reconcile").exit_code == 1
    run(app, "index", "rebuild", "--wait")
    assert run(app, "index", "reconcile").output == "Repaired: 0 missing, 0 too many, 0 out of date\n"


def test_an_unknown_site_is_an_error(app: Flask) -> None:
    result = run(app, "index", "rebuild", "--site", "other.test")
    assert result.exit_code == 1
    assert "other.test" in result.output


def test_a_search_prints_sku_name_and_score(app: Flask) -> None:
    run(app, "index", "rebuild", "--wait")
    result = run(app, "search", "red", "tent")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0].split("\t")[:2] == ["tent-2", "Red tent"]


def test_a_search_as_json_says_what_was_corrected(app: Flask) -> None:
    run(app, "index", "rebuild", "--wait")
    found = json.loads(run(app, "search", "stoev", "--json").stdout)
    assert (found["query"], found["suggestion"], found["corrected"]) == ("stoev", "stove", True)
    assert [product["sku"] for product in found["products"]] == ["stove-1"]


def test_many_searches_are_answered_a_line_each(app: Flask) -> None:
    run(app, "index", "rebuild", "--wait")
    result = run(app, "search", "--batch", "--limit", "1", stdin="tent\ngas stove\n\n")
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert [answer["query"] for answer in answers] == ["tent", "gas stove", ""]
    assert [answer["total"] for answer in answers] == [2, 1, 3]
    assert [len(answer["skus"]) for answer in answers] == [1, 1, 1]


class SlowForShoppers(WordSums):
    """Makes vectors of searches only for those who wait for them, however long that takes."""

    def __init__(self) -> None:
        super().__init__({"cooker": "stove", "gas": "stove"})
        self.free = Event()

    def embed_search(self, words: str) -> Vectors:
        assert not current_thread().name.startswith("query-vectors") or self.free.wait(60)
        return super().embed_search(words)


def test_a_batch_waits_for_what_the_words_mean_where_it_is_to(app: Flask) -> None:
    model = SlowForShoppers()
    engine = WhooshEngine(app.config["SHOP"].index_dir, model, wait=0)
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], search_engine=engine)
    run(app, "index", "rebuild", "--wait")
    found = {}
    for options in ((), ("--wait-for-meaning",)):
        result = run(app, "search", "--batch", *options, stdin="cooker\n")
        found[options] = json.loads(result.stdout)
    model.free.set()
    assert [answer["skus"] for answer in found.values()] == [[], ["stove-1"]]


def test_without_an_index_a_search_says_what_to_do(app: Flask) -> None:
    result = run(app, "search", "tent")
    assert result.exit_code == 1
    assert "Rebuild" in result.output


def test_a_site_that_fails_does_not_keep_the_others_from_their_nightly_turn(app: Flask, tmp_path: Path) -> None:
    with app.app_context(), transaction():
        first, second = db.session.scalars(select(Site.id)).one(), add_site("second.test").id
    for host in ("shop.test", "second.test"):
        run(app, "index", "rebuild", "--wait", "--site", host)
    for segment in (tmp_path / "index").glob(f"{first}/**/*.seg"):
        segment.write_bytes(b"not a segment")
    with app.app_context(), transaction():
        db.session.execute(delete(OutboxEntry))
    result = run(app, "jobs", "run", "reconcile")
    assert result.exit_code == 1
    assert f"reconcile failed for site {first}: The index of products could not be compared." in result.output
    assert "is damaged" in result.output
    with app.app_context():
        assert second in db.session.scalars(select(ReconcileReport.site_id)).all()


@pytest.mark.parametrize("name", ["reconcile", "purge"])
def test_a_scheduled_job_runs_by_name(app: Flask, name: str) -> None:
    assert run(app, "jobs", "run", name).exit_code == 0
    assert name in run(app, "jobs", "list").output
