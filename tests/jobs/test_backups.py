"""A worker makes the backup that was requested in the admin."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from flask import current_app
from sqlalchemy import select

from app.domain.shared.author import Author
from app.domain.sites.models import Site
from app.domain.system import backup_runs
from app.domain.system.backup_runs import BackupRun
from app.extensions import db
from app.jobs import backups
from app.operations.backups.reading import newest_in, open_backup
from app.ports import clock, machine_id
from app.transaction import transaction
from tests.operations.backups.installation import Installation


def request() -> str:
    config = current_app.config["SHOP"]
    instance = config.media_dir.parent
    folder = instance / "backups"
    folder.mkdir(exist_ok=True)
    current_app.config["SHOP"] = dataclasses.replace(config, backup_dir=folder, instance_dir=instance)
    with transaction():
        site_id = db.session.scalars(select(Site.id)).one()
        return backup_runs.request_backup(Author(site_id, "Susan", clock()), machine_id()).id


def test_the_backup_is_whole_and_its_page_names_it(tmp_path: Path) -> None:
    with Installation(tmp_path / "shop").fill().opened():
        assert backups.make(request())
        shown = backup_runs.latest_backup(clock(), machine_id())
        assert shown is not None and shown.is_done and shown.error is None
        made = newest_in(current_app.config["SHOP"].backup_dir)
        assert (shown.file, shown.bytes) == (made.name, made.stat().st_size)
        assert made.name.endswith("-manual.zip"), "it is counted apart from those of every night"
        with open_backup(made) as backup:
            backup.verify()
            assert backup.manifest.contents.rows["products"] == 20


def test_the_newest_five_by_hand_stay_and_all_of_every_night(tmp_path: Path) -> None:
    with Installation(tmp_path / "shop").fill().opened():
        run_id = request()
        folder = current_app.config["SHOP"].backup_dir
        nightly = {f"shop-2026010{day}-023000.zip" for day in range(1, 9)}
        for name in nightly | {f"shop-2026010{day}-120000-manual.zip" for day in range(1, 6)}:
            (folder / name).touch()
        assert backups.make(run_id)
        left = {path.name for path in folder.iterdir()}
    assert nightly <= left and len(left - nightly) == 5 and "shop-20260101-120000-manual.zip" not in left


def test_a_restored_shop_waits_for_no_backup(tmp_path: Path) -> None:
    """The backup holds the row of its own run, which is unfinished there."""
    shop = Installation(tmp_path / "shop").fill()
    with shop.opened():
        assert backups.make(request())
        folder = current_app.config["SHOP"].backup_dir
    shop.restore(folder)
    with shop.opened():
        assert db.session.scalars(select(BackupRun)).all() == []


def test_a_backup_that_cannot_be_made_fails_with_the_reason(tmp_path: Path) -> None:
    with Installation(tmp_path / "shop").fill().opened():
        run_id = request()
        folder = current_app.config["SHOP"].backup_dir
        folder.rmdir()
        assert backups.make(run_id)
        shown = backup_runs.latest_backup(clock(), machine_id())
        assert shown is not None and shown.has_failed and f"There is no folder {folder}" in (shown.error or "")


def test_a_run_is_made_once(tmp_path: Path) -> None:
    with Installation(tmp_path / "shop").fill().opened():
        run_id = request()
        assert backups.make(run_id) and not backups.make(run_id)
