"""Work on many products is followed live."""

from __future__ import annotations

import csv
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.blueprints.admin.activity import undone_at
from app.domain.catalogue.models import Product
from app.domain.shared.author import Author
from app.domain.sites.activity import activity
from app.domain.sites.models import Site
from app.domain.taxonomy import tasks
from app.domain.taxonomy.models import TaxonomyTask
from app.domain.taxonomy.tasks import Kind
from app.domain.taxonomy.tasks.runner import work_off
from app.domain.work.context import WorkContext
from app.extensions import db
from app.ports import clock
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser, merchandiser
from tests.domain.taxonomy.tasks.conftest import add, shop
from tests.fakes.clock import StoppedClock


@pytest.fixture
def mia(app: Flask) -> Merchandiser:
    made = merchandiser(app)
    with app.app_context(), transaction():
        shop(db.session.get_one(Site, made.site_id))
    return made


def add_task(app: Flask, mia: Merchandiser, kind: Kind, **parameters: Any) -> str:
    with app.app_context(), transaction():
        return tasks.request(Author(mia.site_id, "Mia Moss", clock()), kind, parameters).id


def work(app: Flask, mia: Merchandiser) -> None:
    with app.app_context():
        work_off(WorkContext(clock(), transaction), mia.site_id)


def moved_tents(app: Flask, mia: Merchandiser, number: int = 1) -> str:
    with app.app_context():
        ids = [add(mia.site_id, f"<T-{place}>", "tents", sleeps=2) for place in range(number)]
    return add_task(
        app, mia, Kind.ASSIGN_LEVEL, taxonomyId="kit", levelId="boots", levelName="<b>Boots</b>", products=ids
    )


def test_a_task_that_waits_asks_for_itself_again_and_the_finished_one_does_not(app: Flask, mia: Merchandiser) -> None:
    address = f"/admin/catalogue/taxonomy/tasks/{moved_tents(app, mia)}"
    page = mia.get(address)
    asking = [section["hx-get"] for section in page.all("section") if "hx-get" in section]
    assert asking == [f"{address}?was=waiting"]
    assert "hx-swap-oob" not in mia.fragment(asking[0]).text
    work(app, mia)
    finished = mia.fragment(asking[0]).text
    assert "hx-get" not in finished
    assert "1 product moved to “&lt;b&gt;Boots&lt;/b&gt;”." in finished
    assert 'role="status" hx-swap-oob="true"' in finished


SILENT = "The worker does not answer; nothing is lost."


def test_a_worker_that_does_not_answer_is_named_until_it_does(
    app: Flask, mia: Merchandiser, clock: StoppedClock
) -> None:
    address = f"/admin/catalogue/taxonomy/tasks/{moved_tents(app, mia)}"
    clock.move(seconds=10)
    assert SILENT not in mia.fragment(address).text
    clock.move(seconds=10)
    assert SILENT in mia.fragment(address).text
    with app.app_context(), transaction():  # One is at it, then its lease runs out.
        task = db.session.query(TaxonomyTask).one()
        task.state, task.lease_until = "running", clock.now() + timedelta(seconds=30)
    assert SILENT not in mia.fragment(address).text
    clock.move(seconds=50)
    assert SILENT in mia.fragment(address).text
    work(app, mia)
    assert SILENT not in mia.fragment(address).text


def test_a_task_behind_another_that_goes_on_just_waits(app: Flask, mia: Merchandiser, clock: StoppedClock) -> None:
    moved_tents(app, mia)
    second = add_task(app, mia, Kind.RECOMPUTE)
    clock.move(minutes=1)
    with app.app_context(), transaction():
        first = db.session.query(TaxonomyTask).filter_by(kind="ASSIGN_LEVEL").one()
        first.state, first.lease_until = "running", clock.now() + timedelta(seconds=30)
    text = mia.fragment(f"/admin/catalogue/taxonomy/tasks/{second}").text
    assert "It waits for its turn." in text and SILENT not in text


def test_a_task_that_just_went_on_is_not_said_to_be_forgotten(
    app: Flask, mia: Merchandiser, clock: StoppedClock
) -> None:
    task_id = failed(app, mia)
    clock.move(minutes=5)
    address = f"/admin/catalogue/taxonomy/tasks/{task_id}"
    mia.get(address)
    mia.post(f"{address}/resume", {})
    assert SILENT not in mia.fragment(address).text
    clock.move(seconds=20)
    assert SILENT in mia.fragment(address).text


def failed(app: Flask, mia: Merchandiser) -> str:
    task_id = moved_tents(app, mia)
    with app.app_context(), transaction():
        task = tasks.task_of(mia.site_id, task_id)
        task.state, task.error, task.finished_at = "failed", "The database refused the work for an hour.", clock().now()
    return task_id


def test_a_task_that_failed_can_go_on(app: Flask, mia: Merchandiser) -> None:
    address = f"/admin/catalogue/taxonomy/tasks/{failed(app, mia)}"
    page = mia.get(address)
    (form,) = [form for form in page.all("form") if form.get("action") == f"{address}/resume"]
    assert form["hx-post"] == form["action"]
    answer = mia.post(form["action"], {})
    assert answer.headers["Location"] == address
    assert "It waits for its turn." in mia.fragment(address).text
    work(app, mia)
    again = mia.fragment(address).text
    assert "1 product moved" in again
    assert f"{address}/resume" not in again


