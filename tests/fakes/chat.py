"""A local server that speaks the chat part of the OpenAI protocol, and answers what a test tells it to."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any


class Chat(HTTPServer):
    """`asked` are the bodies of the requests, `keys` the Authorization headers. `drips` names what comes byte by byte
    without end: "head", "body", or nothing."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.received_headers: list[Mapping[str, str]] = []
        self.status, self.body = 200, b""
        self.headers: dict[str, str] = {}
        self.drips = ""
        self.closing = threading.Event()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def says(self, text: str) -> None:
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        answer = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        self.status, self.body = 200, json.dumps(answer).encode()

    def fails(self, status: int, body: bytes = b"no") -> None:
        self.status, self.body = status, body


class _Handler(BaseHTTPRequestHandler):
    server: Chat

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append(json.loads(sent) | {"path": self.path})
        self.server.received_headers.append(dict(self.headers))
        self.server.keys.append(self.headers.get("Authorization"))
        if self.server.drips:
            self._drip()
            return
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/json")
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        with suppress(OSError):  # Who asked may have gone.
            self.wfile.write(self.server.body)

    def _drip(self) -> None:
        head = b"HTTP/1.1 200 OK\r\n"
        self.wfile.write(head if self.server.drips == "head" else head + b"Content-Length: 9999\r\n\r\n")
        with suppress(OSError):
            while not self.server.closing.wait(0.02):
                self.wfile.write(b"X")
                self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def chat_server() -> Iterator[Chat]:
    server = Chat()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
