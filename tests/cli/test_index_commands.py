"""Rebuilding, reconciling and searching from the command line."""

from __future__ import annotations

import json

import pytest
from click.testing import Result
from flask import Flask

from app.transaction import transaction
from tests.fakes.queue import RecordingQueue
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


def test_a_rebuild_that_is_not_waited_for_is_asked_for(app: Flask, queue: RecordingQueue) -> None:
    result = run(app, "index", "rebuild", "--scope", "PRODUCTS")
    assert result.exit_code == 0
    (job, (run_id,)) = queue.jobs[-1]
    assert job == "indexing:rebuild"
    assert str(run_id) in result.output


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
    found = json.loads(run(app, "search", "stowe", "--json").stdout)
    assert (found["query"], found["suggestion"], found["corrected"]) == ("stowe", "stove", True)
    assert [product["sku"] for product in found["products"]] == ["stove-1"]


def test_many_searches_are_answered_a_line_each(app: Flask) -> None:
    run(app, "index", "rebuild", "--wait")
    result = run(app, "search", "--batch", "--limit", "1", stdin="tent\ngas stove\n\n")
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert [answer["query"] for answer in answers] == ["tent", "gas stove", ""]
    assert [answer["total"] for answer in answers] == [2, 1, 3]
    assert [len(answer["skus"]) for answer in answers] == [1, 1, 1]


def test_without_an_index_a_search_says_what_to_do(app: Flask) -> None:
    result = run(app, "search", "tent")
    assert result.exit_code == 1
    assert "Rebuild" in result.output


@pytest.mark.parametrize("name", ["reconcile", "purge"])
def test_a_scheduled_job_runs_by_name(app: Flask, name: str) -> None:
    assert run(app, "jobs", "run", name).exit_code == 0
    assert name in run(app, "jobs", "list").output
