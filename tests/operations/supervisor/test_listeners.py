"""Whatever keeps the shop from starting is said in one sentence that names what to do; its sockets are handed over."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from app.config import MEMORY, Config, from_environment
from app.operations.instance import CannotStart, claim_folder
from app.operations.supervisor import listeners
from app.operations.supervisor.listeners import claim_port, listen_for_web
from app.operations.supervisor.parts import current_release
from tests.processes import plain_environment
from tests.surroundings import ROOT


def test_a_taken_port_names_the_port_and_another_one() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(CannotStart, match=f"Port {port} on 127.0.0.1 is taken .* PORT={port + 1} make run"):
            claim_port("127.0.0.1", port)


def test_a_foreign_address_is_named() -> None:
    with pytest.raises(CannotStart, match=r"192\.0\.2\.1:8000 cannot be used"):
        claim_port("192.0.2.1", 8000)


def test_a_port_that_does_not_exist_is_named() -> None:
    with pytest.raises(CannotStart, match=r"Port 70000 does not exist: .* MCP_PORT=8000 make run"):
        claim_port("127.0.0.1", 70_000, "MCP_")


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CannotStart, match="instance cannot be written to"):
        claim_folder(tmp_path / "file" / "instance")


def test_a_read_only_folder_is_named(tmp_path) -> None:
    if os.geteuid() == 0:
        folder = "/proc/instance"  # Even root cannot write there.
    else:
        tmp_path.chmod(0o500)
        folder = str(tmp_path / "instance")
    with pytest.raises(CannotStart, match="make it writable"):
        claim_folder(type(tmp_path)(folder))


def test_the_same_folder_is_not_claimed_twice(tmp_path) -> None:
    with claim_folder(tmp_path), pytest.raises(CannotStart, match=f"runs already, as process {os.getpid()}"):
        claim_folder(tmp_path)


def test_a_folder_is_free_again_after_its_supervisor(tmp_path) -> None:
    claim_folder(tmp_path).close()
    claim_folder(tmp_path).close()


def test_an_old_python_gives_one_sentence(tmp_path) -> None:
    old = tmp_path / "python3"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9.18 && exit\nexit 1\n')
    old.chmod(0o755)
    for name in ("python3.11", "python3.12", "python3.13", "python"):
        (tmp_path / name).symlink_to(old)
    result = subprocess.run(
        [ROOT / "tools" / "venv", tmp_path / "venv"],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert "needs Python 3.11, 3.12 or 3.13; this machine has Python 3.9.18" in result.stderr
    assert not (tmp_path / "venv").exists()


def test_without_any_redis_the_operator_hears_what_to_install(tmp_path, monkeypatch) -> None:
    from app.operations.supervisor import embedded_redis

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(embedded_redis.importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(CannotStart, match=r"apt install redis-server.* REDIS_URL"):
        embedded_redis.prepare(tmp_path)


def test_whatever_the_system_refuses_is_said_in_one_sentence(tmp_path) -> None:
    in_the_way = tmp_path / "instance" / "metrics"
    in_the_way.parent.mkdir(mode=0o700)
    in_the_way.write_text("")
    result = subprocess.run(
        [sys.executable, "-m", "app.operations.supervisor"],
        cwd=tmp_path,
        env=plain_environment() | {"PORT": "0", "MCP_PORT": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert result.stderr == f"The shop cannot be started (File exists: {in_the_way}).\n"


def test_production_without_a_secret_key_refuses_to_start(tmp_path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "app.operations.supervisor"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "SHOP_ENV": "production"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert "SECRET_KEY must be set" in result.stderr
    assert "Traceback" not in result.stderr


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


@pytest.fixture
def taken() -> Iterator[Config]:
    """A configuration whose port another program has."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield Config(mcp_port=other.getsockname()[1])


def test_it_listens_before_its_process_runs(taken: Config) -> None:
    listener = listeners.listen_for_mcp(replace(taken, mcp_port=0), {})
    assert listener is not None
    with listener, socket.create_connection(listener.getsockname(), 10):
        assert current_release().others(listener.fileno(), 9)[-1].inherited_descriptors == [listener.fileno(), 9]
        web = current_release().web_servers(Config(), listener.fileno(), 9)
        assert [part.inherited_descriptors for part in web] == [[listener.fileno(), 9]] * 2
        assert {part.environment[MEMORY] for part in web} == {"9"}, "they count shoppers together"


def test_it_can_be_switched_off() -> None:
    assert listeners.listen_for_mcp(Config(mcp_port=None), {}) is None


def test_a_port_that_nobody_chose_keeps_no_shop_from_starting(
    taken: Config, capsys: pytest.CaptureFixture[str]
) -> None:
    assert listeners.listen_for_mcp(taken, {}) is None
    assert f"The MCP server is off. Port {taken.mcp_port}" in capsys.readouterr().err


def test_a_port_that_was_chosen_must_be_free(taken: Config) -> None:
    with pytest.raises(CannotStart, match=f"choose another, MCP_PORT={(taken.mcp_port or 0) + 1}"):
        listeners.listen_for_mcp(taken, {"MCP_PORT": str(taken.mcp_port)})


@pytest.mark.parametrize(
    ("environ", "port"),
    [({}, 8001), ({"PORT": "9000"}, 9001), ({"MCP_PORT": "7000"}, 7000), ({"MCP_PORT": "0"}, None)],
)
def test_by_default_it_is_the_port_after_the_shops(environ: dict[str, str], port: int | None) -> None:
    key = {"SECRET_KEY": "a key for tests that is long enough to be one"}
    assert from_environment(key | environ).mcp_port == port
