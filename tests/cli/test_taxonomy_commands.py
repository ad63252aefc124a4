"""`taxonomy recompute` does the work itself where it is to wait for it."""

from __future__ import annotations

from flask import Flask

from app.domain.sites.models import Site
from app.domain.taxonomy import tasks
from app.extensions import db
from app.transaction import transaction
from tests.domain.taxonomy.tasks.conftest import add, change_levels, shop
from tests.factories import make_site, make_task


def site_with_a_tent(app: Flask) -> int:
    with app.app_context():
        with transaction():
            site_id = shop(make_site())
        add(site_id, "T-1", "tents", sleeps=2)
        change_levels(site_id, [])
        return site_id


def test_completeness_is_worked_out_and_told(app: Flask) -> None:
    site_with_a_tent(app)
    done = app.test_cli_runner().invoke(args=["taxonomy", "recompute", "--wait"])
    assert done.exit_code == 0
    assert "Looked at 1 product: the completeness of 1 is another now." in done.output


def test_without_waiting_it_is_only_asked_for(app: Flask) -> None:
    site_id = site_with_a_tent(app)
    runner = app.test_cli_runner()
    assert runner.invoke(args=["taxonomy", "recompute"]).exit_code == 0
    with app.app_context():
        (waiting,) = tasks.unfinished(site_id)
        assert db.session.get_one(Site, waiting.site_id).primary_host == "localhost"
        told = f"{waiting.id}\twaiting\tWorking out how complete products are\tCounting the products…"
    assert told in runner.invoke(args=["taxonomy", "tasks"]).output


def test_a_task_that_failed_is_listed_with_its_reason_and_can_go_on(app: Flask) -> None:
    site_id = site_with_a_tent(app)
    with app.app_context(), transaction():
        failed = make_task(db.session.get_one(Site, site_id), state="failed", error="The database refused the work.").id
    runner = app.test_cli_runner()
    told = runner.invoke(args=["taxonomy", "tasks"]).output
    assert f"{failed}\tfailed\t" in told and "The database refused the work." in told
    done = runner.invoke(args=["taxonomy", "resume", failed, "--wait"])
    assert (done.exit_code, "Looked at 1 product" in done.output) == (0, True)
    again = runner.invoke(args=["taxonomy", "resume", failed])
    assert (again.exit_code, "Only a task that failed can go on." in again.output) == (1, True)
    assert runner.invoke(args=["taxonomy", "resume", "nobody"]).exit_code == 1
    assert runner.invoke(args=["taxonomy", "tasks"]).output == ""
