"""`mcp`: the tools for AI agents over standard input and output."""

from __future__ import annotations

import click
from flask import current_app
from flask.cli import with_appcontext

from app.cli.refusals import reports_refusals
from app.mcp.callers import caller_of


@click.command("mcp")
@click.option(
    "--token",
    envvar="SHOP_MCP_TOKEN",
    required=True,
    help="An access token of a user. Give it as SHOP_MCP_TOKEN: other users of the machine can read arguments.",
)
@with_appcontext
@reports_refusals
def command(token: str) -> None:
    """Serve the tools to an AI agent that starts this command and speaks MCP with it. The agent acts as the user of the
    token, on the token's site."""
    caller_of(token.strip())
    from app.mcp import stdio  # The SDK takes half a second to load.

    stdio.serve(current_app._get_current_object(), token.strip())  # type: ignore[attr-defined]
