"""The application gets requests as they are; errors end a connection, and a process whose place others take drains."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask, request

from app.config import Config
from app.web.guards import init_guards
from app.web.server import connection
from app.web.server.lanes import Lane, lane_of
from app.web.server.server import WebServer
from tests.waiting import until
from tests.web.server.served import PATIENCE, answer, is_answered, read_all, served

REQUEST = b"GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n"


def test_what_comes_on_an_open_connection_is_answered_and_the_connection_closed() -> None:
    with served(answer()) as shop:
        kept, fresh = shop.connect(REQUEST), shop.connect()
        assert is_answered(kept)
        until(lambda: len(shop.server.active_channels) == 2)
        shop.server.drain()
        until(lambda: not shop.server.accepting)
        for connection in (kept, fresh):
            connection.sendall(REQUEST)
            received = read_all(connection)
            assert b" 200 OK\r\n" in received and b"\r\nConnection: close\r\n" in received
        until(lambda: not shop.server.active_channels)


def test_a_connection_that_nobody_accepted_is_left_to_the_next_process() -> None:
    with served(answer()) as old:
        shared = old.server.socket.dup()
        old.server.drain()
        until(lambda: not old.server.accepting)
        waiting = old.connect(REQUEST)
        new = WebServer(answer(), shared)
        thread = threading.Thread(target=new.run)
        thread.start()
        assert is_answered(waiting)
        new.stop()
        thread.join(20)


def test_a_process_that_leaves_says_so_first_then_refuses_and_ends_what_was_begun() -> None:
    begun, finish = threading.Event(), threading.Event()

    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        if environ["PATH_INFO"] == "/slow":
            begun.set()
            finish.wait(PATIENCE)
        return list(answer()(environ, start_response))

    with served(application) as shop:
        slow = shop.connect(REQUEST.replace(b"GET /", b"GET /slow"))
        assert begun.wait(PATIENCE)
        assert shop.get("/readyz")[0] == 200
        shop.server.leave(1)
        status, _, body = shop.get("/readyz?scope=machine")
        assert status == 503 and json.loads(body)["status"] == "down"
        status, headers, _ = shop.get("/")
        assert status == 200 and headers["Connection"] == "close", "other requests are answered meanwhile"
        until(lambda: not shop.server.accepting)
        with pytest.raises(ConnectionRefusedError):
            shop.connect()
        finish.set()
        assert b" 200 OK\r\n" in read_all(slow)
        until(lambda: not shop.server.active_channels)


def test_a_process_that_is_to_leave_in_no_time_stops_at_once() -> None:
    with served(answer()) as shop:
        kept = shop.connect(REQUEST)
        assert is_answered(kept)
        shop.server.leave(0)
        assert read_all(kept) == b""


def test_a_second_signal_ends_the_leaving() -> None:
    with served(answer()) as shop:
        shop.server.leave(600)
        until(lambda: shop.get("/readyz")[0] == 503)
        assert shop.server.accepting
        shop.server.leave(600)
        until(lambda: not shop.server.accepting)


def test_an_error_on_the_way_to_the_next_request_ends_the_connection_after_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_lane(method: str, path: str) -> Lane:
        if path == "/next":
            raise RuntimeError("There is no lane.")
        return lane_of(method, path)

    monkeypatch.setattr(connection, "lane_of", no_lane)
    with served(answer()) as shop:
        both = shop.connect(b"".join(b"GET %s HTTP/1.1\r\nHost: shop.test\r\n\r\n" % path for path in (b"/", b"/next")))
        received = read_all(both)
        assert received.count(b"HTTP/1.1 200 OK\r\n") == 1
        assert received.endswith(b"\r\n\r\nok\n")
        assert shop.get("/")[0] == 200


def test_an_application_that_exits_ends_the_connection() -> None:
    def exits(_environ: dict[str, Any], _start_response: object) -> list[bytes]:
        raise SystemExit

    with served(exits) as shop:
        assert read_all(shop.connect(b"GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n")) == b""
        shop.hang_up()
        until(lambda: not shop.server.active_channels)


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