def test_going_on_answers_htmx_with_the_card_also_to_the_second_click(app: Flask, mia: Merchandiser) -> None:
    address = f"/admin/catalogue/taxonomy/tasks/{failed(app, mia)}"
    for _ in range(2):
        answer = mia.swap(f"{address}/resume", {})
        assert answer.status_code == 200
        assert f'hx-get="{address}?was=waiting"' in answer.text
        assert "Go on" not in answer.text


def test_a_task_that_is_done_is_undone_from_its_card_and_the_activity_log_leads_there(
    app: Flask, mia: Merchandiser
) -> None:
    task_id = moved_tents(app, mia)
    address = f"/admin/catalogue/taxonomy/tasks/{task_id}"
    assert f"{address}/undo" not in mia.fragment(address).text
    work(app, mia)
    assert f'action="{address}/undo"' in mia.fragment(address).text
    undo_page = mia.post(f"{address}/undo", {}).headers["Location"]
    assert undo_page != address and f"{address}/undo" not in mia.fragment(address).text
    work(app, mia)
    done = " ".join(mia.fragment(undo_page).text.split())
    assert "Undone: Moving products to another level. 1 product is as it was." in done
    with app.test_request_context():
        ended = activity(mia.site_id).items
        assert list(undone_at(mia.site_id, ended).values()) == [undo_page], "what is undone is offered no more"
        found = db.session.query(Product).one()
        assert (found.taxonomy_level_id, found.taxonomy_attributes) == ("tents", {"sleeps": 2})


def test_a_task_whose_products_changed_since_says_why_it_is_not_undone(app: Flask, mia: Merchandiser) -> None:
    task_id = moved_tents(app, mia)
    work(app, mia)
    with app.app_context(), transaction():
        db.session.query(Product).one().taxonomy_attributes = {"size": 41}
    address = f"/admin/catalogue/taxonomy/tasks/{task_id}"
    assert mia.post(f"{address}/undo", {}).headers["Location"] == address
    assert "1 product was classified anew since" in mia.pages.client.get(address, base_url=mia.pages.base).text
    mia.post(f"{address[:-1]}x/undo", {}, 404)


def test_every_lost_value_can_be_had_as_a_table(app: Flask, mia: Merchandiser) -> None:
    task_id = moved_tents(app, mia, 2)
    work(app, mia)
    address = f"/admin/catalogue/taxonomy/tasks/{task_id}"
    assert f'href="{address}/lost"' in mia.fragment(address).text
    answer = mia.fragment(f"{address}/lost")
    assert (answer.status_code, answer.mimetype) == (200, "text/csv")
    lines = list(csv.reader(answer.text.removeprefix("\ufeff").splitlines()))
    assert lines[0] == ["Product", "Product name", "SKU", "Attribute", "Attribute name", "Value"]
    with app.app_context():
        names = {str(product.id): product.name for product in db.session.query(Product)}
    assert all(names.values())
    assert lines[1:] == [
        [product_id, name, f"<T-{place}>", "sleeps", "Sleeps", "2"]
        for place, (product_id, name) in enumerate(sorted(names.items()))
    ]
    assert mia.fragment("/admin/catalogue/taxonomy/tasks/nothing/lost").status_code == 404
    with app.app_context():
        page = activity(mia.site_id)
    assert [(entry.lost_by, entry.differences) for entry in page.items if "lost" in entry.summary] == [(task_id, ())]


def test_a_table_runs_no_formula(app: Flask, mia: Merchandiser) -> None:
    with app.app_context():
        ids = [add(mia.site_id, "=1+1", "tents", sleeps=-2)]
    task_id = add_task(app, mia, Kind.ASSIGN_LEVEL, taxonomyId="kit", levelId="boots", products=ids)
    work(app, mia)
    table = mia.fragment(f"/admin/catalogue/taxonomy/tasks/{task_id}/lost").text
    assert table.endswith(',"\'=1+1","sleeps","Sleeps","-2"\r\n')


def test_what_products_lost_is_told(app: Flask, mia: Merchandiser) -> None:
    task_id = moved_tents(app, mia, 12)
    work(app, mia)
    text = mia.fragment(f"/admin/catalogue/taxonomy/tasks/{task_id}").text
    assert "Sleeps: dropped on 12 products" in text
    assert text.count("&lt;T-") == 3
    assert "/admin/catalogue/products?level=boots" in text


def test_a_task_that_failed_says_why(app: Flask, mia: Merchandiser) -> None:
    with app.app_context():
        ids = [add(mia.site_id, "T-1", "tents")]
    task_id = add_task(app, mia, Kind.ASSIGN_LEVEL, taxonomyId="other", levelId="boots", products=ids)
    work(app, mia)
    text = mia.fragment(f"/admin/catalogue/taxonomy/tasks/{task_id}").text
    assert "Another taxonomy is active now" in text
    assert "Nothing was changed." in text


def test_tasks_that_are_not_there_are_not_found(mia: Merchandiser) -> None:
    mia.get("/admin/catalogue/taxonomy/tasks/nothing", 404)
