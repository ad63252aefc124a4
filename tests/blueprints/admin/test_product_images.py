from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask
from PIL import Image
from sqlalchemy import select
from werkzeug.test import TestResponse

from app import ports
from app.domain.alerts.models import Alert, JobFailures
from app.domain.catalogue import product_images, products
from app.domain.catalogue.image_store import ImageStore
from app.domain.catalogue.models import PictureUpload, ProductImage
from app.domain.catalogue.pictures import LARGEST_UPLOAD, StoredImage
from app.domain.catalogue.product_images import UPLOAD_WORK
from app.domain.shared.author import Author
from app.domain.sites.accounts import Role
from app.domain.work import leases
from app.extensions import db
from app.jobs.catalogue import prepare_picture
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser, merchandiser
from tests.blueprints.admin.test_products import stored
from tests.factories import make_site, make_user
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient
from tests.statements import statements


@pytest.fixture
def mia(app: Flask) -> Merchandiser:
    return merchandiser(app)


@pytest.fixture
def upload(app: Flask, mia: Merchandiser) -> Callable[..., TestResponse]:
    product_id = stored(app)
    mia.get(f"/admin/catalogue/product/{product_id}")

    def send(data: bytes, name: str = "a.png", alt: str = "", by_worker: bool = True) -> TestResponse:
        answer = mia.swap(
            f"/admin/catalogue/product/{product_id}/images", {"image": (io.BytesIO(data), name), "alt": alt}
        )
        if by_worker:
            prepare_all(app)
        return answer

    return send


def prepare_all(app: Flask) -> None:
    """What the worker does."""
    with app.app_context():
        for upload_id in leases.free_keys(UPLOAD_WORK, ports.clock(), ports.machine_id()):
            assert prepare_picture(upload_id)


def drawn(kind: str, size: tuple[int, int] = (40, 30), colour: str = "green") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, kind)
    return out.getvalue()


def pictures(app: Flask, site_id: int) -> list[ProductImage]:
    with app.app_context():
        found = products.product_of(site_id, 1).images
        return list(found)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_picture_is_kept_as_webp_and_served_for_ever(
    app: Flask, mia: Merchandiser, upload: Callable[..., TestResponse], kind: str
) -> None:
    assert upload(drawn(kind)).status_code == 202
    image = pictures(app, mia.site_id)[0]
    assert (image.width, image.height) == (40, 30)
    served = app.test_client().get(f"/media/{mia.site_id}/{image.file}")
    assert served.mimetype == "image/webp"
    assert served.headers["X-Content-Type-Options"] == "nosniff"
    assert "immutable" in served.headers["Cache-Control"]
    assert "sandbox" in served.headers["Content-Security-Policy"]
    small = app.test_client().get(f"/media/{mia.site_id}/{image.file.replace('.webp', '-small.webp')}")
    assert small.status_code == 200


def test_a_picture_of_one_shop_is_none_at_another(
    app: Flask, mia: Merchandiser, upload: Callable[..., TestResponse], clock: StoppedClock
) -> None:
    upload(drawn("PNG"))
    path = f"/media/{mia.site_id}/{pictures(app, mia.site_id)[0].file}"
    with app.app_context(), transaction():
        make_site("other.localhost", "Other")
    clock.move(seconds=2)  # Hosts are read anew once a second.
    shopper = app.test_client()
    assert shopper.get(path).status_code == 200
    assert shopper.get("/", base_url="http://other.localhost").status_code == 200
    for host in ("other.localhost", "nobody.localhost"):
        answer = shopper.get(path, base_url=f"http://{host}")
        assert (answer.status_code, b"WEBP" in answer.data) == (404, False)


def test_who_works_on_a_shop_at_the_host_of_another_sees_its_pictures(
    app: Flask, mia: Merchandiser, upload: Callable[..., TestResponse], clock: StoppedClock
) -> None:
    upload(drawn("PNG"))
    path = f"/media/{mia.site_id}/{pictures(app, mia.site_id)[0].file}"
    with app.app_context(), transaction():
        make_user(make_site("other.localhost", "Other"), Role.SUPERADMIN, email="sam@shop.test")
    clock.move(seconds=2)
    browser = PageClient(app, "other.localhost").signed_in_by_form("sam@shop.test")
    assert browser.client.get(path, base_url=browser.base).status_code == 404
    browser.post("/admin/site", {"site": mia.site_id})
    answer = browser.client.get(path, base_url=browser.base)
    assert answer.status_code == 200
    assert "private" in answer.headers["Cache-Control"]


