"""The queue's server keeps its data, and keeps to itself."""

import os
import signal
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from redis import Redis

from app.supervisor import embedded_redis
from app.supervisor.embedded_redis import EmbeddedRedis


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


def test_each_major_version_has_a_folder_of_its_own(tmp_path) -> None:
    with running(tmp_path) as redis, Redis.from_url(redis.url) as client:
        major = client.info("server")["redis_version"].split(".")[0]
        assert redis.log.parent == tmp_path / f"redis-{major}"


def test_a_path_too_long_for_a_socket_is_avoided(tmp_path) -> None:
    deep = tmp_path / ("d" * 110)
    deep.mkdir()
    with running(deep) as redis:
        assert len(str(redis.socket)) < 100
    assert not redis.socket.parent.exists()
    assert redis.log.exists()
