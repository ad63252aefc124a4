"""The sockets at which the shop listens. The supervisor opens them, so that they outlive the processes that share them:
connections that are not yet accepted wait in a socket while one process takes over from another, or starts again."""

from __future__ import annotations

import errno
import os
import socket
import sys
from collections.abc import Mapping

from app.config import Config
from app.operations.instance import CannotStart

FIRST_OF_SYSTEMD = 3
BACKLOG = 1_024


def claim_port(host: str, port: int, settings: str = "") -> socket.socket:
    """A socket that has the port and does not listen yet. `settings` is what the names of its settings begin with.
    Raises CannotStart."""
    claimed = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    claimed.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        claimed.bind((host, port))
    except (OSError, OverflowError) as error:
        claimed.close()
        raise CannotStart(_port_trouble(host, port, settings, error)) from error
    return claimed


def _port_trouble(host: str, port: int, settings: str, error: OSError | OverflowError) -> str:
    name = f"{settings}PORT"
    if isinstance(error, OverflowError):
        return f"Port {port} does not exist: choose one below 65536, for example {name}=8000 make run."
    if isinstance(error, PermissionError):
        return (
            f"Port {port} needs rights that this user lacks: choose one above 1023, for example {name}=8000 make run."
        )
    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {port} on {host} is taken by another program: stop it or choose another, {name}={port + 1} make run."
        )
    return (
        f"The address {host}:{port} cannot be used ({error.strerror}): set {settings}HOST and {name} to one of this "
        "machine."
    )


def listen_for_web(host: str, port: int, environ: Mapping[str, str]) -> socket.socket:
    """The socket that systemd opened (deploy/shop.socket), which outlives the supervisor, too; else one of our own.
    Raises CannotStart."""
    if environ.get("LISTEN_PID") == str(os.getpid()) and environ.get("LISTEN_FDS") == "1":
        return socket.socket(fileno=FIRST_OF_SYSTEMD)
    listener = claim_port(host, port)
    listener.listen(BACKLOG)
    return listener


def listen_for_mcp(config: Config, environ: Mapping[str, str]) -> socket.socket | None:
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
