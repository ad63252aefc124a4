"""The process by itself: an address that is taken is one sentence, how it ends, and how its threads take turns."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

from app.config import LISTENER
from app.web.server.server import SWITCH_INTERVAL
from tests.processes import free_port, plain_environment
from tests.waiting import until


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


def test_a_process_that_is_told_to_stop_says_so_until_its_time_is_over_or_it_is_told_again(tmp_path: Path) -> None:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "app.web.server", "bench.bare_page:app"],
        cwd=tmp_path,
        env=plain_environment() | {"PORT": str(port), "DRAIN_SECONDS": "600"},
    )
    try:
        until(lambda: status_of(port, "/readyz") == 404, 60)  # It is no shop.
        process.terminate()
        until(lambda: status_of(port, "/readyz") == 503)
        assert status_of(port, "/?choices=0") == 200 and process.poll() is None
        process.terminate()
        assert process.wait(20) == 0
        assert status_of(port, "/") is None
    finally:
        process.kill()
        process.wait()


def status_of(port: int, path: str) -> int | None:
    """The status of an answer; None where nothing listens."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=20) as answer:
            status: int = answer.status
            return status
    except urllib.error.HTTPError as error:
        return error.code
    except urllib.error.URLError:
        return None


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
