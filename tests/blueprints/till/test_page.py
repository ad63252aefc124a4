"""The page of the till, its manifest and its service worker."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app.transaction import transaction
from tests.searching import add_site

MOST_ON_THE_WIRE = 200_000  # Bytes, compressed: page, styles and scripts before anything can be done.


class ShopClient(FlaskClient):
    """A client that sends each request to the host of a shop."""

    def open(self, *given: Any, **more: Any) -> TestResponse:
        return super().open(*given, base_url="http://shop.test", buffered=True, **more)


@pytest.fixture
def shop(app: Flask) -> FlaskClient:
    with app.app_context(), transaction():
        add_site("shop.test")
    return ShopClient(app, app.response_class)


def test_every_address_below_the_till_is_the_one_page(shop: FlaskClient) -> None:
    start = shop.get("/till")
    assert start.status_code == 200
    assert shop.get("/till/order").data == shop.get("/till/a/b").data == start.data
    assert "noindex" in start.headers["X-Robots-Tag"]
    assert "script-src 'self';" in start.headers["Content-Security-Policy"]
    assert "camera=(self)" in start.headers["Permissions-Policy"]
    assert "<script>" not in start.text and "style=" not in start.text
    assert "Set-Cookie" not in start.headers


def test_only_reading_is_possible(shop: FlaskClient) -> None:
    answer = shop.post("/till", data={"x": "y"})
    assert answer.status_code == 405
    assert "Open the till" in answer.text


def test_the_manifest_names_the_shop_and_makes_the_app_installable(shop: FlaskClient) -> None:
    answer = shop.get("/till/manifest.webmanifest")
    manifest = json.loads(answer.data)
    assert answer.mimetype == "application/manifest+json"
    assert manifest["name"].startswith("Till of ")
    assert (manifest["start_url"], manifest["scope"], manifest["display"]) == ("/till", "/till", "standalone")
    sizes = {(icon["sizes"], icon["purpose"]) for icon in manifest["icons"]}
    assert {("192x192", "any"), ("512x512", "any"), ("512x512", "maskable")} <= sizes
    for icon in manifest["icons"]:
        picture = shop.get(icon["src"])
        assert (picture.status_code, picture.mimetype) == (200, "image/png")


def files_of_worker(shop: FlaskClient) -> list[str]:
    worker = shop.get("/till/sw.js")
    assert (worker.status_code, worker.mimetype) == (200, "text/javascript")
    assert worker.headers["Service-Worker-Allowed"] == "/till"
    assert worker.headers["Cache-Control"] == "no-cache"
    found = re.search(r"const FILES = (\[.*?\]);", worker.text, re.DOTALL)
    assert found
    files: list[str] = json.loads(found[1])
    return files


def test_the_worker_keeps_every_file_of_the_app(shop: FlaskClient) -> None:
    files = files_of_worker(shop)
    assert files[0] == "/till"
    assert all(shop.get(file).status_code == 200 for file in files)
    kept = set(files)
    wanted = set(re.findall(r'"(/static/v-[^"]+)"', shop.get("/till").text))
    assert wanted <= kept


def test_printers_scanners_and_the_display_work_without_a_network(shop: FlaskClient) -> None:
    files = files_of_worker(shop)
    assert files[1] == "/till/display"
    kept = " ".join(files)
    for name in ("receipt-printer-encoder", "webusb-receipt-printer", "zxing", "till/printing/paper", "display.css"):
        assert name in kept, name


def test_the_display_is_a_page_of_its_own_that_knows_nothing_of_the_shop(shop: FlaskClient) -> None:
    display = shop.get("/till/display")
    assert display.status_code == 200
    assert "till/display/display.js" in display.text
    assert "shop.test" not in display.text
    assert display.headers["Permissions-Policy"] == shop.get("/till").headers["Permissions-Policy"]


def test_the_first_load_is_light(shop: FlaskClient) -> None:
    page = shop.get("/till", headers={"Accept-Encoding": "gzip"})
    wanted = set(re.findall(r'(?:href|src)="(/static/v-[^"]+\.(?:js|css))"', shop.get("/till").text))
    answers = [shop.get(file, headers={"Accept-Encoding": "gzip"}) for file in wanted]
    assert sum(len(answer.data) for answer in (page, *answers)) < MOST_ON_THE_WIRE
