"""The socket of the web servers: the one that systemd opened, where there is one."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

from app.operations.supervisor.listeners import listen_for_web
from tests.processes import plain_environment

ACTIVATED = """
import os, socket
from app.operations.supervisor.listeners import listen_for_web
opened = socket.create_server(("127.0.0.1", 0))
os.dup2(opened.fileno(), 3)
taken = listen_for_web("127.0.0.1", opened.getsockname()[1], {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1"})
print(taken.fileno(), taken.getsockname() == opened.getsockname())
"""


def test_a_socket_of_systemd_is_taken() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ACTIVATED], env=plain_environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["3", "True"]


def test_a_socket_that_was_opened_for_another_process_is_not() -> None:
    with listen_for_web("127.0.0.1", 0, {"LISTEN_PID": str(os.getppid()), "LISTEN_FDS": "1"}) as own:
        assert own.getsockname()[1] != 0
        with socket.create_connection(own.getsockname(), 10):
            pass  # It listens already: who comes while the shop starts waits.
