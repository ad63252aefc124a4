"""A connection that is kept after a refusal answers the next request."""

from __future__ import annotations

import http.client

import pytest

from tests.mcp.test_http import port as port

pytestmark = pytest.mark.usefixtures("mug")


@pytest.mark.parametrize("size", [10, 100_000, 2_000_000])
@pytest.mark.parametrize(
    ("path", "kind", "status"),
    [("/mcp", "application/json", 401), ("/elsewhere", "application/json", 404), ("/mcp", "text/plain", 415)],
)
def test_a_refusal_before_the_body_was_read_leaves_the_connection_to_the_next_request(
    port: int, path: str, kind: str, status: int, size: int
) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", path, b"x" * size, {"Content-Type": kind})
    answer = connection.getresponse()
    assert (answer.status, answer.getheader("Connection")) == (status, None)
    answer.read()
    kept = connection.sock
    connection.request("GET", "/healthz")
    assert connection.getresponse().status == 200 and connection.sock is kept
    connection.close()


@pytest.mark.parametrize("path", ["/mcp", "/elsewhere"])
def test_a_client_that_keeps_its_body_back_learns_that_the_connection_ends(port: int, path: str) -> None:
    """As one that waits for permission to send does: what it sent next would be taken for the body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.putrequest("POST", path)
    for name, value in {"Content-Type": "application/json", "Content-Length": "100", "Expect": "100-continue"}.items():
        connection.putheader(name, value)
    connection.endheaders()
    with connection.getresponse() as answer:
        assert answer.status in (401, 404)
        assert answer.getheader("Connection") == "close"
    connection.close()
