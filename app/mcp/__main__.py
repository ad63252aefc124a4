"""`python -m app.mcp [--fd NUMBER]`: load the application, listen at MCP_HOST and MCP_PORT, or at the socket that the
starting process hands over, and serve until SIGTERM."""

from __future__ import annotations

import importlib
import signal
import socket
import sys

from app.config import Config, ConfigurationError, from_environment
from app.operations import metrics


def main(arguments: list[str]) -> int:
    try:
        config = from_environment()
    except ConfigurationError as trouble:
        print(trouble, file=sys.stderr)
        return 1
    if config.mcp_port is None:
        print("MCP_PORT is 0, which switches this server off.", file=sys.stderr)
        return 1
    try:
        listener = socket.socket(fileno=int(arguments[1])) if arguments[:1] == ["--fd"] else _listener(config)
    except OSError as trouble:
        print(f"{config.mcp_host}:{config.mcp_port} cannot be listened at ({trouble.strerror}).", file=sys.stderr)
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # Until the server waits for it.
    metrics.reserve_room()
    application = importlib.import_module("wsgi").app
    importlib.import_module("app.mcp.http").serve(application, listener)
    return 0


def _listener(config: Config) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(config.mcp_host, config.mcp_port, type=socket.SOCK_STREAM)[
        0
    ]
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(address)
    return listener


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
