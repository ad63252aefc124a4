"""A web server in this process whose application each test brings along."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from prometheus_client import REGISTRY

from app.web.server.server import WebServer
from app.web.tokens import Signer

Application = Callable[..., Any]
PATIENCE = 20.0  # Seconds after which a test fails instead of waiting on.


class Served:
    def __init__(self, server: WebServer, port: int) -> None:
        self.server = server
        self.port = port
        self._connections = ExitStack()

    def connect(self, sent: bytes = b"", source: str = "127.0.0.1") -> socket.socket:
        connection = self._connections.enter_context(
            socket.create_connection(("127.0.0.1", self.port), PATIENCE, (source, 0))
        )
        connection.sendall(sent)
        return connection

    def hang_up(self) -> None:
        self._connections.close()

    def get(self, path: str, method: str = "GET") -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()


@contextmanager
def served(application: Application, behind_proxy: bool = False, signer: Signer | None = None) -> Iterator[Served]:
    listener = socket.create_server(("127.0.0.1", 0))
    server = WebServer(application, listener, behind_proxy, signer)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    running = Served(server, listener.getsockname()[1])
    try:
        yield running
    finally:
        running.hang_up()
        server.stop()
        thread.join(PATIENCE)
    assert not thread.is_alive()


def answer(body: bytes = b"ok\n") -> Application:
    def application(_environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        start_response("200 OK", [("Content-Length", str(len(body)))])
        return [body]

    return application


def ended(reason: str) -> float:
    """How many connections were ended for that reason so far."""
    return REGISTRY.get_sample_value("shop_connections_ended_total", {"reason": reason}) or 0.0


def is_answered(connection: socket.socket) -> bool:
    """Whether the next answer is that of `answer`."""
    received = b""
    while more := connection.recv(65_536):
        received += more
        if received.endswith(b"\r\n\r\nok\n"):
            return received.startswith(b"HTTP/1.1 200 OK\r\n")
    return False


def read_all(connection: socket.socket) -> bytes:
    """What comes until the server closes."""
    received = b""
    while more := connection.recv(65_536):
        received += more
    return received
