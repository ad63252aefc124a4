"""The MCP server. The supervisor listens for it, so that an agent that calls while it starts, or starts again, waits
instead of being refused."""

from __future__ import annotations

import socket
import sys
from collections.abc import Mapping

from app.config import Config
from app.operations.instance import CannotStart
from app.supervisor.preflight import claim_port


def listen(config: Config, environ: Mapping[str, str]) -> socket.socket | None:
    """Return the socket of the MCP server; None where it is switched off, and where another program has the default
    port, which must not keep the shop from starting. Raises CannotStart for a port that was chosen."""
    if config.mcp_port is None:
        return None
    try:
        listener = claim_port(config.mcp_host, config.mcp_port, "MCP_")
    except CannotStart as trouble:
        if environ.get("MCP_PORT"):
            raise
        print(f"The MCP server is off. {trouble}", file=sys.stderr)
        return None
    listener.listen()
    return listener
