"""Two shops of one checkout: each has a folder, a queue and people of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import RunningShop, free_port, plain_environment
from tests.waiting import until


@pytest.fixture
def shops(tmp_path: Path) -> Iterator[list[RunningShop]]:
    made = [RunningShop(tmp_path, INSTANCE_DIR=name, MCP_PORT=str(free_port())) for name in ("one", "two")]
    yield made
    for shop in made:
        if shop.is_running:
            shop.stop()


def test_two_shops_run_beside_each_other_and_share_nothing(shops: list[RunningShop], tmp_path: Path) -> None:
    one, two = (shop.start() for shop in shops)
    for shop in (one, two):
        until(lambda shop=shop: shop.status_of("/readyz") == 200, 60)
    made = [shop.flask("site", "create", f"{shop.instance.name}.example", "--name", "A shop") for shop in (one, two)]
    assert [done.returncode for done in made] == [0, 0], [done.stderr for done in made]
    listed = [shop.flask("site", "list").stdout for shop in (one, two)]
    assert [("one.example" in sites, "two.example" in sites) for sites in listed] == [(True, False), (False, True)]
    for name in ("secret.key", "redis.url", "shop.db", "supervisor.lock"):
        assert (one.instance / name).read_bytes() != (two.instance / name).read_bytes(), name
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "one.log", "two", "two.log"]
    assert one.stop() == 0
    assert two.status_of("/readyz") == 200, "it has a queue of its own"
    refused = subprocess.run(
        [sys.executable, "-m", "app.operations.supervisor"],
        cwd=tmp_path,
        env=plain_environment() | {"PORT": str(free_port()), "INSTANCE_DIR": str(two.instance)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"The shop in {two.instance} runs already" in refused.stderr
