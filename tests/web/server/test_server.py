"""Connections end as they should: with errors, by draining, and the older ones where there are too many."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask, request

from app.config import Config
from app.guards import init_guards
from app.web.server import connection, server
from app.web.server.lanes import Lane, lane_of
from app.web.server.server import WebServer
from tests.waiting import until
from tests.web.server.served import Served, answer, is_answered, read_all, served

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


HALF = b"GET / HTTP/1.1\r\nHost: shop.test\r\n"
WHOLE = HALF + b"\r\n"


@pytest.fixture(autouse=True)
def _little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MOST_OF_ONE_ADDRESS", 5)
    monkeypatch.setattr(server, "MOST_IN_ALL", 8)
    monkeypatch.setattr(connection, "NEW_SECONDS", 0.0)


@pytest.fixture
def shop() -> Iterator[Served]:
    with served(answer()) as running:
        yield running


def test_one_address_keeps_few_half_sent_requests_and_is_still_answered(shop: Served) -> None:
    slow = [shop.connect(HALF) for _ in range(5)]
    until(lambda: len(shop.server.active_channels) == 5)
    assert shop.get("/")[0] == 200
    assert b" 408 Request Timeout\r\n" in slow[0].recv(1_000)
    slow[4].sendall(b"\r\n")
    assert is_answered(slow[4])


def phases(shop: Served) -> list[connection.Phase]:
    return [channel.phase for channel in list(shop.server.active_channels.values())]


def test_kept_connections_give_way_after_half_sent_requests(shop: Served) -> None:
    kept = shop.connect(WHOLE)
    assert is_answered(kept)
    until(lambda: phases(shop) == [connection.Phase.IDLE])
    slow = []
    for asking in (1, 2, 3, 4, 4):
        slow.append(shop.connect(HALF))
        until(lambda asking=asking: phases(shop).count(connection.Phase.ASKING) >= asking)
    assert b" 408 " in slow[0].recv(1_000)
    kept.sendall(WHOLE)
    assert is_answered(kept)


def test_of_all_addresses_the_one_with_the_most_gives_way(shop: Served) -> None:
    other = shop.connect(HALF, source="127.0.0.2")
    third = [shop.connect(HALF, source="127.0.0.3") for _ in range(4)]
    until(lambda: len(shop.server.active_channels) == 5)
    for _ in range(4):
        shop.connect(HALF)
    assert b" 408 " in third[0].recv(1_000)
    other.sendall(b"\r\n")
    assert is_answered(other)


def test_behind_a_proxy_all_connections_are_the_proxys() -> None:
    with served(answer(), behind_proxy=True) as shop:
        waiting = [shop.connect(HALF) for _ in range(8)]
        assert shop.get("/")[0] == 200
        waiting[7].sendall(b"\r\n")
        assert is_answered(waiting[7])
        waiting[1].sendall(b"\r\n")
        assert is_answered(waiting[1])


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
