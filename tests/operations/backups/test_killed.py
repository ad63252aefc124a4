"""Power goes or somebody kills the process: at every step there is a whole backup or none, and a whole shop or one that
says how to become whole."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from app.jobs.machine import newest_file
from app.operations.backups.manifest import BackupError
from app.operations.backups.restoring import check_backup
from app.operations.instance import UNFINISHED_RESTORE, CannotStart, check_restored
from tests.forks import fork
from tests.operations.backups.installation import DATED, Installation
from tests.operations.backups.killed import ALL_STEPS_DONE, act, interrupt
from tests.processes import plain_environment

KILLED = -9
MOST_STEPS = 80
STEP_INSIDE = 3  # Of a backup: its folder is made by then, and the file is not whole.


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    shop = Installation(folder / "shop").fill()
    shop.back_up(folder)
    shop.change()
    shop.change_files()
    return folder


def killed_at(deed: str, step: int, shop: Path, path: Path) -> bool:
    """False when the deed has fewer steps and was done."""
    log = shop.parent / "log"
    process = fork(
        act, deed, str(shop), str(path), step, folder=shop, environment=plain_environment(), output=log, errors=log
    )
    process.join(60)
    assert process.exitcode in (0, KILLED), log.read_text()
    return process.exitcode == KILLED


def test_a_killed_backup_is_never_taken_for_a_whole_one(model: Path, tmp_path: Path) -> None:
    shop, folder = Installation(model / "shop"), tmp_path / "backups"
    folder.mkdir()
    whole = 0
    for step in range(1, MOST_STEPS):
        was_killed = killed_at("back up", step, model / "shop", folder)
        dated = list(folder.glob("shop-*.zip"))
        assert bool(dated) == (newest_file(folder) is not None), "the alert counts whole ones alone"
        for backup in dated:
            check_backup(shop.config, backup)
            backup.unlink()
            whole += 1
        if not was_killed:
            break
    assert not was_killed and step > 5
    assert list(folder.iterdir()) == [], "the next backup removes what a killed one left"
    assert whole >= 2, "once it has its name, it is whole"


def test_a_killed_backup_to_a_file_of_its_own_name_is_repeated(model: Path, tmp_path: Path) -> None:
    """It holds the database and the secret key."""
    shop = Installation(model / "shop")
    assert killed_at("back up", STEP_INSIDE, model / "shop", tmp_path / "mine.zip")
    assert (tmp_path / "mine.zip.part").is_dir() and not (tmp_path / "mine.zip").exists()
    check_backup(shop.config, shop.back_up(tmp_path / "mine.zip"))
    assert not (tmp_path / "mine.zip.part").exists()


def test_a_killed_restore_is_finished_by_the_next(model: Path, tmp_path: Path) -> None:
    before, wanted = Installation(model / "shop").digest(), restored(copied(model, tmp_path / "whole"), model).digest()
    unfinished = 0
    for step in range(1, MOST_STEPS):
        shop = copied(model, tmp_path / str(step))
        was_killed = killed_at("restore", step, shop.instance, model / DATED)
        if is_startable(shop.instance):
            assert shop.digest() in (before, wanted)
        else:
            unfinished += 1
        assert restored(shop, model).digest() == wanted
        assert not [name for name in names(shop.instance) if "restoring" in name or "unfinished" in name]
        if not was_killed:
            break
    assert not was_killed
    assert unfinished > 5, "the shop does not start on half a restore"


def test_an_interrupted_restore_leaves_a_whole_shop_or_one_that_does_not_start(model: Path, tmp_path: Path) -> None:
    before, wanted = Installation(model / "shop").digest(), restored(copied(model, tmp_path / "whole"), model).digest()
    for step in range(1, MOST_STEPS):
        shop = copied(model, tmp_path / str(step))
        process = fork(
            interrupt,
            str(shop.instance),
            str(model / DATED),
            step,
            folder=shop.instance,
            environment=plain_environment(),
            output=tmp_path / "log",
            errors=tmp_path / "log",
        )
        process.join(60)
        assert process.exitcode in (0, ALL_STEPS_DONE), (tmp_path / "log").read_text()
        if is_startable(shop.instance):
            assert shop.digest() in (before, wanted)
        if process.exitcode == ALL_STEPS_DONE:
            break
    assert process.exitcode == ALL_STEPS_DONE and step > 5


def test_a_restore_that_was_to_finish_another_and_failed_lets_nothing_start(model: Path, tmp_path: Path) -> None:
    shop = copied(model, tmp_path / "shop")
    (shop.instance / UNFINISHED_RESTORE).touch()
    in_the_way = shop.instance / "media.restoring"
    in_the_way.touch()
    with pytest.raises(BackupError, match="The restore is unfinished: run it again"):
        shop.restore(model / DATED)
    assert not is_startable(shop.instance)
    in_the_way.unlink()
    restored(shop, model)
    assert is_startable(shop.instance)


def test_half_a_restore_is_not_backed_up(model: Path, tmp_path: Path) -> None:
    shop = copied(model, tmp_path / "shop")
    (shop.instance / UNFINISHED_RESTORE).touch()
    with pytest.raises(BackupError, match="run the same restore again, then make the backup"):
        shop.back_up(tmp_path)
    assert not list(tmp_path.glob("*.zip*"))
    restored(shop, model)
    shop.back_up(tmp_path)


def copied(model: Path, folder: Path) -> Installation:
    shutil.copytree(model / "shop", folder / "shop")
    return Installation(folder / "shop")


def restored(shop: Installation, model: Path) -> Installation:
    shop.restore(model / DATED, minutes=300)
    return shop


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def is_startable(instance: Path) -> bool:
    try:
        check_restored(instance)
    except CannotStart:
        return False
    return True
