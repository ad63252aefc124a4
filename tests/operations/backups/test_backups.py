"""A backup holds the shop as it was at one moment, and is put back whole or not at all."""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from flask_migrate import downgrade, upgrade
from sqlalchemy import inspect, select, text

from app.adapters.erasure_file import ErasureFile
from app.adapters.s3 import Bucket, S3Erasures, TimeLimits
from app.config import S3Settings
from app.domain.catalogue.models import WORDS_INDEX
from app.domain.machines import machines
from app.domain.machines.coexistence import MachineFacts
from app.domain.personal_data.erasure_list import copy_erasures
from app.domain.search.models import RebuildRun
from app.domain.seo.models import SitemapBuild
from app.domain.shared.author import Author
from app.domain.system.release import MIGRATIONS
from app.domain.work.leases import requested_now
from app.extensions import db
from app.operations.backups.databases import database_of
from app.operations.backups.making import make_backup, one_backup_in
from app.operations.backups.manifest import BackupError, read_manifest
from app.operations.backups.reading import newest_in
from app.operations.backups.restoring import check_backup, restore
from app.operations.instance import check_restored
from app.ports import clock
from app.transaction import transaction
from tests.operations.backups.installation import DATED, NOW, PICTURES, Installation
from tests.s3_server import S3Server, s3_server
from tests.surroundings import missing


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "backups"
    made.mkdir()
    return made


