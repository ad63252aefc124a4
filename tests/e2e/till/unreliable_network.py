"""A network between the till and the shop that loses requests, loses answers, is slow, or brings another version of a
file: a proxy in a thread. Unlike the driver's routes it also stands before the service worker."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

OWN_HEADERS = {"connection", "transfer-encoding", "keep-alive", "date", "server"}  # Of one hop.
UNPACKED = {"accept-encoding"}  # Left out, so that a body can be rewritten.


@dataclass
class Network:
    """What happens to requests by `METHOD path`. `loses_request`: it never arrives. `loses_answer`: the shop did it,
    and nobody hears. `rewrites`: what a file becomes. `before` is called before a request is sent on, `between` before
    its answer is read."""

    address: str
    loses_request: Callable[[str], bool] = field(default=lambda _request: False)
    loses_answer: Callable[[str], bool] = field(default=lambda _request: False)
    rewrites: Callable[[str, bytes], bytes] = field(default=lambda _request, body: body)
    before: Callable[[str], None] = field(default=lambda _request: None)
    between: Callable[[str], None] = field(default=lambda _request: None)
    passed: list[str] = field(default_factory=list)

    def is_good(self) -> None:
        self.loses_request = self.loses_answer = lambda _request: False
        self.before = self.between = lambda _request: None


@contextmanager
def network_before(shop_port: int) -> Iterator[Network]:
    """Open a network before the shop at a port of this machine; its `address` is for the browser."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hop)
    server.daemon_threads = True
    network = Network(f"http://localhost:{server.server_address[1]}")
    server.RequestHandlerClass = type("Hop", (_Hop,), {"network": network, "shop_port": shop_port})
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield network
    server.shutdown()
    thread.join()
    server.server_close()


class _Hop(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    network: Network
    shop_port: int

    def _pass_on(self) -> None:
        request = f"{self.command} {self.path}"
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.network.before(request)
        if self.network.loses_request(request):
            self._break_off()
            return
        connection = http.client.HTTPConnection("127.0.0.1", self.shop_port, timeout=60)
        try:
            headers = {
                name: value for name, value in self.headers.items() if name.lower() not in OWN_HEADERS | UNPACKED
            }
            connection.request(self.command, self.path, body or None, headers | {"Connection": "close"})
            self.network.between(request)
            answer = connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException):
            self._break_off()
            return
        finally:
            connection.close()
        self.network.passed.append(request)
        if self.network.loses_answer(request):
            self._break_off()
            return
        with suppress(OSError):  # Who asked is gone.
            self._answer(answer, self.network.rewrites(request, content))

    def _answer(self, answer: http.client.HTTPResponse, content: bytes) -> None:
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in OWN_HEADERS | {"content-length"}:
                self.send_header(name, value)
        has_body = self.command != "HEAD" and answer.status not in (204, 304)
        self.send_header("Content-Length", str(len(content)) if has_body else "0")
        self.end_headers()
        if has_body:
            self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _pass_on

    def _break_off(self) -> None:
        self.close_connection = True
        self.connection.close()

    def log_message(self, format: str, *given: object) -> None:
        """Say nothing."""
