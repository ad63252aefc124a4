"""Shops for the fault tests: made once, copied for each."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.operations.supervisor import embedded_redis
from app.operations.supervisor.embedded_redis import EmbeddedRedis
from tests.faults.shops import Shop, make_shop


@pytest.fixture(scope="session")
def model_shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    make_shop(folder)
    return folder


@pytest.fixture
def shop(model_shop: Path, tmp_path: Path) -> Iterator[Shop]:
    shutil.copytree(model_shop, tmp_path / "shop", symlinks=True)
    copied = Shop(tmp_path / "shop")
    yield copied
    copied.end_all()


@pytest.fixture
def redis(shop: Shop, tmp_path: Path) -> Iterator[EmbeddedRedis]:
    """A queue server of this test's own, which it may kill."""
    folder = tmp_path / "redis"
    folder.mkdir()
    server = embedded_redis.prepare(folder)
    server.part.start()
    server.wait_until_it_answers()
    shop.redis_url = server.url
    yield server
    server.stop(5)
