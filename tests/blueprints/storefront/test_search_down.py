"""The shop while search does not answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask import Flask

from app.adapters.null_engine import NullEngine
from app.ports import EXTENSION
from tests.blueprints.storefront.conftest import Get


@pytest.fixture(autouse=True)
def search_is_down(app: Flask, site_id: int) -> None:
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], search_engine=NullEngine())


@pytest.mark.parametrize("path", ["/c/camping", "/search?q=tent", "/collections/best"])
def test_lists_say_so_calmly_and_keep_the_way_open(get: Get, path: str):
    page = get(path)
    assert page.status_code == 503
    assert "One moment, please" in page.text and 'href="/c/camping"' in page.text
    assert "engine" not in page.text


def test_a_swap_gets_the_news_in_place(get: Get):
    page = get("/c/camping", HX_Request="true", HX_Boosted="true", HX_Target="div#listing")
    assert page.status_code == 503
    assert "<html" not in page.text and "Please try again" in page.text
    assert page.headers["Retry-After"] == "5"


@pytest.mark.parametrize("path", ["/", "/p/tent-5", "/pages/delivery", "/search"])
def test_everything_else_works(get: Get, path: str):
    assert get(path).status_code == 200
