"""What is no whole backup of this release or an older one is refused before anything is touched."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask_migrate import downgrade, upgrade
from sqlalchemy import text

from app.domain.system.release import MIGRATIONS, newest_revision
from app.extensions import db
from app.operations.backups.making import no_backup_beside, no_restore_beside
from app.operations.backups.manifest import BackupError
from app.operations.instance import claim_folder
from app.transaction import transaction
from tests.operations.backups.installation import DATED, Installation


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    Installation(folder / "shop").fill().back_up(folder)
    return folder


@pytest.fixture
def shop(model: Path, tmp_path: Path) -> Installation:
    shutil.copytree(model / "shop", tmp_path / "shop")
    shutil.copy(model / DATED, tmp_path)
    return Installation(tmp_path / "shop")


@pytest.fixture
def backup(shop: Installation, tmp_path: Path) -> Path:
    return tmp_path / DATED


def is_refused(shop: Installation, backup: Path, words: str) -> None:
    before, files = shop.digest(), stored(shop)
    with pytest.raises(BackupError, match=words):
        shop.restore(backup)
    assert (shop.digest(), stored(shop)) == (before, files)


def stored(shop: Installation) -> list[Path]:
    return [path for path in sorted(shop.instance.rglob("*")) if path.name != "supervisor.lock"]


def rewrite(backup: Path, change: Callable[[dict[str, bytes]], None]) -> None:
    with zipfile.ZipFile(backup) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(backup, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def rewrite_manifest(backup: Path, change: Callable[[dict[str, Any]], None]) -> None:
    def changed(members: dict[str, bytes]) -> None:
        manifest = json.loads(members["manifest.json"])
        change(manifest)
        members["manifest.json"] = json.dumps(manifest).encode()

    rewrite(backup, changed)


@pytest.mark.parametrize("part", [0, 0.3, 0.9, 0.999])
def test_a_backup_that_was_cut_short(shop: Installation, backup: Path, part: float) -> None:
    content = backup.read_bytes()
    backup.write_bytes(content[: int(len(content) * part)])
    is_refused(shop, backup, "is no backup, or was cut short")


def test_a_backup_that_lost_bits(shop: Installation, backup: Path) -> None:
    content = bytearray(backup.read_bytes())
    for place in range(2_000, 12_000, 500):
        content[place] ^= 0xFF
    backup.write_bytes(content)
    is_refused(shop, backup, "database.db .* is (damaged|not what was backed up)")


def test_a_database_that_was_exchanged(shop: Installation, backup: Path) -> None:
    rewrite(backup, lambda members: members.update({"database.db": b"another"}))
    is_refused(shop, backup, "is not what was backed up: its checksum differs")


def test_a_file_that_is_missing_or_too_much(shop: Installation, backup: Path) -> None:
    original = backup.read_bytes()
    rewrite(backup, lambda members: members.pop("secret.key"))
    is_refused(shop, backup, "'secret.key' is missing")
    backup.write_bytes(original)
    rewrite(backup, lambda members: members.update({"../../etc/cron.d/evil": b""}))
    is_refused(shop, backup, "is not in the manifest")


@pytest.mark.parametrize(
    "name", ["../evil", "media/../../evil", "/etc/evil", "media/a/../b", "media\\evil", "media/.ssh/x", "C:evil", ""]
)
def test_names_that_lead_out_of_the_folder(shop: Installation, backup: Path, name: str) -> None:
    rewrite_manifest(backup, lambda manifest: manifest["files"].update({name: {"bytes": 0, "sha256": "0" * 64}}))
    is_refused(shop, backup, "a name that no backup of the shop has")


def test_an_archive_without_a_manifest(shop: Installation, backup: Path) -> None:
    rewrite(backup, lambda members: members.pop("manifest.json"))
    is_refused(shop, backup, "it has no manifest")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"format": 2}, "format 2, this version knows 1"),
        ({"database": "postgresql"}, "names no database"),
        ({"files": []}, "cannot be read"),
        ({"contents": {"revision": "of tomorrow", "sites": [], "rows": {}}}, "install that version or a newer one"),
    ],
)
def test_a_backup_of_another_release(shop: Installation, backup: Path, changed: dict[str, Any], words: str) -> None:
    rewrite_manifest(backup, lambda manifest: manifest.update(changed))
    is_refused(shop, backup, words)


def test_a_backup_of_a_database_that_a_later_release_upgraded_names_that_release(
    shop: Installation, tmp_path: Path
) -> None:
    known = shop.digest()
    with shop.opened(), transaction():
        db.session.execute(text("UPDATE alembic_version SET version_num = 'of tomorrow'"))
    backup = shop.back_up(tmp_path / "later.zip")
    assert shop.digest() != known
    is_refused(shop, backup, r"after a later release had upgraded its database \(of tomorrow\): install that later")


def test_a_backup_of_another_kind_of_database(shop: Installation, backup: Path) -> None:
    elsewhere = Installation(shop.instance)
    elsewhere.config = replace(elsewhere.config, database_url="postgresql+psycopg://shop@localhost/shop")
    with pytest.raises(BackupError, match="is of a sqlite database; DATABASE_URL names one of postgresql"):
        elsewhere.restore(backup)


def test_a_shop_that_runs_is_not_replaced(shop: Installation, backup: Path) -> None:
    with claim_folder(shop.instance):
        is_refused(shop, backup, "runs already")


def test_a_backup_and_a_restore_wait_for_each_other(shop: Installation, backup: Path, tmp_path: Path) -> None:
    with no_restore_beside(shop.instance):
        is_refused(shop, backup, "A backup is being made: begin once it is done")
        shop.back_up(tmp_path / "beside.zip")
    with no_backup_beside(shop.instance), pytest.raises(BackupError, match="A restore is running"):
        shop.back_up(tmp_path / "another.zip")
    assert not list(tmp_path.glob("another*"))


def test_a_database_without_tables_is_not_backed_up(tmp_path: Path) -> None:
    empty = Installation(tmp_path / "empty")
    with pytest.raises(BackupError, match="There is no database at"):
        empty.back_up(tmp_path)
    (tmp_path / "empty" / "shop.db").touch()
    with pytest.raises(BackupError, match="not set up yet"):
        empty.back_up(tmp_path)
    assert not list(tmp_path.glob("*.zip*"))


def test_a_damaged_database_is_not_backed_up(shop: Installation, tmp_path: Path) -> None:
    file = shop.instance / "shop.db"
    content = bytearray(file.read_bytes())
    for place in range(20_000, len(content), 4_096):
        content[place : place + 200] = bytes(200)
    file.write_bytes(content)
    with pytest.raises(BackupError, match=r"is damaged|cannot be copied"):
        shop.back_up(tmp_path / "another.zip")
    assert not list(tmp_path.glob("another*"))


def test_an_older_database_is_brought_up_to_date(shop: Installation, tmp_path: Path) -> None:
    """As the migrations make it, and the shop of before is left as it was."""
    older = Installation(tmp_path / "older")
    with older.opened():
        upgrade(str(MIGRATIONS))
        downgrade(str(MIGRATIONS), "-1")
    old_backup = older.back_up(tmp_path / "old.zip")
    shop.restore(old_backup)
    with shop.opened():
        assert db.session.scalar(text("SELECT version_num FROM alembic_version")) == newest_revision()
