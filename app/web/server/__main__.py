"""Load the application, listen beside other processes of this kind, serve until SIGTERM and for DRAIN_SECONDS after it,
or until SIGUSR2 says that others take over. Another application than the shop is named as `module:name`."""

from __future__ import annotations

import importlib
import os
import signal
import socket
import sys

from flask import Flask

from app.config import LISTENER, READY, Config, ConfigurationError, from_environment
from app.operations import metrics
from app.operations.instance import CannotStart
from app.web.server.server import SWITCH_INTERVAL, WebServer


def main(application: str = "wsgi:app") -> int:
    try:
        config = from_environment()
    except ConfigurationError as trouble:
        print(trouble, file=sys.stderr)
        return 1
    metrics.reserve_room()
    sys.setswitchinterval(SWITCH_INTERVAL)
    module, _, name = application.partition(":")
    loaded = getattr(importlib.import_module(module), name)
    try:
        _admit_machine(loaded)
    except CannotStart as refused:
        print(refused, file=sys.stderr)
        return 1
    try:
        listener = _listener(config)
    except OSError as trouble:
        print(f"{config.host}:{config.port} cannot be listened at ({trouble.strerror}).", file=sys.stderr)
        return 1
    # With the application, since a bad setting is to be reported before so much is loaded.
    from app.web.tokens import Signer

    server = WebServer(loaded, listener, config.trusted_proxies > 0, Signer.of(config))
    signal.signal(signal.SIGTERM, lambda *_: server.leave(config.drain_seconds))
    signal.signal(signal.SIGINT, lambda *_: server.stop())
    signal.signal(signal.SIGUSR2, lambda *_: server.drain())
    _say_ready()
    server.run()
    return 0


def _admit_machine(loaded: object) -> None:
    """Note that this machine runs, where it serves the shop. Raises CannotStart."""
    if isinstance(loaded, Flask) and "SHOP" in loaded.config:
        from app.operations.machine import admit

        with loaded.app_context():
            admit()


def _say_ready() -> None:
    if pipe := os.environ.get(READY):
        os.write(int(pipe), b"1")
        os.close(int(pipe))


def _listener(config: Config) -> socket.socket:
    """Return the supervisor's socket, which outlives this process and holds the connections that are not yet accepted;
    without one, a socket that shares the port with other processes of this kind."""
    if inherited := os.environ.get(LISTENER):
        return socket.socket(fileno=int(inherited))
    family, kind, protocol, _, address = socket.getaddrinfo(config.host, config.port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind(address)
    return listener


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
