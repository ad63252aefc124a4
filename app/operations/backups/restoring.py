"""Restore a backup. Everything is verified and unpacked beside the shop's files first; these are renamed, never
deleted; and until the last step is done the shop refuses to start. A restored database is brought up to date."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import NullPool, create_engine, make_url

from app.config import SECRET_KEY_FILE, Config
from app.domain.personal_data.erasure_list import ErasureList, copy_erasures
from app.domain.shared.durable_files import fsync_path
from app.domain.system import release
from app.operations.backups.databases import PostgresqlDatabase, SqliteDatabase, database_of
from app.operations.backups.making import check_room, key_fingerprint, no_backup_beside
from app.operations.backups.manifest import ERASURES, MEDIA, SECRET_KEY, BackupError, DatabaseInDoubt, Manifest
from app.operations.backups.reading import Backup, newest_in, open_backup
from app.operations.instance import UNFINISHED_RESTORE, CannotStart, claim_folder, is_unfinished
from app.operations.replaced_database import (
    UpgradeFailed,
    end_rebuilds,
    forget_backups,
    release_machines,
    upgrade_database,
)

UNPACKED = ".restoring"
RESTORED = "The shop was restored from a backup that was made during this rebuild."


@dataclass(frozen=True, slots=True)
class Restored:
    """The outcome of a restore. `aside` are the places where the previous data is kept."""

    path: Path
    manifest: Manifest
    is_migrated: bool
    has_same_key: bool
    aside: tuple[str, ...] = ()


def check_backup(config: Config, path: Path) -> Restored:
    """Verify that this installation can restore the backup. Raises BackupError."""
    with open_backup(newest_in(path)) as backup:
        return _check_restorable(config, backup)


def check_fits(config: Config, manifest: Manifest) -> None:
    """Check that this installation can restore such a backup: its kind of database and its release. Raises
    BackupError."""
    kind = make_url(config.database_url).get_backend_name()
    if manifest.database != kind:
        raise BackupError(f"The backup is of a {manifest.database} database; DATABASE_URL names one of {kind}.")
    if manifest.contents.revision not in release.known_revisions():
        raise BackupError(_describe_unknown_database(manifest))


def restore(config: Config, erasures: ErasureList, instance: Path, path: Path, now: datetime) -> Restored:
    """Restore the newest backup at a path. Raises BackupError, and nothing is changed then, unless it says so."""
    with hold_installation(instance), open_backup(newest_in(path)) as backup:
        found = _check_restorable(config, backup)
        database = database_of(config.database_url, instance)
        database.check_unused()
        try:
            aside = _Restoring(config, erasures, instance, database, backup, now, found.is_migrated).run()
        except OSError as error:
            advice = " The restore is unfinished: run it again." if is_unfinished(instance) else ""
            raise BackupError(
                f"The backup cannot be put in place: {error.strerror} ({error.filename}).{advice}"
            ) from error
    return Restored(found.path, found.manifest, found.is_migrated, found.has_same_key, tuple(aside))


@contextmanager
def hold_installation(instance: Path) -> Iterator[None]:
    """Keep the shop from starting and backups from being made. Raises BackupError while the shop runs or a backup is
    being made."""
    try:
        claim = claim_folder(instance)
    except CannotStart as error:
        raise BackupError(str(error)) from error
    with claim, no_backup_beside(instance):
        yield


def _check_restorable(config: Config, backup: Backup) -> Restored:
    """Verify that this installation can restore the backup. Raises BackupError."""
    manifest = backup.manifest
    check_fits(config, manifest)
    backup.verify()
    is_migrated = manifest.contents.revision != release.newest_revision()
    return Restored(backup.path, manifest, is_migrated, manifest.key == key_fingerprint(config))


def _describe_unknown_database(manifest: Manifest) -> str:
    database = f"its database ({manifest.contents.revision})"
    if manifest.is_of_later_release:
        return (
            f"The backup was made by version {manifest.version} of the shop after a later release had upgraded "
            f"{database}: install that later release to restore it."
        )
    return (
        f"The backup was made by version {manifest.version} of the shop; this is {release.version()}, which does "
        f"not know {database}: install that version or a newer one."
    )


class _Restoring:
    """One restore: the steps in their order, and the places they use."""

    def __init__(
        self,
        config: Config,
        erasures: ErasureList,
        instance: Path,
        database: SqliteDatabase | PostgresqlDatabase,
        backup: Backup,
        now: datetime,
        is_migrated: bool,
    ) -> None:
        self._config, self._instance, self._database, self._backup = config, instance, database, backup
        self._erasures = erasures
        self._aside = f".before-{now.astimezone(UTC):%Y%m%d-%H%M%S}"
        self._media = config.media_dir.absolute()
        self._new_media = self._media.with_name(self._media.name + UNPACKED)
        self._work = database.folder / f"database{UNPACKED}"
        self._is_migrated = is_migrated
        self._moved: list[str] = []
        self._is_begun = False

    def run(self) -> list[str]:
        """Run the steps, and return the places where the previous data is kept. An error after the first step that
        replaces anything leaves the mark of an unfinished restore behind, as does one of a restore that was to finish
        another."""
        unfinished = self._instance / UNFINISHED_RESTORE
        finishes_another = unfinished.exists()
        try:
            self._unpack()
            unfinished.write_text(f"{self._backup.path}\n")
            fsync_path(self._instance)
            self._replace()
        except BaseException:
            if not self._is_begun and not finishes_another:
                unfinished.unlink(missing_ok=True)
            raise
        finally:
            for folder in (self._work, self._new_media):
                shutil.rmtree(folder, ignore_errors=True)
        unfinished.unlink()
        fsync_path(self._instance)
        return self._moved

    def _unpack(self) -> None:
        self._check_places()
        for folder in (self._work, self._new_media):
            shutil.rmtree(folder, ignore_errors=True)  # Of a restore that was interrupted.
            folder.mkdir(mode=0o700, parents=True)
        for name in self._backup.manifest.files:
            target = self._new_media / name.removeprefix(MEDIA) if name.startswith(MEDIA) else self._work / name
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                self._backup.read(name, file.write)
                file.flush()
                os.fsync(file.fileno())
        for folder in (self._work, self._new_media, *(path for path in self._new_media.rglob("*") if path.is_dir())):
            fsync_path(folder)

    def _check_places(self) -> None:
        """Check the places that the steps write to. Raises BackupError where a step would fail half-way."""
        for folder in (self._media, self._config.index_dir.absolute(), self._config.sitemap_folder.absolute()):
            if os.path.ismount(folder):
                raise BackupError(f"{folder} is a disk of its own, which cannot be renamed: name a folder on it.")
        self._check_list()
        check_room(self._database.folder, self._backup.manifest.bytes)

    def _check_list(self) -> None:
        """Check that the list of erasures takes those of the backup. Raises BackupError."""
        if ERASURES not in self._backup.manifest.files:
            return
        try:
            self._erasures.lines()
            self._erasures.check()
        except OSError as error:
            raise BackupError(
                f"The list of erasures cannot be written to {self._erasures.place} ({error.strerror}): see to that, or "
                "name another place (ERASURE_LIST; with PICTURES=s3 the bucket)."
            ) from error

    def _replace(self) -> None:
        """Put the unpacked parts in place: the database first, which is what may fail. What the shop makes anew by
        itself (index, sitemaps, the embedded queue) is only moved aside."""
        self._replace_database()
        queues = filter(_is_queue, list(self._instance.iterdir()))
        for folder in (self._config.index_dir, self._config.sitemap_folder, *queues):
            self._put_aside(folder.absolute())
        if not self._backup.manifest.pictures_elsewhere:
            self._put_aside(self._media)
            os.rename(self._new_media, self._media)
        if SECRET_KEY in self._backup.manifest.files:
            self._put_aside(self._instance / SECRET_KEY_FILE)
            _put_durably(self._work / SECRET_KEY, self._instance / SECRET_KEY_FILE)
        if ERASURES in self._backup.manifest.files:  # The list that is here knows of later erasures, too.
            copy_erasures((self._work / ERASURES).read_text(errors="replace").splitlines(), self._erasures)
        for folder in {self._media.parent, self._database.folder, self._instance}:
            fsync_path(folder)

    def _replace_database(self) -> None:
        unpacked = self._work / self._backup.manifest.database_file
        self._is_begun = True
        try:
            self._moved += self._database.replace(unpacked, self._aside, self._prepare)
        except DatabaseInDoubt:
            raise
        except BackupError:
            self._is_begun = False
            raise

    def _prepare(self, database_url: str) -> None:
        if self._is_migrated:
            try:
                upgrade_database(self._config, database_url)
            except UpgradeFailed as error:
                raise BackupError(
                    f"The migrations of this version failed on the database of the backup: {error}"
                ) from error
        with create_engine(database_url, poolclass=NullPool).begin() as connection:
            end_rebuilds(connection, RESTORED)
            forget_backups(connection)
            release_machines(connection)

    def _put_aside(self, path: Path) -> None:
        if path.exists():
            aside = path.with_name(path.name + self._aside)
            os.rename(path, aside)
            self._moved.append(str(aside))


def _put_durably(unpacked: Path, target: Path) -> None:
    """Put an unpacked file durably in its place, which may be on another disk, in a folder that is not there yet."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    beside = target.with_name(target.name + UNPACKED)
    with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(unpacked.read_bytes())
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, target)
    fsync_path(target.parent)


def _is_queue(path: Path) -> bool:
    return path.is_dir() and path.name.startswith(("valkey-", "redis-")) and ".before-" not in path.name
