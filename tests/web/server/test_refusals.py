"""What is refused before its body was read says that the connection ends, and the client reads the answer."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from flask import Flask, request

from app.config import Config
from app.web.guards import init_guards
from app.web.server.connection import LARGEST_BODY, Busy, TooSlow
from tests.web.server.served import Served, read_all, served


@pytest.fixture(scope="module")
def shop() -> Iterator[Served]:
    app = Flask(__name__)
    init_guards(app, Config())
    app.config["MAX_CONTENT_LENGTH"] = 256 * 1024

    @app.post("/upload")
    def upload() -> str:
        return f"{len(request.get_data())} bytes"

    with served(app) as running:
        yield running


def send(shop: Served, head: str, body: bytes = b"") -> tuple[str, str, bytes]:
    """Status line, headers and body of the answer, read only after everything was sent."""
    connection = shop.connect(f"POST /upload HTTP/1.1\r\nHost: shop.test\r\n{head}\r\n\r\n".encode())
    connection.sendall(body)
    head_of_answer, _, rest = read_all(connection).partition(b"\r\n\r\n")
    status, _, headers = head_of_answer.decode().partition("\r\n")
    return status, headers, rest


def test_a_body_within_the_limit_arrives(shop: Served) -> None:
    status, _, body = send(shop, "Content-Length: 200000\r\nConnection: close", b"x" * 200_000)
    assert (status, body) == ("HTTP/1.1 200 OK", b"200000 bytes")


def test_a_body_too_large_for_any_address_is_refused_unread(shop: Served) -> None:
    status, headers, _ = send(shop, f"Content-Length: {LARGEST_BODY + 1}", b"x" * (LARGEST_BODY + 1))
    assert status == "HTTP/1.1 413 REQUEST ENTITY TOO LARGE"
    assert "Connection: close" in headers


def test_a_body_in_chunks_is_refused_in_words(shop: Served) -> None:
    status, headers, body = send(shop, "Transfer-Encoding: chunked", b"3\r\nabc\r\n0\r\n\r\n")
    assert status == "HTTP/1.1 411 LENGTH REQUIRED"
    assert "Connection: close" in headers
    assert b"Send the body with its Content-Length, not in chunks." in body


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("X-Large: " + "x" * 40_000, "431 Request Header Fields Too Large"),
        ("Content-Length: one", "400 Bad Request"),
        ("no header", "400 Bad Request"),
    ],
)
def test_a_malformed_head_is_refused(shop: Served, head: str, status: str) -> None:
    answered, headers, _ = send(shop, head)
    assert answered.split(" ", 1)[1] == status
    assert "Connection: close" in headers


def test_an_address_that_is_none_is_refused(shop: Served) -> None:
    connection = shop.connect(b"GET http://[ HTTP/1.1\r\nHost: shop.test\r\n\r\n")
    assert read_all(connection).startswith(b"HTTP/1.1 400 Bad Request\r\n")


def test_a_refusal_is_a_problem_where_json_is_served_and_words_elsewhere() -> None:
    status, headers, body = Busy("Come again.", "/v1/auth/login").to_response()
    assert (status, dict(headers)["Retry-After"]) == ("503 Service Unavailable", "2")
    assert dict(headers)["Content-Type"] == "application/problem+json"
    problem = json.loads(body)
    assert (problem["status"], problem["code"], problem["detail"]) == (503, "unavailable", "Come again.")
    assert TooSlow("Too slow.", "/search").to_response()[2] == b'<p role="alert">Too slow.</p>\n'
