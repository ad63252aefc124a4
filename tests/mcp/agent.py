"""An AI agent: the SDK's own client, connected to the tools within the process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio
from flask import Flask
from mcp import Client

from app.domain.sites import api_sessions
from app.domain.sites.api_sessions import Audience, Device
from app.domain.sites.models import Site, User
from app.mcp.server import make_server
from app.ports import clock
from app.transaction import transaction
from app.web.tokens import issue_access_token


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call came to, as an agent reads it."""

    is_error: bool
    body: dict[str, Any]
    text: str

    @property
    def codes(self) -> list[str]:
        return [error["code"] for error in self.body["errors"]]

    @property
    def pointers(self) -> list[str]:
        return [error["pointer"] for error in self.body["errors"]]


def token_for(app: Flask, user: User, site: Site, audience: Audience = Audience.API) -> str:
    """An access token as signing in at the API gives one. Within a context."""
    with transaction():
        granted = api_sessions.open_session(clock(), user, site.id, audience, Device())
    return issue_access_token(granted.caller, clock().now())


Result = TypeVar("Result")


def talked(talk: Callable[..., Awaitable[Result]], *arguments: Any) -> Result:
    """What a conversation comes to, in a thread of its own: in this one the tests' browser keeps its event loop."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(anyio.run, talk, *arguments).result()


class Agent:
    def __init__(self, app: Flask, token: str) -> None:
        self._server = make_server(app, lambda _context: token)

    def call(self, name: str, **arguments: Any) -> ToolResult:
        return self.calls((name, arguments))[0]

    def calls(self, *calls: tuple[str, dict[str, Any]]) -> list[ToolResult]:
        async def talk() -> list[ToolResult]:
            async with Client(self._server) as client:
                return [result_of(await client.call_tool(name, arguments)) for name, arguments in calls]

        return talked(talk)

    def tools(self) -> dict[str, Any]:
        async def talk() -> dict[str, Any]:
            async with Client(self._server) as client:
                return {tool.name: tool for tool in (await client.list_tools()).tools}

        return talked(talk)


def result_of(result: Any) -> ToolResult:
    return ToolResult(bool(result.is_error), result.structured_content or {}, result.content[0].text)
