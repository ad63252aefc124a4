"""Backups and the certificate are looked at, where the owner says where they are."""

from __future__ import annotations

import dataclasses
import os
import signal
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from flask import Flask

from app.domain.alerts.alerts import open_alerts
from app.domain.alerts.safeguards import NoSecureConnection
from app.extensions import db
from app.jobs.safeguards import check_backup, check_certificate
from app.jobs.scheduled import SCHEDULED, run_scheduled
from app.ports import EXTENSION
from tests.fakes.clock import StoppedClock

pytestmark = pytest.mark.usefixtures("context")
DAY = timedelta(days=1)


class Certificates:
    def __init__(self, valid_until: datetime | None) -> None:
        self.valid = valid_until

    def valid_until(self, host: str, port: int) -> datetime:
        if self.valid is None:
            raise NoSecureConnection("Connection refused")
        return self.valid


@pytest.fixture
def backups(app: Flask, tmp_path: Path) -> Path:
    folder = tmp_path / "backups"
    folder.mkdir()
    settings(app, backup_dir=folder)
    return folder


def settings(app: Flask, **values: object) -> None:
    app.config["SHOP"] = dataclasses.replace(app.config["SHOP"], **values)  # type: ignore[arg-type]


def write(file: Path, at: datetime, content: str = "rows") -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(content)
    os.utime(file, (at.timestamp(), at.timestamp()))


def found_by(job: str) -> list[tuple[str, str]]:
    run_scheduled(job)
    return alerts()


def alerts() -> list[tuple[str, str]]:
    db.session.rollback()
    return [(alert.cause, alert.detail) for alert in open_alerts(None)]


def test_both_are_looked_at_every_hour() -> None:
    for job in ("check-backup", "check-certificate"):
        assert SCHEDULED[job].times.endswith(" * * * *")


def test_where_nothing_is_named_nothing_is_raised() -> None:
    assert found_by("check-backup") == found_by("check-certificate") == []


def test_the_newest_file_counts_in_whatever_folder_it_lies(backups: Path, clock: StoppedClock) -> None:
    write(backups / "old.dump", clock.now() - 30 * DAY)
    write(backups / "daily" / "new.dump", clock.now() - DAY)
    (backups / "gone").symlink_to(backups / "nowhere")
    assert found_by("check-backup") == []


def test_an_old_backup_raises_an_alert_and_a_new_one_ends_it(backups: Path, clock: StoppedClock) -> None:
    write(backups / "shop.dump", clock.now() - 5 * DAY)
    write(backups / "failed.dump", clock.now(), content="")
    [(cause, detail)] = found_by("check-backup")
    assert cause == "backup_old" and "5 days ago; at most 2 days are allowed" in detail
    write(backups / "shop.dump", clock.now())
    assert found_by("check-backup") == []


def test_an_empty_folder_and_one_that_is_not_there_raise_an_alert(backups: Path) -> None:
    none = f"There is no file in {backups} or the folders in it; empty ones do not count."
    assert found_by("check-backup") == [("backup_old", none)]
    backups.rmdir()
    assert found_by("check-backup") == [
        ("backup_old", f"The folder {backups} cannot be read: No such file or directory.")
    ]


def test_files_deeper_than_the_folders_in_it_are_not_looked_for(backups: Path, clock: StoppedClock) -> None:
    write(backups / "old.dump", clock.now() - 30 * DAY)
    (backups / "data").mkdir()
    write(backups / "data" / "00" / "block", clock.now())
    [(_, detail)] = found_by("check-backup")
    assert "30 days ago" in detail


def test_a_folder_that_does_not_answer_raises_an_alert_that_ends_when_it_does(
    backups: Path, clock: StoppedClock
) -> None:
    check_backup(seconds=0.02, newest=wait_for_ever)
    assert alerts() == [("backup_old", f"The folder {backups} cannot be read in time.")]
    write(backups / "shop.dump", clock.now())
    assert found_by("check-backup") == []


def wait_for_ever(_folder: Path) -> datetime | None:
    signal.pause()
    return None


def test_an_alert_about_what_is_no_longer_named_ends(app: Flask, backups: Path) -> None:
    assert len(found_by("check-backup")) == 1
    settings(app, backup_dir=None)
    assert found_by("check-backup") == []


def reading(app: Flask, valid_until: datetime | None) -> None:
    settings(app, alert_certificate_host=("shop.example", 8443))
    ports = app.extensions[EXTENSION]
    app.extensions[EXTENSION] = dataclasses.replace(ports, certificates=Certificates(valid_until))


def test_a_certificate_that_ends_soon_raises_an_alert_and_a_renewed_one_ends_it(
    app: Flask, clock: StoppedClock
) -> None:
    reading(app, clock.now() + 5 * DAY)
    [(cause, detail)] = found_by("check-certificate")
    assert cause == "certificate_expiring" and detail.startswith("The certificate of shop.example ends on ")
    reading(app, clock.now() + 90 * DAY)
    assert found_by("check-certificate") == []


def test_a_connection_that_fails_raises_the_alert_with_its_reason(app: Flask) -> None:
    reading(app, None)
    assert found_by("check-certificate") == [
        ("certificate_expiring", "No secure connection to shop.example, port 8443: Connection refused.")
    ]


class SilentCertificates:
    def valid_until(self, host: str, port: int) -> datetime:
        signal.pause()
        raise AssertionError("nobody wakes it")


def test_a_server_that_never_comes_to_an_end_raises_the_alert(app: Flask) -> None:
    settings(app, alert_certificate_host=("shop.example", 443))
    app.extensions[EXTENSION] = dataclasses.replace(app.extensions[EXTENSION], certificates=SilentCertificates())
    check_certificate(seconds=0.02)
    assert alerts() == [
        ("certificate_expiring", "No secure connection to shop.example, port 443: it did not answer in time.")
    ]
