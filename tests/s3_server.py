"""S3-compatible storage for tests: the server of rclone, which checks signatures, on a socket behind a stretch of
network that can fail. Nothing of it is shared with the client that the shop uses."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from socket import AF_UNIX, socket

from app.config import S3Settings
from tests.faults.proxy import Proxy, proxied
from tests.surroundings import missing
from tests.waiting import until

ACCESS_KEY, SECRET_KEY = "shop-key", "a secret of tests"
BUCKET = "shop-pictures"


class S3Server:
    """Storage with one bucket. `network` is the way to it; `folder` is where the server keeps the bucket's files."""

    def __init__(self, folder: Path, network: Proxy) -> None:
        self.folder, self.network = folder, network

    @property
    def settings(self) -> S3Settings:
        address = f"http://127.0.0.1:{self.network.port}"
        return S3Settings(BUCKET, "us-east-1", address, "pictures", ACCESS_KEY, SECRET_KEY)

    @property
    def environment(self) -> dict[str, str]:
        """The settings of a shop that keeps its pictures there."""
        return {
            "PICTURES": "s3",
            "S3_BUCKET": BUCKET,
            "S3_ENDPOINT": self.settings.endpoint,
            "S3_PREFIX": "pictures",
            "S3_ACCESS_KEY": ACCESS_KEY,
            "S3_SECRET_KEY": SECRET_KEY,
        }

    def with_settings(self, **changes: str) -> S3Settings:
        return replace(self.settings, **changes)

    def stored_keys(self) -> set[str]:
        return {path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_file()}


@contextmanager
def s3_server(folder: Path, is_read_only: bool = False) -> Iterator[S3Server]:
    """Run the server. One that is read-only answers as ever and refuses what would be written."""
    program = shutil.which("rclone", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if program is None:
        missing("rclone is not installed (it is one of the packages for development)")
    bucket, address = folder / "storage" / BUCKET, folder / "s3.socket"
    bucket.mkdir(parents=True)
    options = ["--addr", f"unix://{address}", "--auth-key", f"{ACCESS_KEY},{SECRET_KEY}", "--config", os.devnull]
    options += ["--read-only"] if is_read_only else []
    with subprocess.Popen([program, "serve", "s3", *options, str(bucket.parent)], stderr=subprocess.DEVNULL) as server:
        try:
            until(lambda: _takes_connections(address), 30)
            with proxied(address) as network:
                yield S3Server(bucket, network)
        finally:
            server.kill()  # Asked to end, it would wait for connections.


def _takes_connections(address: Path) -> bool:
    with socket(AF_UNIX) as tried:
        return tried.connect_ex(str(address)) == 0
