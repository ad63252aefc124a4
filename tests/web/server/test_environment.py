"""What the application is handed: the client's address as it is, and headers of proxies, which it judges itself."""

from __future__ import annotations

from flask import Flask, request

from app.config import Config
from app.guards import init_guards
from tests.web.server.served import answer, read_all, served


def address_seen(trusted_proxies: int) -> bytes:
    app = Flask(__name__)
    init_guards(app, Config(trusted_proxies=trusted_proxies))

    @app.get("/caf\u00e9")
    def show() -> str:
        return f"{request.remote_addr} {request.scheme} {request.args['q']}"

    with served(app) as shop:
        headers = "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\nConnection: close"
        sent = f"GET /caf%C3%A9?q=a%26b HTTP/1.1\r\nHost: shop.test\r\n{headers}\r\n\r\n"
        return read_all(shop.connect(sent.encode())).partition(b"\r\n\r\n")[2]


def test_without_a_proxy_nobody_names_an_address() -> None:
    assert address_seen(trusted_proxies=0) == b"127.0.0.1 http a&b"


def test_a_trusted_proxy_names_the_client() -> None:
    assert address_seen(trusted_proxies=1) == b"203.0.113.9 https a&b"


def test_requests_follow_each_other_on_one_connection() -> None:
    with served(answer()) as shop:
        connection = shop.connect(b"GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n" * 2)
        received = b""
        while received.count(b"ok\n") < 2:
            received += connection.recv(1_000)
    assert b"Connection: close" not in received