def test_what_is_no_picture_is_refused_and_leaves_nothing(
    app: Flask, mia: Merchandiser, upload: Callable[..., TestResponse]
) -> None:
    hostile = {
        "svg": b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
        "html": b"<!doctype html><script>alert(1)</script>",
        "gif that is script": b"GIF89a/*<script>alert(1)</script>*/",
        "cut short": drawn("JPEG", (900, 900))[:200],
        "bmp": drawn("BMP"),
        "tiff": drawn("TIFF"),
        "pdf": b"%PDF-1.7",
        "nothing": b"",
        "eps": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
    }
    for name, data in hostile.items():
        answer = upload(data, f"{name}.png")
        assert answer.status_code == 400, name
        assert 'role="alert"' in answer.text
    assert pictures(app, mia.site_id) == []


def test_a_flood_of_pixels_is_refused_before_it_is_unpacked(upload: Callable[..., TestResponse]) -> None:
    out = io.BytesIO()
    Image.new("1", (8_000, 8_000)).save(out, "PNG")  # Too large for the shop, though not for Pillow.
    answer = upload(out.getvalue())
    assert answer.status_code == 400


def test_too_large_an_upload_is_refused(upload: Callable[..., TestResponse]) -> None:
    assert upload(drawn("PNG") + b"\0" * LARGEST_UPLOAD).status_code == 400
    refused = upload(b"\0" * (LARGEST_UPLOAD + 200_000))
    assert refused.status_code == 413 and "larger than the 5 MB that this address takes" in refused.text


def test_only_uploads_and_long_texts_may_be_large(app: Flask, mia: Merchandiser) -> None:
    path = f"/admin/catalogue/product/{stored(app)}"
    mia.get(path)
    assert mia.swap(f"{path}/images/1/describe", {"alt": "x" * 300_000}).status_code == 413
    assert mia.swap(path, {"name": "x" * 1_100_000}).status_code == 413


def test_nothing_rides_along_in_a_picture(app: Flask, mia: Merchandiser, upload: Callable[..., TestResponse]) -> None:
    exif = Image.Exif()
    exif[0x010E] = "<script>alert('exif')</script>"
    out = io.BytesIO()
    Image.new("RGB", (40, 30)).save(out, "JPEG", exif=exif, comment=b"<?php evil ?>")
    assert upload(out.getvalue() + b"<script>alert('tail')</script>").status_code == 202
    kept = app.test_client().get(f"/media/{mia.site_id}/{pictures(app, mia.site_id)[0].file}").data
    assert b"script" not in kept
    assert b"php" not in kept


def within_the_chunk(webp: bytes, more: bytes) -> bytes:
    """A WebP of one chunk with something behind the compressed picture, within the chunk."""
    content = webp[20:] + more + b"\0" * (len(more) % 2)
    whole, length = (size.to_bytes(4, "little") for size in (len(content) + 12, len(content)))
    return webp[:4] + whole + webp[8:16] + length + content


@pytest.mark.parametrize("place", [bytes.__add__, within_the_chunk])
def test_a_webp_with_something_behind_its_picture_is_drawn_anew(
    app: Flask, mia: Merchandiser, upload: Callable[..., TestResponse], place: Callable[[bytes, bytes], bytes]
) -> None:
    assert upload(place(drawn("WEBP"), b"<script>alert(1)</script>")).status_code == 202
    kept = app.test_client().get(f"/media/{mia.site_id}/{pictures(app, mia.site_id)[0].file}").data
    assert b"script" not in kept


def test_pictures_stand_upright_and_within_bounds(
    app: Flask, mia: Merchandiser, upload: Callable[..., TestResponse]
) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    out = io.BytesIO()
    Image.new("RGB", (4_000, 2_000)).save(out, "JPEG", exif=exif)
    upload(out.getvalue())
    image = pictures(app, mia.site_id)[0]
    assert (image.width, image.height) == (800, 1_600)


def test_pictures_are_described_ordered_and_removed(
    app: Flask, mia: Merchandiser, upload: Callable[..., TestResponse]
) -> None:
    for colour in ("red", "green", "blue", "red"):
        upload(drawn("PNG", colour=colour))
    first, second, third = (image.id for image in pictures(app, mia.site_id))
    here = "/admin/catalogue/product/1/images"
    mia.swap(f"{here}/{third}/move", {"to": "front"})
    mia.swap(f"{here}/{third}/move", {"to": "front"})
    mia.swap(f"{here}/{third}/move", {"to": "front"})
    mia.swap(f"{here}/{first}/describe", {"alt": ' A "red" one <b> '})
    assert mia.swap(f"{here}/{first}/describe", {"alt": "x" * 301}).status_code == 400
    assert mia.swap(f"{here}/{second}/remove", {}).status_code == 200
    assert [(image.id, image.position, image.alt) for image in pictures(app, mia.site_id)] == [
        (third, 0, ""),
        (first, 1, 'A "red" one <b>'),
    ]
    assert mia.swap(f"{here}/{second}/remove", {}).status_code == 404
    mia.get("/admin/catalogue/product/1")


