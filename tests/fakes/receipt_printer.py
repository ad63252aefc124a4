"""A receipt printer on a local port, which prints what it is sent, or fails as a test says."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import SimpleQueue

RESET = struct.pack("ii", 1, 0)  # Closing a socket with this breaks the connection off.


@dataclass
class Printer:
    """`is_stuck` makes it take no byte, `breaks_off` break the connection off in the middle of a job."""

    port: int
    is_stuck: bool = False
    breaks_off: bool = False
    connections: int = 0
    printed: SimpleQueue[bytes] = field(default_factory=SimpleQueue)
    closing: threading.Event = field(default_factory=threading.Event)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def next_job(self) -> bytes:
        return self.printed.get(timeout=10)

    def serve(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                self.connections += 1
                self._take(connection)

    def _take(self, connection: socket.socket) -> None:
        if self.is_stuck:
            self.closing.wait(30)
        elif self.breaks_off:
            connection.recv(1)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        else:
            job = b""
            while received := connection.recv(4096):
                job += received
            self.printed.put(job)


@contextmanager
def network_printer() -> Iterator[Printer]:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)  # As little memory as printers have.
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    printer = Printer(listener.getsockname()[1])
    thread = threading.Thread(target=printer.serve, args=(listener,), daemon=True)
    thread.start()
    try:
        yield printer
    finally:
        printer.closing.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(10)
