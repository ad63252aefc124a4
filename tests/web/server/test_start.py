"""The process by itself: an address that is taken is one sentence, and how its threads take turns."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

from app.config import LISTENER
from app.web.server.server import SWITCH_INTERVAL
from tests.processes import plain_environment


def test_an_address_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = subprocess.run(
            [sys.executable, "-m", "app.web.server", "bench.bare_page:app"],
            cwd=tmp_path,
            env=plain_environment() | {"PORT": port},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert ended.returncode == 1
    assert ended.stderr == f"127.0.0.1:{port} cannot be listened at (Address already in use).\n"


def test_threads_give_way_each_millisecond(tmp_path: Path) -> None:
    module = (
        "import sys\ndef app(environ, start):\n start('200 OK', [])\n return [str(sys.getswitchinterval()).encode()]"
    )
    (tmp_path / "says_its_turns.py").write_text(module)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        descriptor = os.dup(listener.fileno())
        process = subprocess.Popen(
            [sys.executable, "-m", "app.web.server", "says_its_turns:app"],
            cwd=tmp_path,
            env=plain_environment() | {LISTENER: str(descriptor)},
            pass_fds=[descriptor],
        )
        os.close(descriptor)
        try:
            address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
            with urllib.request.urlopen(address, timeout=60) as answer:
                assert float(answer.read()) == SWITCH_INTERVAL < 0.005
        finally:
            process.terminate()
            process.wait(60)
