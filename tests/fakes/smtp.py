"""A local mail server that takes what it is sent, or refuses as a test says."""

from __future__ import annotations

import base64
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage


class MailServer(socketserver.ThreadingTCPServer):
    """`refuses` names a command (RCPT, DATA) that it answers with 550; `hangs` makes it say nothing. `logins` are the
    user names and passwords."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Conversation)
        self.mails: list[EmailMessage] = []
        self.recipients: list[str] = []
        self.logins: list[tuple[str, str]] = []
        self.refuses = ""
        self.hangs = False
        self.closing = threading.Event()

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _Conversation(socketserver.StreamRequestHandler):
    server: MailServer

    def handle(self) -> None:
        if self.server.hangs:
            self.server.closing.wait(30)
            return
        self._say("220 ready")
        while line := self.rfile.readline().decode().strip():
            command = line.upper().partition(" ")[0]
            if command == self.server.refuses:
                self._say("550 5.1.1 <owner@shop.test> is unknown here")
            elif command == "QUIT":
                return self._say("221 bye")
            else:
                getattr(self, f"_{command.lower()}", self._ok)(line)

    def _say(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())

    def _ok(self, _line: str) -> None:
        self._say("250 fine")

    def _ehlo(self, _line: str) -> None:
        self._say("250-local\r\n250 AUTH PLAIN")

    def _auth(self, line: str) -> None:
        _, user, password = base64.b64decode(line.split()[2]).decode().split("\0")
        self.server.logins.append((user, password))
        self._say("235 welcome")

    def _rcpt(self, line: str) -> None:
        self.server.recipients.append(line.partition("<")[2].partition(">")[0])
        self._ok(line)

    def _data(self, line: str) -> None:
        self._say("354 go on")
        lines = []
        while (read := self.rfile.readline()) != b".\r\n":
            lines.append(read)
        self.server.mails.append(message_from_bytes(b"".join(lines), policy=policy.default))  # type: ignore[arg-type]
        self._ok(line)


@contextmanager
def mail_server() -> Iterator[MailServer]:
    with MailServer() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield server
        finally:
            server.closing.set()
            server.shutdown()
