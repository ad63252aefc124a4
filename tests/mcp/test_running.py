"""The tools as people start them: beside the shop under `make run`, and as a command that an agent starts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.mcp.agent import ToolResult, result_of, talked
from tests.processes import RunningShop, free_port
from tests.surroundings import ROOT

TOOL = "manageProductSearchTerms"
SKU = "TENT-01"  # Of the demo shop.
LONGEST = 60  # Seconds, on a busy machine.


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningShop]:
    made = RunningShop(tmp_path_factory.mktemp("shop"), MCP_PORT=str(free_port())).start()
    yield made
    if made.is_running:
        made.stop(LONGEST)


@pytest.fixture(scope="module")
def token(shop: RunningShop) -> str:
    body = json.dumps({"email": "merch@demo.test", "password": "demo-password-1"}).encode()
    request = urllib.request.Request(f"{shop.address}/v1/auth/login", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=LONGEST) as answer:
        found: str = json.load(answer)["token"]
        return found


def address_of(shop: RunningShop) -> str:
    return next(word for word in shop.log.read_text().split() if word.endswith("/mcp"))


async def _over_http(url: str, token: str, sent: dict[str, Any]) -> ToolResult:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=LONGEST) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        return result_of(await client.call_tool(TOOL, sent))


async def _over_stdio(shop: RunningShop, token: str, sent: dict[str, Any]) -> ToolResult:
    command = ["-m", "flask", "--app", "wsgi", "mcp"]
    environment = {**os.environ, "SHOP_MCP_TOKEN": token, "PYTHONPATH": str(ROOT)}
    started = StdioServerParameters(command=sys.executable, args=command, env=environment, cwd=shop.folder)
    async with Client(started) as client:
        return result_of(await client.call_tool(TOOL, sent))


def test_both_doors_lead_to_the_same_shop(shop: RunningShop, token: str) -> None:
    """The first call comes while the server starts: it waits."""
    added = talked(_over_http, address_of(shop), token, {"action": "add", "product": SKU, "terms": ["over http"]})
    assert not added.is_error, added.text
    added = talked(_over_stdio, shop, token, {"action": "add", "product": SKU, "terms": ["over stdio"]})
    assert added.body["terms"][-2:] == ["over http", "over stdio"]


def test_a_token_that_does_not_hold_ends_the_command_with_the_reason(shop: RunningShop) -> None:
    ended = shop.flask("mcp", "--token", "nonsense")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "token" in ended.stderr and "Traceback" not in ended.stderr


def test_standard_output_carries_nothing_but_the_protocol(shop: RunningShop, token: str) -> None:
    """What was requested before the input ended is answered."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": TOOL, "arguments": {"action": "get"}}},
    ]
    environment = {**os.environ, "SHOP_MCP_TOKEN": token, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        [sys.executable, "-m", "flask", "--app", "wsgi", "mcp"],
        cwd=shop.folder,
        env=environment,
        input="".join(json.dumps(line) + "\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=True,
    )
    assert [json.loads(line)["id"] for line in ended.stdout.splitlines()] == [1, 2]


ODD = (
    (b"nonsense", -32700, None),
    (b"[" * 100_000, -32700, None),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":"\\ud800"}}', -32700, None),
    (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}', -32700, None),
    (b'{"jsonrpc":"2.0","id":"\xff","method":"tools/list"}', -32700, None),
    (b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":true,"method":"tools/list"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":{},"method":"tools/list"}', -32600, None),
    (b'[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', -32600, None),
    (b'{"jsonrpc":"2.0","id":5,"method":5}', -32600, 5),
    (b'{"jsonrpc":"2.0","id":"six","method":"tools/list","params":[]}', -32602, "six"),
    (b'"' + b"x" * 20_000_000 + b'"', -32600, None),
)


def test_over_standard_input_what_is_no_message_is_answered_and_what_follows_is_too(
    shop: RunningShop, token: str
) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    requests = [
        {"jsonrpc": "2.0", "id": 10**30, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": "", "method": "tools/call", "params": {"name": "nope", "arguments": {}}},
        {"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": TOOL, "arguments": {"action": "get"}}},
    ]
    lines = [*(body for body, _, _ in ODD), b"", b"  ", *(json.dumps(line).encode() for line in requests)]
    ended = subprocess.run(
        [sys.executable, "-m", "flask", "--app", "wsgi", "mcp"],
        cwd=shop.folder,
        env={**os.environ, "SHOP_MCP_TOKEN": token, "PYTHONPATH": str(ROOT)},
        input=b"\n".join(lines),
        capture_output=True,
        timeout=LONGEST,
        check=True,
    )
    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    refused = [(answer["error"]["code"], answer["id"]) for answer in answers if "error" in answer]
    assert refused == [(number, id) for _, number, id in ODD]
    results = {answer["id"]: answer["result"] for answer in answers if "result" in answer}
    assert set(results) == {10**30, "", 8}
    assert results[""]["structuredContent"]["code"] == "unknown_tool" and results[""]["isError"]
    assert b"Traceback" not in ended.stderr


def test_a_server_that_died_is_started_again_and_no_call_is_refused(shop: RunningShop, token: str) -> None:
    os.kill(server_of(shop), signal.SIGKILL)
    result = talked(_over_http, address_of(shop), token, {"action": "get", "product": SKU})
    assert not result.is_error


def server_of(shop: RunningShop) -> int:
    """The process of the tools."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
                is_ours = (entry / "cwd").resolve() == shop.folder.resolve()
            except OSError:
                continue
            if is_ours and b"app.mcp" in command and b"--fd" in command:
                return int(entry.name)
    raise AssertionError("There is no such process.")


def test_it_stops_with_the_shop(shop: RunningShop) -> None:
    server = server_of(shop)
    assert shop.stop(LONGEST) == 0
    assert not Path(f"/proc/{server}").exists()
