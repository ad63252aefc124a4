"""A superadmin makes, downloads and deletes backups on their page."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pytest
from flask import Flask

from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry
from app.domain.system.backup_runs import BACKUP, BackupRun
from app.domain.work import leases
from app.extensions import db
from app.jobs.backups import NOT_SET_UP, make
from app.ports import clock
from app.transaction import transaction
from tests.factories import PASSWORD
from tests.fakes.queue import RecordingQueue
from tests.operations.backups.installation import DATED, Installation
from tests.page_client import PageClient, Reading

PAGE = "/admin/settings/backups"
FRAGMENT = {"HX-Request": "true"}


@pytest.fixture
def owner(signed_in) -> PageClient:
    browser: PageClient = signed_in(Role.SUPERADMIN)
    return browser


@pytest.fixture
def folder(app: Flask, tmp_path: Path) -> Path:
    """The folder that BACKUP_DIR names, which is empty."""
    made = tmp_path / "backups"
    made.mkdir()
    app.config["SHOP"] = dataclasses.replace(app.config["SHOP"], backup_dir=made)
    return made


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of a shop with a secret key of its own."""
    other = tmp_path_factory.mktemp("other")
    return Installation(other / "shop").fill().back_up(other)


@pytest.fixture
def backup(folder: Path, packed: Path) -> Path:
    """The backup in the folder."""
    return Path(shutil.copy(packed, folder))


def logged(app: Flask, action: str) -> list[str]:
    with app.app_context():
        entries = db.session.scalars(db.select(AuditEntry).where(AuditEntry.action == action))
        return [entry.summary for entry in entries]


def test_without_a_folder_the_page_says_how_to_set_one_up(app: Flask, owner: PageClient) -> None:
    page = owner.get(PAGE)
    text = owner.client.get(PAGE).text
    assert "Set up backups" in text and "BACKUP_DIR=/var/backups/shop" in text
    assert "Back up now" not in page.texts.get("button", "") and "flask --app wsgi restore" in text
    owner.post(PAGE, {})
    assert "BACKUP_DIR is not set on this machine" in owner.client.get(PAGE).text
    with app.app_context():
        assert db.session.scalars(db.select(BackupRun)).all() == []


def test_a_requested_backup_is_followed_until_it_is_in_the_list(
    app: Flask, owner: PageClient, folder: Path, queue: RecordingQueue, packed: Path
) -> None:
    assert "No backups yet" in owner.client.get(PAGE).text
    owner.get(PAGE)
    owner.post(PAGE, {})
    assert [job for job, _ in queue.jobs if job == "backups:make"] == ["backups:make"]
    assert logged(app, "backup.request") == ["Requested a backup of the whole installation"]
    waiting = owner.client.get(PAGE, headers=FRAGMENT).text
    assert "A backup is being made" in waiting and "every 1500ms" in waiting and "No backups yet" not in waiting
    with app.app_context():
        finish(DATED)
    shutil.copy(packed, folder)
    ended = owner.client.get(PAGE, headers=FRAGMENT).text
    assert f"The backup {DATED} is made." in ended and "20 products" in ended and "every 1500ms" not in ended


def finish(file: str) -> None:
    """Finish the requested backup, as a worker does."""
    with transaction():
        claim = leases.claim(BACKUP, clock(), BackupRun.state == "waiting")
        assert claim is not None
        leases.finish(clock(), claim, file=file)


def test_a_second_one_is_refused_while_the_first_is_unfinished(owner: PageClient, folder: Path) -> None:
    owner.get(PAGE)
    owner.post(PAGE, {})
    owner.post(PAGE, {})
    assert "A backup is already being made." in owner.client.get(PAGE).text


def test_one_that_fails_says_why(app: Flask, owner: PageClient, folder: Path) -> None:
    owner.get(PAGE)
    owner.post(PAGE, {})
    app.config["SHOP"] = dataclasses.replace(app.config["SHOP"], backup_dir=None)
    with app.app_context():
        assert make(db.session.scalars(db.select(BackupRun.id)).one())
    page = owner.client.get(PAGE).text
    assert "The latest backup failed" in page and NOT_SET_UP in page


