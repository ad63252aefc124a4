"""Backups that were requested in the admin."""

from __future__ import annotations

from flask import current_app

from app.config import Config
from app.domain.system import backup_runs
from app.domain.system.backup_runs import MadeBackup, Watch
from app.operations.backups.making import MANUAL_KEPT, make_backup
from app.operations.backups.manifest import BackupError
from app.operations.work_context import work_context
from app.ports import clock, erasures, machine_id, queue

NOT_SET_UP = "BACKUP_DIR is not set for the workers of this machine: set it for all parts of the shop, then restart it."


def make(run_id: str) -> bool:
    """Make a requested backup, then look again how old the newest is, which ends an alert about that."""
    is_made = backup_runs.run_backup(work_context(), _make, run_id)
    if is_made:
        queue().enqueue("scheduled:look", "check-backup", machine=machine_id())
    return is_made


def _make(watch: Watch) -> MadeBackup:
    """Make a backup into the folder of BACKUP_DIR. Raises BackupError."""
    config: Config = current_app.config["SHOP"]
    if config.backup_dir is None:
        raise BackupError(NOT_SET_UP)
    if not config.backup_dir.is_dir():
        raise BackupError(f"There is no folder {config.backup_dir}: make it first, on another disk than the shop's.")
    where = config.instance_folder, config.backup_dir
    made = make_backup(config, erasures(), *where, clock().now(), MANUAL_KEPT, watch, by_hand=True)
    return MadeBackup(
        made.path.name, made.path.stat().st_size, _describe_missing(made.manifest.pictures_elsewhere, made.missing_list)
    )


def _describe_missing(pictures: str, erasures_fault: str) -> str:
    """Return what is not in a backup, "" where nothing is missing."""
    sentences = []
    if pictures:
        sentences.append(f"The pictures are in {pictures} and not in this backup.")
    if erasures_fault:
        sentences.append(f"The list of erasures is not in it ({erasures_fault}).")
    return " ".join(sentences)[:500]
