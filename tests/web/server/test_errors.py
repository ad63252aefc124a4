"""An unexpected error on a thread ends its connection, which would otherwise count as at work for ever."""

from __future__ import annotations

from typing import Any

import pytest

from app.web.server import connection
from app.web.server.lanes import Lane, lane_of
from tests.waiting import until
from tests.web.server.served import answer, read_all, served


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
