"""A body larger than all others is taken at an address that carries the shop's permit, and at no other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask, request

from app.config import Config
from app.web.guards import init_guards
from app.web.server.connection import LARGEST_BODY, LARGEST_UPLOAD
from app.web.tokens import UPLOAD_ADDRESSES, UPLOAD_PERMIT, Signer, has_upload_permit, issue_upload_permit
from tests.web.server.served import Served, read_all, served

SIGNER = Signer(b"a key of this shop")
ADDRESS = UPLOAD_ADDRESSES[0]
LARGE = LARGEST_BODY + 1


@pytest.fixture(scope="module")
def shop() -> Iterator[Served]:
    app = Flask(__name__)
    init_guards(app, Config())
    app.config["MAX_CONTENT_LENGTH"] = 256 * 1024

    @app.post("/<path:path>")
    def upload(path: str) -> str:
        if has_upload_permit(SIGNER, request.path, datetime.now(UTC)):
            request.max_content_length = LARGEST_UPLOAD
        return f"{sum(map(len, iter(lambda: request.stream.read(65_536), b'')))} bytes"

    with served(app, signer=SIGNER) as running:
        yield running


def send(shop: Served, path: str, length: int, body: bytes) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: shop.test\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    connection = shop.connect(head.encode())
    connection.sendall(body)
    return read_all(connection)


def permit(signer: Signer = SIGNER, age: timedelta = timedelta()) -> str:
    return issue_upload_permit(signer, 1, 2, datetime.now(UTC) - age)


@pytest.mark.parametrize("address", UPLOAD_ADDRESSES)
def test_a_permitted_upload_arrives(shop: Served, address: str) -> None:
    answer = send(shop, address + permit(), LARGE, b"x" * LARGE)
    assert answer.startswith(b"HTTP/1.1 200 OK") and answer.endswith(f"{LARGE} bytes".encode())


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(lambda: "/upload", id="elsewhere"),
        pytest.param(lambda: ADDRESS, id="none"),
        pytest.param(lambda: ADDRESS + "nothing", id="invented"),
        pytest.param(lambda: ADDRESS + "x" * 5_000, id="endless"),
        pytest.param(lambda: ADDRESS + permit() + "x", id="changed"),
        pytest.param(lambda: ADDRESS + permit(age=UPLOAD_PERMIT.lifetime), id="old"),
        pytest.param(lambda: ADDRESS + permit(Signer(b"a key of another shop")), id="of another shop"),
        pytest.param(lambda: "/elsewhere/" + permit(), id="at another address"),
    ],
)
def test_without_a_permit_that_holds_it_is_refused_unread(shop: Served, path: Callable[[], str]) -> None:
    assert send(shop, path(), LARGE, b"").startswith(b"HTTP/1.1 413 ")


def test_a_permit_does_not_make_it_endless(shop: Served) -> None:
    assert send(shop, ADDRESS + permit(), LARGEST_UPLOAD + 1, b"").startswith(b"HTTP/1.1 413 ")
