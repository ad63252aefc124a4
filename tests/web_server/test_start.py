"""The process by itself: an address that is taken is one sentence."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

from tests.processes import plain_environment


def test_an_address_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = subprocess.run(
            [sys.executable, "-m", "app.web_server", "bench.bare_page:app"],
            cwd=tmp_path,
            env=plain_environment() | {"PORT": port},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert ended.returncode == 1
    assert ended.stderr == f"127.0.0.1:{port} cannot be listened at (Address already in use).\n"
