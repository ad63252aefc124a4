"""Looks every hour at what the shop does not make itself and its owner relies on: backups and the certificate. What is
not set up raises nothing, and ends what it raised before."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from stat import S_ISREG

import structlog
from flask import current_app

from app.config import Config
from app.domain.alerts.alerts import end_alert, raise_alert
from app.domain.alerts.backups import backup_fault
from app.domain.alerts.causes import Cause
from app.domain.alerts.certificates import NoSecureConnection, certificate_fault
from app.ports import certificates, clock
from app.transaction import transaction

log = structlog.get_logger()


def check_backup() -> None:
    config: Config = current_app.config["SHOP"]
    if config.backup_dir is None:
        return _end(Cause.BACKUP_OLD)
    _note(Cause.BACKUP_OLD, _backup_fault(config.backup_dir, config.alert_backup_days))


def check_certificate() -> None:
    config: Config = current_app.config["SHOP"]
    if config.alert_certificate_host is None:
        return _end(Cause.CERTIFICATE_EXPIRING)
    _note(Cause.CERTIFICATE_EXPIRING, _certificate_fault(*config.alert_certificate_host))


def _note(cause: Cause, fault: str | None) -> None:
    log.info("safeguard_checked", cause=cause.key, fault=fault)
    if fault is None:
        return _end(cause)
    with transaction():
        raise_alert(clock(), cause, fault)


def _end(cause: Cause) -> None:
    with transaction():
        end_alert(clock(), cause)


def _backup_fault(folder: Path, longest_days: int) -> str | None:
    try:
        newest = max(_file_times(folder), default=None)
    except OSError as error:
        return f"The folder {folder} cannot be read: {error.strerror}."
    return backup_fault(str(folder), newest, clock().now(), timedelta(days=longest_days))


def _file_times(folder: Path) -> Iterator[datetime]:
    """Return when each file in the folder and below it was last written, of those that are not empty: a dump that
    failed leaves an empty one. Folders below that cannot be read are passed over. Raises OSError for the folder."""
    os.scandir(folder).close()
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                status = os.stat(os.path.join(parent, name))
            except OSError:
                continue  # Removed meanwhile, or a link that leads nowhere.
            if S_ISREG(status.st_mode) and status.st_size:
                yield datetime.fromtimestamp(status.st_mtime, UTC)


def _certificate_fault(host: str, port: int) -> str | None:
    try:
        valid_until = certificates().valid_until(host, port)
    except NoSecureConnection as error:
        return f"No secure connection to {host}, port {port}: {error}."
    return certificate_fault(host, valid_until, clock().now())
