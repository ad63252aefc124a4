"""Pictures in a storage that is another machine, as shoppers and merchandisers meet its faults."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import select
from werkzeug.test import TestResponse

from app import ports
from app.domain.alerts.alerts import open_alerts, unwritten_alerts
from app.domain.catalogue.image_store import ImageStore
from app.domain.catalogue.models import PictureUpload, ProductImage
from app.domain.catalogue.product_images import UPLOAD_WORK
from app.domain.work import leases
from app.domain.work.models import State
from app.extensions import db
from app.jobs.catalogue import prepare_picture
from app.jobs.machine import MachineWatch
from app.ports import STORES
from app.web.errors import PICTURES_FAIL
from tests.blueprints.admin.catalogue_client import Merchandiser, merchandiser
from tests.blueprints.admin.test_product_images import drawn
from tests.blueprints.admin.test_products import stored
from tests.fakes.clock import StoppedClock
from tests.fakes.picture_storage import PicturesInMemory

DOWN = "it does not answer"


@pytest.fixture
def storage(app: Flask, tmp_path: Path) -> PicturesInMemory:
    made = PicturesInMemory()
    app.extensions[STORES] = replace(app.extensions[STORES], images=ImageStore(made, tmp_path / "locks"))
    return made


@pytest.fixture
def mia(app: Flask) -> Merchandiser:
    return merchandiser(app)


def send_picture(app: Flask, mia: Merchandiser, product_id: int) -> TestResponse:
    mia.get(f"/admin/catalogue/product/{product_id}")
    return mia.swap(f"/admin/catalogue/product/{product_id}/images", {"image": (io.BytesIO(drawn("PNG")), "a.png")})


def work(app: Flask) -> list[bool]:
    with app.app_context():
        return [prepare_picture(key) for key in leases.free_keys(UPLOAD_WORK, ports.clock())]


def uploads(app: Flask) -> list[tuple[str, int, str | None]]:
    with app.app_context():
        return [(row.state, row.attempts, row.error) for row in db.session.scalars(select(PictureUpload))]


def picture_file(app: Flask) -> str | None:
    with app.app_context():
        return db.session.scalar(select(ProductImage.file))


def test_an_upload_goes_through_the_storage_and_leaves_it_once_it_is_drawn(
    app: Flask, mia: Merchandiser, storage: PicturesInMemory
) -> None:
    assert send_picture(app, mia, stored(app)).status_code == 202
    assert [name for _, name in storage.stored if name.endswith(".upload")]
    assert work(app) == [True]
    assert app.test_client().get(f"/media/{mia.site_id}/{picture_file(app)}").status_code == 200
    assert not [name for _, name in storage.stored if name.endswith(".upload")]


def test_an_upload_while_the_storage_is_down_is_refused_with_words(
    app: Flask, mia: Merchandiser, storage: PicturesInMemory
) -> None:
    product_id = stored(app)
    storage.fault = DOWN
    refused = send_picture(app, mia, product_id)
    assert refused.status_code == 503
    assert PICTURES_FAIL.format(", so nothing was saved") in refused.text
    assert refused.headers["Retry-After"] == "10"
    assert uploads(app) == []
    storage.fault = ""
    assert send_picture(app, mia, product_id).status_code == 202


def test_an_upload_waits_while_the_storage_is_down_however_often_it_is_tried(
    app: Flask, mia: Merchandiser, storage: PicturesInMemory
) -> None:
    send_picture(app, mia, stored(app))
    storage.fault = DOWN
    for _ in range(5):
        assert work(app) == [True]
    assert [(attempts, error) for _, attempts, error in uploads(app)] == [(0, None)]
    storage.fault = ""
    assert work(app) == [True]
    assert uploads(app) == [(State.DONE, 1, None)]
    assert picture_file(app)


def test_a_picture_that_cannot_be_read_is_asked_for_again_soon_and_its_alert_ends_with_the_fault(
    app: Flask, mia: Merchandiser, storage: PicturesInMemory, clock: StoppedClock
) -> None:
    send_picture(app, mia, stored(app))
    work(app)
    storage.fault = DOWN
    shopper = app.test_client()
    answer = shopper.get(f"/media/{mia.site_id}/{picture_file(app)}")
    assert (answer.status_code, answer.headers["Retry-After"], answer.mimetype) == (503, "10", "text/plain")
    assert answer.headers["Cache-Control"] == "no-store"
    assert shopper.get("/").status_code == 200
    assert [(alert.cause.key, alert.detail) for alert in unwritten_alerts(clock)] == [
        ("pictures_gone", "It does not answer.")
    ]
    with app.app_context():
        watch = MachineWatch()
        look(watch, clock, 1)
        assert [alert.cause for alert in open_alerts(None)] == ["pictures_gone"]
        storage.fault = ""
        look(watch, clock, 6)
        assert open_alerts(None) == []
    assert shopper.get(f"/media/{mia.site_id}/{picture_file(app)}").status_code == 200


def look(watch: MachineWatch, clock: StoppedClock, times: int) -> None:
    for _ in range(times):
        clock.move(seconds=10)
        watch.look()
