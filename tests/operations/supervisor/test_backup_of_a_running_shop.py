"""The demo shop is backed up while it runs and is written to, and restored where nothing is."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests.faults.deeds import do
from tests.processes import RunningShop, plain_environment
from tests.waiting import until


def after(said: Sequence[str]) -> dict[str, str]:
    """The names of the products that the writer made, by SKU."""
    names: dict[str, str] = {}
    for line in said:
        match line.split():
            case ["saved", sku, name]:
                names[sku] = name
            case ["deleted", sku]:
                names.pop(sku)
    return names


def in_database(folder: Path) -> dict[str, str]:
    with closing(sqlite3.connect(folder / "instance" / "shop.db")) as database:
        return dict(database.execute("SELECT sku, name FROM products WHERE sku LIKE 'new-%'").fetchall())


def age_rebuilds(folder: Path) -> None:
    """As if the backup were an hour old: right after a rebuild the shop pauses before it begins another by itself."""
    with closing(sqlite3.connect(folder / "instance" / "shop.db")) as database, database:
        times = ", ".join(
            f"{name} = datetime({name}, '-1 hour')" for name in ("created_at", "started_at", "finished_at")
        )
        database.execute(f"UPDATE rebuild_runs SET {times}")


@pytest.fixture
def shops(tmp_path: Path) -> Iterator[list[RunningShop]]:
    made = [RunningShop(tmp_path / name) for name in ("one", "two")]
    for shop in made:
        shop.folder.mkdir()
    yield made
    for shop in made:
        if shop.is_running:
            shop.stop()


@pytest.mark.thorough
def test_a_backup_under_writes_is_the_shop_of_one_moment(shops: list[RunningShop], tmp_path: Path) -> None:
    running, empty = shops
    running.start()
    (tmp_path / "backups").mkdir()
    writer = do(["save", "0"], running.folder, plain_environment() | {"LOG_LEVEL": "ERROR"})
    try:
        until(lambda: len(writer.said) > 40, 60)
        before = len(writer.said)
        made = running.flask("backup", str(tmp_path / "backups"))
        said = writer.said
    finally:
        writer.end()
    assert made.returncode == 0, made.stderr
    assert "localhost; " in made.stdout and "It holds the secret key of the shop" in made.stdout
    assert "runs already" in running.flask("restore", str(tmp_path / "backups")).stderr
    assert running.stop() == 0

    restored = empty.flask("restore", str(tmp_path / "backups"))
    assert restored.returncode == 0, restored.stderr
    names = in_database(empty.folder)
    assert names in [after(said[:count]) for count in range(before, len(said) + 1)]
    age_rebuilds(empty.folder)
    empty.start()
    until(lambda: empty.status_of("/readyz") == 200, 60)
    sku, name = next(iter(names.items()))
    assert sku in empty.flask("search", name).stdout
    assert "tent" in empty.flask("search", "tent").stdout.lower()
