"""Clients that do not send or read at the lowest rate are given up, and hold no thread before."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest

from app.web.server import connection, server
from tests.waiting import until
from tests.web.server.served import Served, answer, ended, is_answered, read_all, served

HALF_A_HEADER = b"GET /search HTTP/1.1\r\nHost: shop.test\r\nX-Half: "
HALF_A_BODY = b"POST /search HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 1000\r\n\r\nq"


@pytest.fixture(autouse=True)
def _short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "LOOK_SECONDS", 0.02)
    for name in ("HEADER_SECONDS", "RATE_SECONDS", "IDLE_SECONDS", "CLOSING_SECONDS"):
        monkeypatch.setattr(connection, name, 0.3)


@pytest.fixture
def shop() -> Iterator[Served]:
    with served(answer(b"x" * 8_000_000)) as running:
        yield running


@pytest.mark.parametrize("sent", [HALF_A_HEADER, HALF_A_BODY])
def test_a_request_that_stops_half_way_is_given_up_in_words(shop: Served, sent: bytes) -> None:
    before = ended("too_slow")
    received = read_all(shop.connect(sent))
    assert ended("too_slow") == before + 1
    assert b" 408 Request Timeout\r\n" in received
    assert b"\r\nConnection: close\r\n" in received
    assert b"The request came too slowly." in received


def test_a_body_that_keeps_the_lowest_rate_has_a_time_limit_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "REQUEST_SECONDS", 0.3)
    monkeypatch.setattr(connection, "LOWEST_RATE", 1)
    before = ended("too_slow")
    with served(answer()) as shop:
        sending = shop.connect(HALF_A_BODY)
        sending.settimeout(0.02)  # What the client waits between two parts.
        received = b""
        for _ in range(900):  # Fewer bytes than it announced.
            with suppress(OSError):
                sending.sendall(b"q")
                received = sending.recv(1_000)
            if received:
                break
        assert b" 408 Request Timeout\r\n" in received
    assert ended("too_slow") == before + 1


@pytest.mark.parametrize("before", [b"", b"GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n"])
def test_blank_lines_give_no_more_time_for_a_request(before: bytes) -> None:
    with served(answer()) as shop:
        sending = shop.connect(before)
        assert not before or is_answered(sending)
        sending.settimeout(0.1)  # What the client waits between two parts.
        received = b""
        for _ in range(20):
            sending.sendall(b"\r\n\r\n ")
            with suppress(TimeoutError):
                received = sending.recv(1_000)
                break
        assert b" 408 Request Timeout\r\n" in received


def test_blank_lines_before_a_request_are_passed_over() -> None:
    with served(answer()) as shop:
        sending = shop.connect(b"\r\n\r\n \r\n")
        sending.sendall(b"\r\nGET / HTTP/1.1\r\nHost: shop.test\r\n\r\n")
        assert is_answered(sending)
        sending.sendall(b"\r\nGET / HTTP/1.1\r\nHost: shop.test\r\n\r\n")
        assert is_answered(sending)


def test_a_client_that_says_nothing_is_disconnected(shop: Served) -> None:
    assert read_all(shop.connect()) == b""


def test_a_client_that_sends_nothing_after_its_answer_is_disconnected() -> None:
    with served(answer()) as shop:
        assert read_all(shop.connect(b"GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n")).endswith(b"\r\n\r\nok\n")


def test_a_client_that_does_not_read_its_answer_is_disconnected(shop: Served) -> None:
    with socket.socket() as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        reader.settimeout(20)
        reader.connect(("127.0.0.1", shop.port))
        reader.sendall(b"GET / HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n")
        reader.recv(100)
        until(lambda: not shop.server.active_channels)
        received = 0
        with pytest.raises(ConnectionResetError):
            while more := reader.recv(65_536):
                received += len(more)
            raise ConnectionResetError
        assert received < 8_000_000


def test_a_slow_body_above_the_lowest_rate_arrives(shop: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "LOWEST_RATE", 1)
    sending = shop.connect(b"POST / HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 60\r\nConnection: close\r\n\r\n")
    sending.settimeout(0.02)  # What the client waits between two bytes.
    for _ in range(60):
        with pytest.raises(TimeoutError):
            sending.recv(1)
        sending.sendall(b"q")
    sending.settimeout(20)
    assert read_all(sending).startswith(b"HTTP/1.1 200 OK\r\n")
