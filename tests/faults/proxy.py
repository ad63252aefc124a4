"""A stretch of network between the shop and its queue, or its search cluster, that can become slow, silent or torn."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

RESET = struct.pack("ii", 1, 0)  # Linger for no time: the other side is sent a reset.


class Proxy:
    """Leads to the socket `target`, or to that port of this machine. `fault` is `slow` (two seconds for each answer),
    `silent` (nothing gets through, nothing is closed), `reset` (connections are torn as soon as something is sent),
    `cut` (they are torn after half of what is sent first), or nothing. The next request that has the bytes `loses` is
    let through, and its connection is torn instead of the answer."""

    def __init__(self, target: Path | int) -> None:
        self.fault = ""
        self.loses = b""
        self._lost: set[socket.socket] = set()  # Connections to the target whose next answer is lost.
        self._target = target
        self._server = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self.port: int = self._server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        for connection in (self._server, *self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client = self._server.accept()[0]
                try:
                    server = self._connect()
                except OSError:  # The target is down, and may come back.
                    client.close()
                    continue
                self._open += [client, server]
                threading.Thread(target=self._pass, args=(client, server), daemon=True).start()
                threading.Thread(target=self._pass, args=(server, client), daemon=True).start()

    def _connect(self) -> socket.socket:
        if isinstance(self._target, int):
            return socket.create_connection(("127.0.0.1", self._target))
        server = socket.socket(socket.AF_UNIX)
        server.connect(str(self._target))
        return server

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while (data := source.recv(65_536)) and self._forward(data, source, target):
                pass
        if self.fault != "silent":
            source.close()
            target.close()

    def _forward(self, data: bytes, source: socket.socket, target: socket.socket) -> bool:
        """Whether the connection goes on."""
        if self.loses and self.loses in data:
            self._lost.add(target)
            self.loses = b""
        if source in self._lost:
            target.shutdown(socket.SHUT_RDWR)
            return False
        if self.fault == "slow":
            time.sleep(1)
        elif self.fault == "cut":
            target.sendall(data[: len(data) // 2])
        if self.fault in ("reset", "cut"):
            target.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            source.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            return False
        if self.fault != "silent":
            target.sendall(data)
        return True


@contextmanager
def proxied(target: Path | int) -> Iterator[Proxy]:
    proxy = Proxy(target)
    yield proxy
    proxy.close()
