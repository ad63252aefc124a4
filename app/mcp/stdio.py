"""The tools over standard input and output, for an agent on this machine. Standard output carries the protocol and
nothing else: the SDK sends whatever else is printed to standard error."""

from __future__ import annotations

from flask import Flask

from app.mcp.server import make_server


def serve(app: Flask, token: str) -> None:
    """Until standard input ends."""
    make_server(app, lambda _context: token).run("stdio")
