"""A proxy before several machines, which does what deploy/Caddyfile.machines says and no more: it asks each of them
whether it takes requests, and a request goes to another one where a machine takes no connection. Nothing is sent
twice, so that a request is lost with the machine that has it in hand."""

from __future__ import annotations

import http.client
import select
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

READINESS = "/readyz?scope=machine"
BETWEEN_CHECKS, CHECK_TIMEOUT = 0.5, 2.0  # Seconds.
SECONDS_TO_CONNECT, SECONDS_TO_ANSWER = 5.0, 60.0
OF_ONE_CONNECTION = {"connection", "keep-alive", "transfer-encoding", "content-length", "server", "date"}


@dataclass
class Upstream:
    """A machine, with its connections that are kept, how many requests it has in hand and has answered, and how many
    connections it refused."""

    port: int
    is_healthy: bool = False
    idle: list[http.client.HTTPConnection] = field(default_factory=list)
    in_hand: int = 0
    answered: int = 0
    refused: int = 0

    def connection(self) -> http.client.HTTPConnection:
        """One that is open. Raises OSError where the machine takes none."""
        while self.idle:
            kept = self.idle.pop()
            if kept.sock is not None and not select.select([kept.sock], [], [], 0)[0]:
                return kept
            kept.close()  # The machine closed it, or answers what nobody asked.
        fresh = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS_TO_ANSWER)
        fresh.connect()
        return fresh

    def check(self) -> None:
        checked = http.client.HTTPConnection("127.0.0.1", self.port, timeout=CHECK_TIMEOUT)
        try:
            checked.request("GET", READINESS)
            self.is_healthy = checked.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            self.is_healthy = False
        finally:
            checked.close()


@dataclass(frozen=True)
class LostRequest:
    """A request that a machine took and did not answer."""

    port: int
    sent_at: float
    request: str


class Balancer:
    def __init__(self, ports: Sequence[int]) -> None:
        self.upstreams = [Upstream(port) for port in ports]
        self.lost_requests: list[LostRequest] = []
        self._ended = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True
        for work in (self._server.serve_forever, self._check):
            threading.Thread(target=work, daemon=True).start()

    @property
    def port(self) -> int:
        return self._server.server_port

    @property
    def address(self) -> str:
        return f"http://localhost:{self.port}"

    def of(self, port: int) -> Upstream:
        return next(each for each in self.upstreams if each.port == port)

    def close(self) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
        for upstream in self.upstreams:
            for connection in upstream.idle:
                connection.close()

    def forward(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, list[tuple[str, str]], bytes]:
        """Return status, headers and body of the answer; 502 where there is none."""
        upstream, connection = self._connect()
        if upstream is None or connection is None:
            return 502, [], b""
        upstream.in_hand += 1
        sent_at = time.monotonic()
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            self.lost_requests.append(LostRequest(upstream.port, sent_at, f"{method} {path}"))
            return 502, [], b""
        finally:
            upstream.in_hand -= 1
        upstream.answered += 1
        if not answer.will_close:
            upstream.idle.append(connection)
        return answer.status, answer.getheaders(), content

    def _connect(self) -> tuple[Upstream | None, http.client.HTTPConnection | None]:
        deadline = time.monotonic() + SECONDS_TO_CONNECT
        while time.monotonic() < deadline:
            for upstream in sorted(self.upstreams, key=lambda each: each.in_hand):
                if upstream.is_healthy:
                    try:
                        return upstream, upstream.connection()
                    except OSError:
                        upstream.is_healthy = False
                        upstream.refused += 1
            time.sleep(0.05)
        return None, None

    def _check(self) -> None:
        while not self._ended.is_set():
            for upstream in self.upstreams:
                upstream.check()
            self._ended.wait(BETWEEN_CHECKS)


def _handler_of(balancer: Balancer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name: value for name, value in self.headers.items() if name.lower() not in OF_ONE_CONNECTION}
            status, answered, content = balancer.forward(self.command, self.path, headers, body)
            self.send_response_only(status)
            for name, value in answered:
                if name.lower() not in OF_ONE_CONNECTION:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_PUT = do_GET

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@contextmanager
def balancer_before(*ports: int) -> Iterator[Balancer]:
    made = Balancer(ports)
    try:
        yield made
    finally:
        made.close()
