"""Requests have threads by lane, so that none of a kind keeps those of another waiting."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from app.web.server.lanes import BULK, CHECKS, FILES, HEALTH, PAGES, PICTURES, SIGN_IN, lane_of
from tests.web.server.served import Served, ended, is_answered, served

UPLOAD = "/admin/catalogue/product/7/images"


@pytest.mark.parametrize(
    ("request_line", "lane"),
    [
        ("GET /healthz", HEALTH),
        ("GET /readyz", CHECKS),
        ("GET /static/v-0123456789ab/admin/base.css", FILES),
        ("GET /media/1/0123.webp", PICTURES),
        ("POST /admin/login", SIGN_IN),
        ("POST /v1/auth/login", SIGN_IN),
        (f"POST {UPLOAD}", BULK),
        ("GET /admin/search/analytics/days.csv", BULK),
        ("POST /admin/search/synonyms/import/apply", BULK),
        ("PUT /admin/catalogue/taxonomy/9/structure", BULK),
        ("GET /", PAGES),
        ("GET /search", PAGES),
        ("GET /admin/catalogue/product/7", PAGES),
        ("GET /admin/search/analytics", PAGES),
        ("PROPFIND /healthz/../search", PAGES),
        ("!X /", PAGES),
    ],
)
def test_lane_of(request_line: str, lane: object) -> None:
    method, path = request_line.split()
    assert lane_of(method, path) is lane


class Held:
    """An application that answers requests for bulk when it is told to."""

    def __init__(self) -> None:
        self.released = threading.Event()
        self.begun = threading.Semaphore(0)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        if environ["PATH_INFO"] == UPLOAD:
            self.begun.release()
            assert self.released.wait(20)
        start_response("200 OK", [("Content-Length", "3")])
        return [b"ok\n"]


@pytest.fixture
def held() -> Iterator[Held]:
    application = Held()
    yield application
    application.released.set()


@pytest.fixture
def shop(held: Held) -> Iterator[Served]:
    with served(held) as running:
        yield running
        held.released.set()


def post(shop: Served, path: str = UPLOAD) -> Any:
    return shop.connect(f"POST {path} HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 0\r\n\r\n".encode())


def test_bulk_that_fills_its_lane_keeps_no_other_request_waiting(shop: Served, held: Held) -> None:
    for _ in range(BULK.threads + BULK.waiting):
        post(shop)
    for _ in range(BULK.threads):
        assert held.begun.acquire(timeout=20)
    for path in ("/healthz", "/admin/login", "/static/v-1/a.css", "/search"):
        assert shop.get(path)[0] == 200


def test_a_full_lane_refuses_at_once_and_says_when_to_come_again(shop: Served, held: Held) -> None:
    first = [post(shop) for _ in range(BULK.threads)]
    for _ in range(BULK.threads):
        assert held.begun.acquire(timeout=20)
    for _ in range(BULK.waiting):
        post(shop)
    refused = ended("lane_full")
    status, headers, body = shop.get(UPLOAD, "POST")
    assert (status, headers["Retry-After"], headers["Connection"]) == (503, "2", "close")
    assert b'<p role="alert">The shop is busy just now.' in body
    assert ended("lane_full") == refused + 1
    held.released.set()
    assert is_answered(first[0])


def test_more_requests_at_work_than_one_address_may_leave_waiting(shop: Served, held: Held) -> None:
    """Only what waits for its client gives way."""
    with pytest.MonkeyPatch.context() as limits:
        limits.setattr(shop.server, "_most_of_one_address", 2)
        at_work = [post(shop) for _ in range(6)]
        for _ in range(BULK.threads):
            assert held.begun.acquire(timeout=20)
        assert shop.get("/search")[0] == 200
        held.released.set()
        assert [is_answered(each) for each in at_work] == [True] * 6


def test_slashes_before_a_path_lead_to_no_other_lane(shop: Served, held: Held) -> None:
    for _ in range(PAGES.threads):
        post(shop, f"//{UPLOAD}")
    for _ in range(BULK.threads):
        assert held.begun.acquire(timeout=20)
    assert shop.get("/search")[0] == 200
