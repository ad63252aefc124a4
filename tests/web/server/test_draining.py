"""A process whose place others take answers all that was begun, and nobody loses a request."""

from __future__ import annotations

import threading

from app.web.server.server import WebServer
from tests.waiting import until
from tests.web.server.served import answer, is_answered, read_all, served

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
