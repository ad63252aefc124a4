"""The tools over HTTP: the real server in a thread of its own, the SDK's client, and clients that mean no good."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import httpx2
import pytest
from flask import Flask
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from sqlalchemy import event
from sqlalchemy.exc import OperationalError
from structlog.typing import EventDict

from app.domain.sites.accounts import Role
from app.domain.sites.api_sessions import Audience
from app.domain.sites.models import Site
from app.extensions import db
from app.mcp.http import Limits, http_server
from app.mcp.server import LARGEST_BODY
from app.transaction import transaction
from tests.factories import make_user
from tests.mcp.agent import talked, token_for

TOOL = "manageProductSearchTerms"
GET = {"action": "get", "product": "MUG-01"}
LIST = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
LIMITS = Limits(
    seconds_to_request=0.5, seconds_to_send=0.5, seconds_in_all=60, seconds_between_looks=0.05, most_connections=12
)
LONGEST = 60  # Seconds, on a busy machine.

pytestmark = pytest.mark.usefixtures("mug")


@pytest.fixture
def port(app: Flask) -> Iterator[int]:
    server = http_server(app, LIMITS)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        found: int = listener.getsockname()[1]
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield found
        server.should_exit = True
        thread.join(LONGEST)
        assert not thread.is_alive()


@pytest.fixture
def token(app: Flask, site_id: int) -> str:
    with app.app_context():
        site = db.session.get_one(Site, site_id)
        with transaction():
            user = make_user(site, Role.MERCHANDISER)
        return token_for(app, user, site)


def send(
    port: int, token: str | None, body: bytes = LIST, method: str = "POST", path: str = "/mcp", **headers: str
) -> tuple[int, dict[str, Any], Mapping[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LONGEST)
    sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    sent |= {"Authorization": f"Bearer {token}"} if token else {}
    connection.request(method, path, body, sent | {name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    text = response.read()
    connection.close()
    return response.status, json.loads(text) if text.startswith(b"{") else {}, dict(response.getheaders())


def code_of(answer: tuple[int, dict[str, Any], Mapping[str, str]]) -> tuple[int, str]:
    status, body, _ = answer
    return status, body["error"]["data"]["code"]


def test_the_sdks_client_lists_and_calls_tools(port: int, token: str) -> None:
    async def talk() -> tuple[list[str], Any]:
        headers = {"Authorization": f"Bearer {token}"}
        url = f"http://127.0.0.1:{port}/mcp"
        async with (
            httpx2.AsyncClient(headers=headers, timeout=LONGEST) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            names = [tool.name for tool in (await client.list_tools()).tools]
            return names, await client.call_tool(TOOL, GET)

    names, result = talked(talk)
    assert TOOL in names
    assert result.structured_content["terms"] == ["beaker"]


def test_a_call_needs_no_handshake(port: int, token: str) -> None:
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": TOOL, "arguments": GET}}
    status, body, headers = send(port, token, json.dumps(call).encode())
    assert (status, body["id"], body["result"]["isError"]) == (200, 7, False)
    assert body["result"]["structuredContent"]["sku"] == "MUG-01"
    assert "server" not in {name.lower() for name in headers}


def test_without_a_token_that_holds_nothing_is_read(port: int, token: str) -> None:
    assert code_of(send(port, None)) == (401, "token_required")
    assert send(port, None)[2]["www-authenticate"] == 'Bearer realm="shop"'
    assert code_of(send(port, "a.b.c", b"not even JSON")) == (401, "token_invalid")
    assert send(port, "a.b.c")[2]["www-authenticate"] == 'Bearer realm="shop", error="invalid_token"'
    assert send(port, None, Authorization=f"Basic {token}")[0] == 401


def test_a_tills_token_is_refused_and_no_other_is_called_for(app: Flask, port: int, site_id: int) -> None:
    with app.app_context():
        site = db.session.get_one(Site, site_id)
        with transaction():
            user = make_user(site, Role.ADMIN, Role.POS_AGENT)
        answer = send(port, token_for(app, user, site, Audience.POS))
    assert code_of(answer) == (403, "forbidden")
    assert answer[2]["www-authenticate"] == 'Bearer realm="shop", error="insufficient_scope"'


def test_a_busy_database_is_a_matter_of_waiting(app: Flask, port: int, token: str, log_lines: list[EventDict]) -> None:
    with app.app_context():
        engine = db.engine

    def away(*_: Any) -> None:
        raise OperationalError("select 1", {}, Exception("away"), connection_invalidated=True)

    event.listen(engine, "before_cursor_execute", away)
    try:
        answer = send(port, token)
    finally:
        event.remove(engine, "before_cursor_execute", away)
    assert code_of(answer) == (503, "database_unavailable")
    assert answer[2]["retry-after"] == "5"
    assert not [line for line in log_lines if line["event"] == "unexpected_error"]


def test_health_needs_no_token(port: int) -> None:
    assert send(port, None, b"", "GET", "/healthz")[0] == 200


FOREIGN = ["evil.test", "localhost.evil.test", "127.0.0.1.evil.test", "", "[::1", "localhost@evil.test"]


@pytest.mark.parametrize("host", FOREIGN)
def test_a_foreign_host_or_origin_reaches_nothing(port: int, token: str, host: str) -> None:
    assert code_of(send(port, token, Host=host)) == (421, "unknown_host")
    if host:
        assert code_of(send(port, token, Origin=f"http://{host}")) == (403, "foreign_origin")


def test_hosts_of_the_shop_and_of_this_machine_are_ours(port: int, token: str) -> None:
    for host in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}", "LOCALHOST."):
        assert send(port, token, Host=host, Origin=f"http://{host}")[0] == 200
    assert code_of(send(port, token, Origin="null")) == (403, "foreign_origin")


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS"])
def test_no_stream_is_opened_and_no_session_kept(port: int, token: str, method: str) -> None:
    status, _, headers = send(port, token, b"", method)
    assert (status, headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[" * 100_000, b'{"a":NaN}', b'{"a":"\\ud800"}', b'{"a":1,"a":2}', b"\xff", b"[" + b"{}," * 300_000],
)
def test_what_is_no_sound_json_is_refused(port: int, token: str, body: bytes, log_lines: list[EventDict]) -> None:
    assert code_of(send(port, token, body)) == (400, "malformed_json")
    assert not [line for line in log_lines if line["event"] == "unexpected_error"]


@pytest.mark.parametrize(
    "body", [b"[]", b"7", b"null", b'{"jsonrpc":"2.0"}', b'{"jsonrpc":"2.0","method":5}', b"[" + LIST + b"]"]
)
def test_what_is_no_message_is_an_error_of_the_client(port: int, token: str, body: bytes) -> None:
    status, answer, _ = send(port, token, body)
    assert (status, answer["id"], answer["error"]["code"]) == (400, None, -32600)
    assert answer["error"]["data"] == {"code": "invalid_request"}
    assert "pydantic" not in str(answer)


@pytest.mark.parametrize("id", ["null", "1.5", "1.0", "1e3", "true", "false", "{}", "[]", "[1]", f'"{"x" * 1_001}"'])
@pytest.mark.parametrize("method", ["tools/list", "tools/call", "nonsense"])
def test_a_request_with_an_odd_id_is_no_request(port: int, token: str, id: str, method: str) -> None:
    body = f'{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{}}}}'
    status, answer, _ = send(port, token, body.encode())
    assert (status, answer["jsonrpc"], answer["id"]) == (400, "2.0", None)
    assert (answer["error"]["code"], answer["error"]["data"]) == (-32600, {"code": "invalid_request"})


@pytest.mark.parametrize("id", [0, -1, 2**53 + 1, 10**399, "", "7", "é 🏕", "x" * 1_000])
def test_any_other_id_comes_back_as_it_was(port: int, token: str, id: int | str) -> None:
    for message in ({"method": "tools/list"}, {"method": "nonsense"}, {"method": 5}, {"params": {}}):
        _, answer, _ = send(port, token, json.dumps({"jsonrpc": "2.0", "id": id} | message).encode())
        assert answer["id"] == id and type(answer["id"]) is type(id)


def test_an_id_of_more_digits_than_any_reader_takes_is_no_sound_json(port: int, token: str) -> None:
    body = f'{{"jsonrpc":"2.0","id":{10**400},"method":"tools/list"}}'
    status, answer, _ = send(port, token, body.encode())
    assert (status, answer["id"], answer["error"]["code"]) == (400, None, -32700)


def test_parameters_are_an_object(port: int, token: str) -> None:
    for params in ("[]", "7", '"x"'):
        body = f'{{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{params}}}'
        status, answer, _ = send(port, token, body.encode())
        assert (status, answer["id"], answer["error"]["code"]) == (400, 3, -32602)


@pytest.mark.parametrize("name", ["nope", "", "MANAGESYNONYMS", "../tools", "x" * 5_000])
def test_an_unknown_tool_is_an_error_as_of_any_tool(
    port: int, token: str, name: str, log_lines: list[EventDict]
) -> None:
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": name, "arguments": GET}}
    status, answer, _ = send(port, token, json.dumps(call).encode())
    assert (status, answer["id"], answer["result"]["isError"]) == (200, 7, True)
    said, (content,) = answer["result"]["structuredContent"], answer["result"]["content"]
    assert said["code"] == "unknown_tool"
    assert said["detail"] == content["text"] == said["errors"][0]["message"]
    assert said["detail"].startswith(f"There is no tool “{name[:80]}”.") and TOOL in said["detail"]
    assert len(said["detail"]) < 500
    assert not [line for line in log_lines if line["event"] == "unexpected_error"]


def test_a_body_has_a_size_and_a_type(port: int, token: str) -> None:
    assert code_of(send(port, token, b"", Content_Length=str(LARGEST_BODY + 1))) == (413, "request_entity_too_large")
    assert code_of(send(port, token, LIST, Content_Type="text/plain")) == (415, "unsupported_media_type")
    assert code_of(send(port, token, LIST, path="/else")) == (404, "not_found")


def test_a_body_that_does_not_come_is_not_waited_for(port: int, token: str) -> None:
    with socket.create_connection(("127.0.0.1", port), LONGEST) as slow:
        head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
        slow.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 90\r\n\r\n{{".encode())
        assert slow.recv(100).startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize("begun", [b"", b"POST /mcp HTTP/1.1\r\nHost: local"])
def test_a_client_that_asks_for_nothing_is_cut_off(port: int, begun: bytes) -> None:
    with socket.create_connection(("127.0.0.1", port), LONGEST) as slow:
        slow.sendall(begun)
        assert ended(slow)


def test_many_silent_connections_keep_nobody_out(port: int, token: str) -> None:
    silent = [socket.create_connection(("127.0.0.1", port), LONGEST) for _ in range(LIMITS.most_connections + 3)]
    assert send(port, token)[0] == 200
    assert all(ended(each) for each in silent)
    for each in silent:
        each.close()


def ended(connection: socket.socket) -> bool:
    try:
        return connection.recv(100) == b""
    except ConnectionResetError:
        return True


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
