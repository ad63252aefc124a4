"""Whatever keeps the shop from starting is said in one sentence that names what to do."""

import os
import socket
import subprocess
import sys

import pytest

from app.instance_claim import CannotStart, claim_folder
from app.operations.supervisor.listeners import claim_port
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
