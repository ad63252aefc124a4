"""Pages of goods and texts travel compressed; pages about a person do not."""

from __future__ import annotations

import gzip

import pytest
from flask import Flask

from tests.blueprints.storefront.conftest import Get


@pytest.mark.parametrize("path", ["/", "/c/camping", "/search?q=tent", "/p/tent-3", "/pages/delivery"])
def test_a_page_is_compressed_for_clients_that_take_it_so(get: Get, path: str) -> None:
    plain, small = get(path), get(path, Accept_Encoding="br, gzip")
    assert small.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain.headers
    assert gzip.decompress(small.data).decode() == plain.text
    assert len(small.data) < len(plain.data) / 2
    assert small.headers["Content-Length"] == str(len(small.data))
    assert all("Accept-Encoding" in answer.headers["Vary"] for answer in (plain, small))


@pytest.mark.parametrize("path", ["/basket", "/checkout"])
def test_what_a_person_chose_is_not_compressed_beside_words_of_the_request(get: Get, path: str) -> None:
    assert "Content-Encoding" not in get(path, Accept_Encoding="gzip").headers


def test_a_look_at_the_head_says_what_the_page_would_say(app: Flask, site_id: int, get: Get) -> None:
    page = get("/c/camping", Accept_Encoding="gzip")
    head = app.test_client().head("/c/camping", base_url="http://shop.test", headers={"Accept-Encoding": "gzip"})
    named = ("Content-Encoding", "Content-Length", "Vary")
    assert {name: head.headers[name] for name in named} == {name: page.headers[name] for name in named}
    assert head.data == b""