@pytest.fixture
def shop(own_database_url: str, tmp_path: Path) -> Installation:
    if own_database_url.startswith("postgresql") and shutil.which("pg_dump") is None:
        missing("PostgreSQL's client is not installed (on Debian: apt install postgresql-client)")
    made = Installation(tmp_path / "shop", own_database_url).fill()
    if own_database_url.startswith("postgresql"):
        with made.opened():  # The tests themselves are connected, too.
            others = "datname = current_database() AND pid <> pg_backend_pid()"
            db.session.execute(text(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}"))
    return made


def test_a_restored_shop_is_the_one_that_was_backed_up(shop: Installation, folder: Path) -> None:
    before = shop.digest()
    shop.back_up(folder)
    shop.change()
    shutil.rmtree(shop.config.media_dir)
    assert shop.digest() != before
    aside = shop.restore(folder)
    assert shop.digest() == before
    assert len(aside) >= 4 and not shop.config.index_dir.exists(), "the shop rebuilds it"


def test_pictures_on_another_machine_are_not_in_a_backup_and_those_here_stay_at_its_restore(
    shop: Installation, folder: Path
) -> None:
    here = shop.config
    shop.config = replace(here, pictures="s3", s3=S3Settings("shop-pictures"))
    with shop.opened():
        made = make_backup(shop.config, shop.erasures, shop.instance, folder, NOW)
    assert made.manifest.pictures == [] and made.manifest.pictures_elsewhere == "the bucket shop-pictures"
    shop.config = here
    shop.restore(folder)
    assert all((here.media_dir / name).read_bytes() == content for name, content in PICTURES.items())


def test_a_rebuild_that_ran_during_the_backup_keeps_no_other_waiting(shop: Installation, folder: Path) -> None:
    with shop.opened(), transaction():
        now = clock().now()
        lease = {"state": "running", "started_at": now, "lease_until": now + timedelta(minutes=2), "fence": 1}
        run = requested_now(Author(1, "somebody", clock()))
        db.session.add(RebuildRun(**run | lease, scope="ALL", generations={}))
    shop.back_up(folder)
    shop.restore(folder)
    with shop.opened():
        (restored,) = db.session.scalars(select(RebuildRun))
        assert (restored.state, restored.lease_until, restored.finished_at) == ("failed", None, restored.started_at)
        assert "restored from a backup" in (restored.error or "")


def test_a_restored_machine_keeps_nobody_waiting_and_its_work_is_anyones(shop: Installation, folder: Path) -> None:
    with shop.opened(), transaction():
        machines.register(clock(), "left00000000", MachineFacts("left", "1.0", "whoosh", "sqlite", "files"))
        db.session.add(SitemapBuild(**requested_now(Author(1, "Mia", clock())), machine="left00000000"))
    shop.back_up(folder)
    shop.restore(folder)
    with shop.opened():
        assert machines.running_machines(clock()) == [] and machines.forgettable(clock()) == ["left00000000"]
        assert db.session.scalars(select(SitemapBuild.machine)).all() == [""]


def test_what_was_there_is_kept_beside(own_database_url: str, shop: Installation, folder: Path) -> None:
    shop.back_up(folder)
    shop.change()
    changed = shop.digest()
    shop.restore(folder)
    names = {path.name for path in shop.instance.iterdir() if ".before-20261122-210000" in path.name}
    assert names >= {f"{name}.before-20261122-210000" for name in ("media", "index", "secret.key", "valkey-9")}
    if own_database_url.startswith("sqlite"):
        kept = Installation(shop.instance, f"{own_database_url}.before-20261122-210000")
        assert kept.digest() == changed


def test_a_shop_can_be_restored_twice(shop: Installation, folder: Path) -> None:
    before = shop.digest()
    shop.back_up(folder)
    shop.restore(folder)
    shop.change()
    shop.restore(folder, minutes=61)
    assert shop.digest() == before


@pytest.mark.parametrize("database_kind", ["postgresql"], indirect=True)
def test_the_index_of_words_is_there_after_a_restore_and_after_one_that_was_interrupted(
    shop: Installation, folder: Path
) -> None:
    """Its extension is in no dump, and in the schema that makes room."""

    def interrupted(_url: str) -> None:
        raise KeyboardInterrupt

    def has_index() -> bool:
        with shop.opened():
            return WORDS_INDEX in {index["name"] for index in inspect(db.engine).get_indexes("products")}

    shop.back_up(folder)
    assert has_index()
    shop.restore(folder)
    assert has_index()
    with zipfile.ZipFile(newest_in(folder)) as archive:
        (unpacked,) = (name for name in archive.namelist() if name.startswith("database."))
        archive.extract(unpacked, folder)
    with pytest.raises(KeyboardInterrupt):
        database_of(shop.config.database_url, shop.instance).replace(folder / unpacked, ".before-now", interrupted)
    assert has_index()


def test_the_manifest_says_what_the_backup_holds(shop: Installation, folder: Path) -> None:
    shop.back_up(folder)
    with zipfile.ZipFile(folder / DATED) as archive:
        manifest = read_manifest(archive.read("manifest.json"))
    assert manifest.contents.sites == ("shop.test",)
    assert manifest.contents.rows["products"] == 20
    assert len(manifest.pictures) == 3 and "secret.key" in manifest.files


def test_only_its_owner_can_read_a_backup(shop: Installation, folder: Path) -> None:
    assert shop.back_up(folder).stat().st_mode & 0o777 == 0o600


def test_the_newest_backups_stay(shop: Installation, folder: Path) -> None:
    (folder / "mine.zip").write_text("not one of the dated ones")
    for number in range(4):
        shop.back_up(folder, keep=2, minutes=number)
    assert sorted(path.name for path in folder.iterdir()) == [
        "mine.zip",
        "shop-20261122-200200.zip",
        "shop-20261122-200300.zip",
    ]
    assert newest_in(folder).name == "shop-20261122-200300.zip"


def test_backups_by_hand_and_those_of_every_night_are_counted_apart(shop: Installation, folder: Path) -> None:
    for number in range(6):
        shop.back_up(folder, keep=2, minutes=number, by_hand=number in (1, 3, 5))
    assert sorted(path.name for path in folder.iterdir()) == [
        "shop-20261122-200200.zip",
        "shop-20261122-200300-manual.zip",
        "shop-20261122-200400.zip",
        "shop-20261122-200500-manual.zip",
    ]
    assert newest_in(folder).name == "shop-20261122-200500-manual.zip"


def test_a_backup_by_hand_begins_where_another_like_the_newest_has_room_alone(shop: Installation, folder: Path) -> None:
    newest = folder / "shop-20261122-195900.zip"
    newest.touch()
    os.truncate(newest, shutil.disk_usage(folder).free)  # It takes no room itself.
    with pytest.raises(BackupError, match=r"The backup needs .* MB beside what is there; .* MB are free in"):
        shop.back_up(folder, by_hand=True)
    assert [path.name for path in folder.iterdir()] == [newest.name]
    os.truncate(newest, 1_000)
    assert shop.back_up(folder, by_hand=True).exists()


def test_a_file_that_is_there_is_not_overwritten(shop: Installation, folder: Path) -> None:
    shop.back_up(folder / "mine.zip")
    with pytest.raises(BackupError, match=r"mine\.zip exists already"):
        shop.back_up(folder / "mine.zip")
    with pytest.raises(BackupError, match="There is no folder"):
        shop.back_up(folder / "nowhere" / "mine.zip")


def test_one_backup_at_a_time_is_written_to_a_folder(shop: Installation, folder: Path) -> None:
    half_written = folder / "shop-20261122-195900.zip.part"
    half_written.mkdir()
    with one_backup_in(folder), pytest.raises(BackupError, match="Another backup is being written"):
        shop.back_up(folder)
    assert half_written.is_dir(), "it may be the other's"
    shop.back_up(folder)
    assert not half_written.exists()


def test_a_shop_in_use_is_not_replaced(shop: Installation, folder: Path) -> None:
    shop.back_up(folder)
    before = shop.digest()
    with shop.opened(), db.engine.connect(), pytest.raises(BackupError, match="Stop the shop first"):
        shop.restore(folder)
    assert shop.digest() == before


def test_checking_changes_nothing(shop: Installation, folder: Path) -> None:
    shop.back_up(folder)
    shop.change()
    changed, files = shop.digest(), sorted(shop.instance.rglob("*"))
    assert check_backup(shop.config, folder).has_same_key
    assert (shop.digest(), sorted(shop.instance.rglob("*"))) == (changed, files)


def test_the_list_of_erasures_outlives_a_restore(shop: Installation, folder: Path) -> None:
    """The backup's would forget who was erased since; on a new machine it is better than none."""
    erasures = shop.config.erasure_list
    erasures.write_text("one\n")
    shop.back_up(folder)
    erasures.write_text("one\ntwo\n")
    shop.restore(folder)
    assert erasures.read_text() == "one\ntwo\n"
    erasures.unlink()
    shop.restore(folder, minutes=61)
    assert erasures.read_text() == "one\n"


def test_the_list_of_erasures_may_lie_on_another_disk_in_a_folder_that_is_new(shop: Installation, folder: Path) -> None:
    shop.config.erasure_list.write_text("one\n")
    shop.back_up(folder)
    with TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as other_disk:
        shop.config = replace(shop.config, erasure_file=Path(other_disk) / "lists" / "erasures.list")
        shop.restore(folder)
        assert shop.config.erasure_list.read_text() == "one\n"
        assert shop.config.erasure_list.stat().st_mode & 0o077 == 0
        assert [path.name for path in shop.config.erasure_list.parent.iterdir()] == ["erasures.list"]
    check_restored(shop.instance)


def test_where_the_list_of_erasures_cannot_be_written_nothing_is_changed(shop: Installation, folder: Path) -> None:
    shop.config.erasure_list.write_text("one\n")
    shop.back_up(folder)
    shop.config.erasure_list.unlink()
    (folder / "lists").write_text("a file, where a folder should be")
    shop.config = replace(shop.config, erasure_file=folder / "lists" / "erasures.list")
    shop.change()
    before = shop.digest()
    with pytest.raises(BackupError, match=r"The list of erasures cannot be written to .*lists .*ERASURE_LIST"):
        shop.restore(folder)
    assert shop.digest() == before
    check_restored(shop.instance)


class ListThatTakesTime(ErasureFile):
    """Something is written to the shop before the list answers."""

    def __init__(self, shop: Installation) -> None:
        super().__init__(shop.config.erasure_list)
        self._shop = shop

    def lines(self) -> list[str]:
        self._shop.change()
        return super().lines()


def test_the_list_of_erasures_is_read_once_the_database_is_copied(shop: Installation, folder: Path) -> None:
    """So it names everybody who was erased while the copy, which still holds them, was made."""
    shop.config.erasure_list.write_text("one\n")
    made = make_backup(shop.config, ListThatTakesTime(shop), shop.instance, folder, NOW)
    assert made.manifest.contents.rows["products"] == 20
    with zipfile.ZipFile(made.path) as archive:
        assert archive.read("erasures.list") == b"one\n"


def test_a_list_that_machines_share_is_backed_up_and_gets_back_what_it_lost(
    shop: Installation, folder: Path, server: S3Server
) -> None:
    shared = S3Erasures(Bucket(server.settings, TimeLimits(connect=2.0, retries=0.5, rest=0.0)), "shop-pictures")
    copy_erasures(["one", "two"], shared)
    with shop.opened():
        made = make_backup(shop.config, shared, shop.instance, folder, NOW)
    assert made.missing_list == ""
    Bucket(server.settings).remove(next(key for key in server.stored_keys()).removeprefix("pictures/"))
    shared.append("three")
    restore(shop.config, shared, shop.instance, folder, NOW + timedelta(hours=1))
    assert sorted(shared.lines()) == ["one", "three", "two"]

    server.network.fault = "reset"
    before = shop.digest()
    with pytest.raises(BackupError, match=r"cannot be written to the bucket shop-pictures \(it does not answer\)"):
        restore(shop.config, shared, shop.instance, folder, NOW + timedelta(hours=2))
    assert shop.digest() == before
    made = make_backup(shop.config, shared, shop.instance, folder, NOW + timedelta(hours=2))
    assert made.missing_list == "the bucket shop-pictures: it does not answer"
    assert "erasures.list" not in made.manifest.files and made.manifest.contents.rows["products"] == 20


def test_where_the_key_of_the_bucket_may_only_read_nothing_is_changed(
    shop: Installation, folder: Path, tmp_path: Path
) -> None:
    shop.config.erasure_list.write_text("one\n")
    shop.back_up(folder)
    shop.change()
    before = shop.digest()
    with s3_server(tmp_path / "s3", is_read_only=True) as server:
        shared = S3Erasures(Bucket(server.settings), "shop-pictures")
        with pytest.raises(BackupError, match="The list of erasures cannot be written to the bucket shop-pictures"):
            restore(shop.config, shared, shop.instance, folder, NOW + timedelta(hours=1))
    assert shop.digest() == before
    check_restored(shop.instance)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[S3Server]:
    with s3_server(tmp_path / "s3") as running:
        yield running


def test_a_backup_of_the_release_before_is_brought_up_to_date(shop: Installation, folder: Path) -> None:
    with shop.opened():
        downgrade(str(MIGRATIONS), "-1")
    shop.back_up(folder)
    with shop.opened():
        upgrade(str(MIGRATIONS))
    before = shop.digest()
    shop.restore(folder)
    assert shop.digest() == before


def test_where_its_migration_is_interrupted_the_database_stays_as_it_was(shop: Installation, folder: Path) -> None:
    def interrupted(_url: str) -> None:
        raise KeyboardInterrupt

    with zipfile.ZipFile(shop.back_up(folder)) as archive:
        (unpacked,) = (name for name in archive.namelist() if name.startswith("database."))
        archive.extract(unpacked, folder)
    shop.change()
    before = shop.digest()
    with pytest.raises(KeyboardInterrupt):
        database_of(shop.config.database_url, shop.instance).replace(folder / unpacked, ".before-now", interrupted)
    assert shop.digest() == before


def test_where_its_migration_fails_the_shop_stays_as_it_was(
    shop: Installation, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with shop.opened():
        downgrade(str(MIGRATIONS), "-1")
    shop.back_up(folder)
    with shop.opened():
        upgrade(str(MIGRATIONS))
    shop.change()
    before = shop.digest()
    monkeypatch.setenv("LOG_LEVEL", "no such level")
    with pytest.raises(BackupError, match="The migrations of this version failed"):
        shop.restore(folder)
    check_restored(shop.instance)
    assert shop.digest() == before
