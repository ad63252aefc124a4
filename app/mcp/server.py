"""The server of the SDK with the shop's tools, for either transport."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any

from flask import Flask
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool as ServedTool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp.types import CallToolResult, InputRequiredResult, TextContent, ToolAnnotations
from pydantic import BaseModel, ConfigDict

from app.mcp.calls import Outcome, perform, refuse_unknown_tool
from app.mcp.instructions import INSTRUCTIONS
from app.mcp.registry import Tool, all_tools
from app.mcp.threads import Threads

NAME, TITLE, VERSION = "shop", "Shop", "1.0.0"
CALLS_AT_ONCE = 8  # Each holds a thread and a connection to the database.
SentContext = Context[Any, Any]
TokenOf = Callable[[SentContext], str]
Served = Callable[[SentContext, dict[str, Any]], Awaitable[CallToolResult]]


class Unread(ArgModelBase):
    """Arguments as they were sent: the SDK's own reading would turn texts into lists and numbers."""

    model_config = ConfigDict(extra="allow")

    def model_dump_one_level(self) -> dict[str, Any]:
        return {"sent": dict(self.model_extra or {})}


class ToolServer(MCPServer[Any]):
    """The server of the SDK, which refuses the name of no tool as a tool refuses arguments."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: SentContext | None = None
    ) -> CallToolResult | InputRequiredResult:
        if name not in all_tools():
            return _result(refuse_unknown_tool(name, list(all_tools())))
        return await super().call_tool(name, arguments, context)


def make_server(app: Flask, token_of: TokenOf) -> MCPServer[Any]:
    """Return the MCP server. `token_of` finds the caller's token, which is read anew at each call."""
    threads = Threads(CALLS_AT_ONCE)
    served = [_served(app, tool, token_of, threads) for tool in all_tools().values()]
    return ToolServer(
        NAME,
        title=TITLE,
        version=VERSION,
        instructions=INSTRUCTIONS,
        tools=served,
        subscriptions=False,
        log_level="WARNING",
    )


def _served(app: Flask, tool: Tool, token_of: TokenOf, threads: Threads) -> ServedTool:
    return ServedTool(
        fn=_run(app, tool, token_of, threads),
        name=tool.name,
        title=tool.title,
        description=tool.description,
        parameters=schema_of(tool.arguments, "validation"),
        fn_metadata=FuncMetadata(arg_model=Unread, output_schema=schema_of(tool.answer, "serialization")),
        is_async=True,
        context_kwarg="context",
        annotations=_annotations(tool),
    )


@cache
def schema_of(record: type[BaseModel], mode: Any) -> dict[str, Any]:
    """Return the JSON Schema of a record, without the titles that pydantic makes of names. Cached, since every server
    is made with all of them."""
    schema: dict[str, Any] = _untitled(record.model_json_schema(by_alias=True, mode=mode))
    named = schema.get("properties", {})
    schema["properties"] = {name: named[name] for name in sorted(named, key="dryRun".__eq__)}  # dryRun comes last.
    return schema


def _untitled(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_untitled(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: _untitled(value) for name, value in schema.items() if name != "title" or not isinstance(value, str)}


def _annotations(tool: Tool) -> ToolAnnotations:
    return ToolAnnotations(
        title=tool.title,
        read_only_hint=tool.only_reads,
        destructive_hint=tool.is_destructive,
        idempotent_hint=tool.is_idempotent,
        open_world_hint=False,
    )


def _run(app: Flask, tool: Tool, token_of: TokenOf, threads: Threads) -> Served:
    async def run(context: SentContext, sent: dict[str, Any]) -> CallToolResult:
        token = token_of(context)
        return _result(await threads.run(perform, app, tool, token, sent))

    return run


def _result(outcome: Outcome) -> CallToolResult:
    text = outcome.text or json.dumps(outcome.body, ensure_ascii=False)
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=outcome.body, is_error=outcome.is_error
    )