def test_an_upload_is_answered_at_once_and_shown_as_being_prepared(
    app: Flask, mia: Merchandiser, upload: Callable[..., TestResponse]
) -> None:
    answer = upload(drawn("PNG"), "tent.png", by_worker=False)
    assert answer.status_code == 202
    assert "tent.png is being prepared." in answer.text
    here = "/admin/catalogue/product/1/images/uploads?awaited=1"
    assert 'hx-trigger="every 1s"' in mia.fragment(here).text
    assert pictures(app, mia.site_id) == []
    prepare_all(app)
    shown = mia.fragment(here)
    assert shown.headers["HX-Retarget"] == "#images"
    assert "being prepared" not in shown.text
    assert pictures(app, mia.site_id)[0].file in shown.text


def test_a_damaged_picture_says_so_on_the_page_until_it_is_dismissed(
    app: Flask, mia: Merchandiser, upload: Callable[..., TestResponse], tmp_path: Path
) -> None:
    damaged = drawn("JPEG", (900, 900))
    assert upload(damaged[: len(damaged) // 2], "broken.jpg").status_code == 202
    mia.get("/admin/catalogue/product/1")
    page = mia.fragment("/admin/catalogue/product/1/images/uploads?awaited=0").text
    assert "broken.jpg was not added. This is not a whole JPEG, PNG, WebP or GIF picture." in page
    assert list(tmp_path.rglob("*.upload")) == []
    with app.app_context():
        upload_id = db.session.scalars(select(PictureUpload.id)).one()
        assert not db.session.scalars(select(Alert)).all()
    dismissed = mia.swap(f"/admin/catalogue/product/1/images/uploads/{upload_id}/dismiss", {})
    assert "broken.jpg" not in dismissed.text
    assert 'id="images-heading" tabindex="-1" data-focus' in dismissed.text
    assert mia.swap(f"/admin/catalogue/product/1/images/uploads/{upload_id}/dismiss", {}).status_code == 404


def test_uploads_on_their_way_count_among_the_most_that_a_product_has(
    app: Flask, mia: Merchandiser, upload: Callable[..., TestResponse], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(product_images, "MOST_IMAGES", 2)
    assert upload(drawn("PNG", colour="red")).status_code == 202
    assert upload(drawn("PNG", colour="blue"), by_worker=False).status_code == 202
    assert upload(drawn("PNG", colour="green")).status_code == 400


def test_a_refused_upload_leaves_no_file(
    app: Flask,
    mia: Merchandiser,
    upload: Callable[..., TestResponse],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(product_images, "MOST_IMAGES", 0)
    assert upload(drawn("PNG")).status_code == 400
    assert mia.swap("/admin/catalogue/product/99/images", {"image": (io.BytesIO(drawn("PNG")), "a")}).status_code == 404
    assert list(tmp_path.rglob("*.upload")) == []


def test_a_product_that_is_deleted_while_its_picture_is_prepared_is_no_failure(
    app: Flask,
    mia: Merchandiser,
    upload: Callable[..., TestResponse],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    upload(drawn("PNG"), by_worker=False)
    keep = ImageStore.keep

    def keep_meanwhile(store: ImageStore, site_id: int, data: bytes) -> StoredImage:
        with transaction():
            products.delete(Author(site_id, "Mia Moss", ports.clock()), 1)
        return keep(store, site_id, data)

    monkeypatch.setattr(ImageStore, "keep", keep_meanwhile)
    prepare_all(app)
    with app.app_context():
        assert db.session.scalars(select(PictureUpload)).all() == []
        assert db.session.scalars(select(JobFailures)).all() == []
    assert list(tmp_path.rglob("*.upload")) == []


def test_many_uploads_are_shown_with_as_few_statements_as_one(
    app: Flask, mia: Merchandiser, upload: Callable[..., TestResponse]
) -> None:
    counts = []
    for colour in ("red", "green", "blue"):
        upload(drawn("PNG", colour=colour), by_worker=False)
        with statements(app) as seen:
            mia.fragment("/admin/catalogue/product/1/images/uploads?awaited=0")
        counts.append(len(seen))
    assert counts[2] == counts[0]


@pytest.mark.parametrize("file", ["..%2f..%2fshop.db", "x.webp", "0" * 32 + ".png", "0" * 32 + ".webp", ".webp"])
def test_only_kept_pictures_are_served(app: Flask, mia: Merchandiser, file: str) -> None:
    assert app.test_client().get(f"/media/{mia.site_id}/{file}").status_code == 404
