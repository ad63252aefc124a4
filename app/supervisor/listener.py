"""The socket that web servers share. It outlives them: connections that are not yet accepted wait in it while one
process takes over from another."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping

from app.supervisor.preflight import claim_port

FIRST_OF_SYSTEMD = 3
BACKLOG = 1_024


def listen(host: str, port: int, environ: Mapping[str, str]) -> socket.socket:
    """The socket that systemd opened (deploy/shop.socket), which outlives the supervisor, too; else one of our own.
    Raises CannotStart."""
    if environ.get("LISTEN_PID") == str(os.getpid()) and environ.get("LISTEN_FDS") == "1":
        return socket.socket(fileno=FIRST_OF_SYSTEMD)
    listener = claim_port(host, port)
    listener.listen(BACKLOG)
    return listener
