"""The hourly checks of what the shop does not make itself and its owner relies on: backups and the certificate. A check
that is not set up raises no alert, and ends one that it raised before. Each has a time limit, since other jobs wait for
it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from stat import S_ISREG

import structlog
from flask import current_app

from app.backups.making import PART
from app.config import Config
from app.domain.alerts.alerts import end_alert, raise_alert
from app.domain.alerts.causes import Cause
from app.domain.alerts.safeguards import NoSecureConnection, backup_fault, certificate_fault
from app.domain.shared.clock import rfc3339
from app.jobs.time_limit import run_within
from app.ports import certificates, clock
from app.transaction import transaction

LEVELS = 2  # The folder and those in it: a repository of backups may hold a million files further down.
BACKUP_SECONDS = 60.0
CERTIFICATE_SECONDS = 15.0

Finding = dict[str, str | None]
Found = tuple[str | None, datetime | None]  # The fault, and when the backup was made or the certificate ends.

log = structlog.get_logger()


def newest_file(folder: Path) -> datetime | None:
    """Return when the newest file in the folder, or in one of the folders in it, was last written; None where there is
    none. Empty files are passed over, as a dump that failed leaves one, and so are the parts that a killed backup of
    the shop left. Raises OSError for the folder."""
    return max(_file_times(folder, LEVELS), default=None)


def check_backup(
    seconds: float = BACKUP_SECONDS, newest: Callable[[Path], datetime | None] = newest_file
) -> Finding | None:
    config: Config = current_app.config["SHOP"]
    if config.backup_dir is None:
        _end(Cause.BACKUP_OLD)
        return None
    look = partial(run_within, seconds, partial(newest, config.backup_dir))
    return _note(Cause.BACKUP_OLD, *_backup_fault(config.backup_dir, config.alert_backup_days, look))


def check_certificate(seconds: float = CERTIFICATE_SECONDS) -> Finding | None:
    config: Config = current_app.config["SHOP"]
    if config.alert_certificate_host is None:
        _end(Cause.CERTIFICATE_EXPIRING)
        return None
    return _note(Cause.CERTIFICATE_EXPIRING, *_certificate_fault(*config.alert_certificate_host, seconds))


def _note(cause: Cause, fault: str | None, at: datetime | None) -> Finding:
    """Note a fault of a safeguard, or its end. `at` is the time of the newest backup, or the end of the certificate,
    where it is known."""
    log.info("safeguard_checked", cause=cause.key, fault=fault)
    if fault is None:
        _end(cause)
    else:
        with transaction():
            raise_alert(clock(), cause, fault)
    return {"fault": fault, "at": rfc3339(at) if at else None}


def _end(cause: Cause) -> None:
    with transaction():
        end_alert(clock(), cause)


def _backup_fault(folder: Path, longest_days: int, look: Callable[[], datetime | None]) -> Found:
    try:
        newest = look()
    except TimeoutError:
        return f"The folder {folder} cannot be read in time.", None
    except OSError as error:
        return f"The folder {folder} cannot be read: {error.strerror}.", None
    return backup_fault(str(folder), newest, clock().now(), timedelta(days=longest_days)), newest


def _file_times(folder: str | Path, levels: int) -> Iterator[datetime]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(PART):
                continue
            with suppress(OSError):  # Removed meanwhile, a link that leads nowhere, a folder that is closed to us.
                status = entry.stat()
                if S_ISREG(status.st_mode) and status.st_size:
                    yield datetime.fromtimestamp(status.st_mtime, UTC)
                elif levels > 1 and entry.is_dir(follow_symlinks=False):
                    yield from _file_times(entry.path, levels - 1)


def _certificate_fault(host: str, port: int, seconds: float) -> Found:
    try:
        valid_until = run_within(seconds, partial(certificates().valid_until, host, port))
    except NoSecureConnection as error:
        return f"No secure connection to {host}, port {port}: {error}.", None
    except TimeoutError:
        return f"No secure connection to {host}, port {port}: it did not answer in time.", None
    return certificate_fault(host, valid_until, clock().now()), valid_until
