from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from flask import Flask
from PIL import Image
from werkzeug.test import TestResponse

from app.domain.catalogue import products
from app.domain.catalogue.image_store import LARGEST_UPLOAD
from app.domain.catalogue.models import ProductImage
from tests.blueprints.admin.catalogue_client import Merchandiser, merchandiser
from tests.blueprints.admin.test_products import stored


@pytest.fixture
def mia(app: Flask) -> Merchandiser:
    return merchandiser(app)


@pytest.fixture
def upload(app: Flask, mia: Merchandiser) -> Callable[..., TestResponse]:
    product_id = stored(app)
    mia.get(f"/admin/catalogue/product/{product_id}")

    def send(data: bytes, name: str = "a.png", alt: str = "") -> TestResponse:
        return mia.swap(
            f"/admin/catalogue/product/{product_id}/images", {"image": (io.BytesIO(data), name), "alt": alt}
        )

    return send


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
    assert upload(drawn(kind)).status_code == 200
    image = pictures(app, mia.site_id)[0]
    assert (image.width, image.height) == (40, 30)
    served = app.test_client().get(f"/media/{mia.site_id}/{image.file}")
    assert served.mimetype == "image/webp"
    assert served.headers["X-Content-Type-Options"] == "nosniff"
    assert "immutable" in served.headers["Cache-Control"]
    assert "sandbox" in served.headers["Content-Security-Policy"]
    small = app.test_client().get(f"/media/{mia.site_id}/{image.file.replace('.webp', '-small.webp')}")
    assert small.status_code == 200


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
    Image.new("1", (30_000, 30_000)).save(out, "PNG")
    answer = upload(out.getvalue())
    assert answer.status_code == 400


def test_too_large_an_upload_is_refused(upload: Callable[..., TestResponse]) -> None:
    assert upload(drawn("PNG") + b"\0" * LARGEST_UPLOAD).status_code == 400
    assert upload(b"\0" * (LARGEST_UPLOAD + 200_000)).status_code == 413


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
    assert upload(out.getvalue() + b"<script>alert('tail')</script>").status_code == 200
    kept = app.test_client().get(f"/media/{mia.site_id}/{pictures(app, mia.site_id)[0].file}").data
    assert b"script" not in kept
    assert b"php" not in kept


def test_a_webp_with_something_behind_it_is_drawn_anew(
    app: Flask, mia: Merchandiser, upload: Callable[..., TestResponse]
) -> None:
    assert upload(drawn("WEBP") + b"<script>alert(1)</script>").status_code == 200
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


@pytest.mark.parametrize("file", ["..%2f..%2fshop.db", "x.webp", "0" * 32 + ".png", "0" * 32 + ".webp", ".webp"])
def test_only_kept_pictures_are_served(app: Flask, mia: Merchandiser, file: str) -> None:
    assert app.test_client().get(f"/media/{mia.site_id}/{file}").status_code == 404
