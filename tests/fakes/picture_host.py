"""A local web server of pictures, for what fetches them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class PictureHost(ThreadingHTTPServer):
    """`pages` are the answers by path: the status, and the body or for a redirect its target. A path without an answer
    comes byte by byte without end. `requests` are the paths in their order."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pages: dict[str, tuple[int, bytes | str]] = {}
        self.encoding = ""
        self.requests: list[str] = []
        self.closing = threading.Event()

    def address(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.server_port}{path}"


class _Handler(BaseHTTPRequestHandler):
    server: PictureHost

    def do_GET(self) -> None:
        self.server.requests.append(self.path)
        if self.path not in self.server.pages:
            self._drip()
            return
        status, body = self.server.pages[self.path]
        self.send_response(status)
        if isinstance(body, str):
            self.send_header("Location", body)
        if self.server.encoding:
            self.send_header("Content-Encoding", self.server.encoding)
        raw = body if isinstance(body, bytes) else b""
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        with suppress(OSError):  # The client may have gone.
            self.wfile.write(raw)

    def _drip(self) -> None:
        with suppress(OSError):
            self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
            while not self.server.closing.wait(0.02):
                self.wfile.write(b"x")

    def log_message(self, *arguments: object) -> None:
        pass


@contextmanager
def picture_host() -> Iterator[PictureHost]:
    with PictureHost() as host:
        thread = threading.Thread(target=host.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield host
        host.closing.set()
        host.shutdown()
        thread.join()