def test_the_list_shows_the_contents_and_what_is_damaged(owner: PageClient, backup: Path) -> None:
    (backup.parent / "cut-short.zip").write_bytes(backup.read_bytes()[:5000])
    (backup.parent / "notes.txt").write_text("no backup")
    page = " ".join(owner.client.get(PAGE).text.split())
    assert "Of those made here the newest 5 stay" in page
    assert "1 site, 20 products, 0 orders, 3 picture files" in page and "Holds the secret key" in page
    assert "Damaged" in page and "was cut short" in page and "notes.txt" not in page


def test_a_folder_that_is_gone_is_named(owner: PageClient, folder: Path) -> None:
    folder.rmdir()
    page = owner.client.get(PAGE).text
    assert f"The folder {folder} cannot be read" in page


def test_a_download_is_the_file_and_is_logged_and_not_cached(app: Flask, owner: PageClient, backup: Path) -> None:
    assert owner.get(f"{PAGE}/{backup.name}/download").texts["h1"] == "Download a backup"
    sent = {"csrf_token": owner.token, "password": PASSWORD}
    with owner.client.post(f"{PAGE}/{backup.name}/download", data=sent) as answer:
        assert answer.status_code == 200 and answer.data == backup.read_bytes()
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Content-Disposition"] == f"attachment; filename={backup.name}"
    assert logged(app, "backup.download") == [f"Downloaded the backup {backup.name}"]


@pytest.mark.parametrize(
    "name", ["..", "%2e%2e%2fshop.db", "..zip", ".hidden.zip", "link.zip", "folder.zip", "none.zip"]
)
@pytest.mark.parametrize("act", ["download", "delete"])
def test_no_name_leads_out_of_the_folder(
    app: Flask, owner: PageClient, folder: Path, tmp_path: Path, name: str, act: str
) -> None:
    outside = tmp_path / "secret.zip"
    outside.write_text("a secret")
    (folder / "link.zip").symlink_to(outside)
    (folder / "folder.zip").mkdir()
    owner.get(PAGE)
    assert owner.client.get(f"{PAGE}/{name}/{act}").status_code in (404, 405)
    answer = owner.client.post(f"{PAGE}/{name}/{act}", data={"csrf_token": owner.token, "password": PASSWORD})
    assert answer.status_code in (404, 405)
    assert b"a secret" not in answer.data and outside.exists() and (folder / "link.zip").is_symlink()
    assert logged(app, f"backup.{act}") == []


@pytest.mark.parametrize("password", ["", "wrong"])
@pytest.mark.parametrize("act", ["download", "delete"])
def test_neither_is_done_without_the_password(
    app: Flask, owner: PageClient, backup: Path, act: str, password: str
) -> None:
    address = f"{PAGE}/{backup.name}/{act}"
    owner.get(address)
    page = owner.post(address, {"password": password}, status=400)
    assert isinstance(page, Reading) and page.texts["p"].endswith("This is not your password.")
    assert backup.exists() and logged(app, f"backup.{act}") == []


def test_guesses_at_the_password_are_slowed_down(owner: PageClient, backup: Path) -> None:
    address = f"{PAGE}/{backup.name}/download"
    owner.get(address)
    for _ in range(5):
        owner.post(address, {"password": "wrong"}, status=400)
    refused = owner.client.post(address, data={"csrf_token": owner.token, "password": PASSWORD})
    assert refused.status_code == 429 and b"PK" not in refused.data[:2]


def test_a_deleted_backup_is_gone_and_logged(
    app: Flask, owner: PageClient, backup: Path, queue: RecordingQueue
) -> None:
    assert owner.get(f"{PAGE}/{backup.name}/delete").texts["h1"] == "Delete a backup"
    owner.post(f"{PAGE}/{backup.name}/delete", {"password": PASSWORD})
    assert not backup.exists() and logged(app, "backup.delete") == [f"Deleted the backup {backup.name}"]
    assert ("scheduled:look", ("check-backup",)) in queue.jobs, "the age of the newest one is another now"
    assert f"Deleted {backup.name}." in owner.client.get(PAGE).text


def test_admins_of_one_shop_neither_see_nor_get_backups(signed_in, backup: Path) -> None:
    admin = signed_in(Role.ADMIN)
    assert "superadmins see them" in admin.client.get(PAGE).text
    admin.get("/admin/settings")
    admin.get(f"{PAGE}/{backup.name}/download", 403)
    admin.post(f"{PAGE}/{backup.name}/download", {}, status=403)
    admin.post(f"{PAGE}/{backup.name}/delete", {}, status=403)
    assert backup.exists() and PAGE not in admin.client.get("/admin/settings/system").text
