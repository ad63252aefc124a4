"""The shop as it really runs: its own processes, in a folder of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from tests.surroundings import ROOT

SECONDS_TO_START = 90


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class RunningShop:
    """`make run`, in `folder`: its instance folder and everything else it writes lie there. Without the MCP server,
    unless the environment gives it a port."""

    def __init__(self, folder: Path, python: str = sys.executable, **environment: str) -> None:
        self.folder = folder
        self._python = python
        self.port = free_port()
        self.instance = folder / environment.get("INSTANCE_DIR", "instance")
        self.log = folder / ("shop.log" if self.instance.name == "instance" else f"{self.instance.name}.log")
        self._environment = (
            plain_environment() | {"PORT": str(self.port), "WEB_WORKERS": "1", "MCP_PORT": "0"} | environment
        )
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"http://localhost:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        return dict(self._environment)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> RunningShop:
        with self.log.open("ab") as log:
            before = log.tell()
            self._process = subprocess.Popen(
                [self._python, "-m", "app.operations.supervisor"],
                cwd=self.folder,
                env=self._environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        deadline = time.monotonic() + SECONDS_TO_START
        while b"The shop is ready" not in self.log.read_bytes()[before:]:
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"The shop did not start:\n{self.log.read_text()[-4000:]}")
            time.sleep(0.05)
        return self

    def stop(self, seconds: float = 10) -> int:
        """The exit status; the whole shop must end within ten seconds."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(seconds)

    def kill(self) -> None:
        """The supervisor dies without a chance to do anything."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def flask(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "flask", "--app", "wsgi", *arguments],
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def status_of(self, path: str) -> int:
        try:
            with urllib.request.urlopen(self.address + path, timeout=10) as response:
                status: int = response.status
                return status
        except urllib.error.HTTPError as error:
            return error.code


def plain_environment() -> dict[str, str]:
    """This process's environment without the settings of a shop, able to import it from any folder and to keep its byte
    code, which the next process need not compile again."""
    folders = ("INSTANCE_DIR", "INDEX_DIR", "MEDIA_DIR", "COUNTING_DIR", "SITEMAP_DIR", "BUNDLE_DIR")
    addresses = ("DATABASE_URL", "REDIS_URL", "HOST", "PORT", "MCP_HOST", "MCP_PORT")
    ours = ("SHOP_ENV", "SECRET_KEY", *addresses, *folders, "PYTHONDONTWRITEBYTECODE")
    rest = {name: value for name, value in os.environ.items() if name not in ours}
    return rest | {"PYTHONPATH": str(ROOT)}
