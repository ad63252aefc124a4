"""Connections that wait for their client are limited, by address and in all: the newest comes in, an older one goes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.web.server import connection, server
from tests.waiting import until
from tests.web.server.served import Served, answer, is_answered, served

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
