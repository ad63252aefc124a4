"""Redis servers for tests that stop, empty or slow down one, and the one that writes to no disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from app.operations.supervisor import embedded_redis
from app.operations.supervisor.embedded_redis import EmbeddedRedis


@contextmanager
def running_redis(folder: Path, *options: str) -> Iterator[EmbeddedRedis]:
    """A server of the caller's own, with its data in `folder`; of options that are named twice, the last holds."""
    folder.mkdir(exist_ok=True)
    server = embedded_redis.prepare(folder)
    server.part.command = [*server.part.command, *options]
    server.part.start()
    server.wait_until_it_answers()
    yield server
    server.stop(5)


def redis_without_disk(folder: Path) -> AbstractContextManager[EmbeddedRedis]:
    return running_redis(folder, "--appendonly", "no")
