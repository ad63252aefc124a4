"""A full or failing disk is answered with words, keeps what was typed, and is one line in the log."""

from __future__ import annotations

import errno
import io
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from flask import Flask
from PIL import Image
from sqlalchemy import event, select
from sqlalchemy.exc import DatabaseError, DBAPIError, OperationalError
from structlog.typing import EventDict

from app.domain.alerts.causes import Cause
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.extensions import db
from app.operations.storage import cause_of
from app.transaction import transaction
from tests.factories import make_product
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient, check_page

WORDS = "disk is full or fails"
Break = Callable[[Exception | None], None]


def sqlite_error(code: int, text: str, kind: type[DBAPIError] = OperationalError) -> DBAPIError:
    raised = sqlite3.OperationalError(text)
    raised.sqlite_errorcode = code
    return kind("INSERT", {}, raised)


FULL = sqlite_error(sqlite3.SQLITE_FULL, "database or disk is full")
BUSY = sqlite_error(sqlite3.SQLITE_BUSY, "database is locked")


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (FULL, Cause.DISK_FULL),
        (sqlite_error(sqlite3.SQLITE_IOERR | (3 << 8), "disk I/O error"), Cause.DATABASE_IO_ERROR),
        (sqlite_error(sqlite3.SQLITE_READONLY, "attempt to write a readonly database"), Cause.DATABASE_IO_ERROR),
        (sqlite_error(sqlite3.SQLITE_CORRUPT, "malformed", DatabaseError), Cause.DATABASE_IO_ERROR),
        (sqlite_error(sqlite3.SQLITE_BUSY, "database is locked"), None),
        (OperationalError("INSERT", {}, psycopg.errors.DiskFull()), Cause.DISK_FULL),
        (OperationalError("INSERT", {}, psycopg.errors.IoError()), Cause.DATABASE_IO_ERROR),
        (OperationalError("INSERT", {}, psycopg.errors.ReadOnlySqlTransaction()), Cause.DATABASE_IO_ERROR),
        (OperationalError("INSERT", {}, psycopg.errors.AdminShutdown()), None),
        (OSError(errno.ENOSPC, "No space left on device"), Cause.DISK_FULL),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), Cause.DISK_FULL),
        (OSError(errno.EROFS, "Read-only file system"), Cause.DISK_IO_ERROR),
        (OSError(errno.EIO, "Input/output error"), Cause.DISK_IO_ERROR),
        (FileNotFoundError(errno.ENOENT, "No such file"), None),
        (ValueError("no fault of the disk"), None),
    ],
)
def test_faults_of_the_storage_are_told_from_other_errors(error: Exception, cause: Cause | None) -> None:
    assert cause_of(error) is cause


@pytest.fixture
def break_writes(app: Flask) -> Iterator[Break]:
    """Makes every statement that writes fail with an error, as a full disk does, until it is None."""
    raised: list[Exception | None] = [None]

    def refuse(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        if raised[-1] and statement.startswith(("INSERT", "UPDATE", "DELETE")):
            raise raised[-1]

    with app.app_context():
        engine = db.engine
    event.listen(engine, "before_cursor_execute", refuse)
    yield raised.append
    event.remove(engine, "before_cursor_execute", refuse)


@pytest.fixture
def mia(signed_in: Callable[..., PageClient]) -> PageClient:
    mia = signed_in(Role.ADMIN)
    mia.get("/admin/content/page/new")
    return mia


TYPED = {"title": "Our <b>story</b>", "body": "One line.\nAnd “another”.", "enabled": "on"}


def test_without_javascript_the_answer_keeps_the_form_and_sends_it_again(mia: PageClient, break_writes: Break) -> None:
    break_writes(FULL)
    answer = mia.client.post("/admin/content/page/new", data=TYPED | {"csrf_token": mia.token}, base_url=mia.base)
    page = check_page(answer.text)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "60")
    assert WORDS in answer.text and "Try again" in answer.text
    [form] = [form for form in page.all("form") if form["action"] == "/admin/content/page/new"]
    assert form["method"] == "post"
    kept = {name: page.value(name) for name in (*TYPED, "csrf_token")}
    assert kept == TYPED | {"csrf_token": mia.token}
    break_writes(None)
    assert mia.client.post(form["action"], data=kept, base_url=mia.base).status_code == 302


def test_with_javascript_the_news_stands_beside_the_form(mia: PageClient, break_writes: Break) -> None:
    break_writes(FULL)
    sent, headers = TYPED | {"csrf_token": mia.token}, {"HX-Request": "true", "HX-Target": "form#add"}
    answer = mia.client.post("/admin/content/page/new", data=sent, base_url=mia.base, headers=headers)
    assert (answer.status_code, answer.headers["HX-Retarget"]) == (503, "#flashes")
    assert WORDS in answer.text and 'role="alert"' in answer.text
    assert 'id="flashes"' in mia.client.get("/admin/", base_url=mia.base).text


@pytest.mark.parametrize("error", [FULL, BUSY])
def test_a_read_that_fails_says_nothing_of_saving(app: Flask, mia: PageClient, error: Exception) -> None:
    def refuse(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        if " FROM page" in statement.replace("\n", " "):
            raise error

    with app.app_context():
        engine = db.engine
    event.listen(engine, "before_cursor_execute", refuse)
    try:
        answer = mia.client.get("/admin/content/pages", base_url=mia.base)
    finally:
        event.remove(engine, "before_cursor_execute", refuse)
    assert answer.status_code == 503 and "saved" not in answer.text and "Try again" in answer.text


def test_a_page_that_is_missing_keeps_the_menu(mia: PageClient) -> None:
    page = mia.get("/admin/nowhere", status=404)
    assert "Sections" in [nav.get("aria-label") for nav in page.all("nav")]


def test_a_password_is_not_repeated(app: Flask, mia: PageClient, break_writes: Break) -> None:
    break_writes(FULL)
    browser = PageClient(app)
    browser.get("/admin/login")
    sent = {"email": "admin@shop.test", "password": "seven green kettles", "csrf_token": browser.token}
    answer = browser.client.post("/admin/login", data=sent, base_url=browser.base)
    assert answer.status_code == 503 and WORDS in answer.text
    assert "admin@shop.test" in answer.text and "kettles" not in answer.text


def test_the_api_says_it_as_a_problem(app: Flask, mia: PageClient, break_writes: Break) -> None:
    break_writes(FULL)
    answer = mia.client.post(
        "/admin/search/rest/reindex", json={"scope": "ALL"}, base_url=mia.base, headers={"X-CSRFToken": mia.token}
    )
    assert (answer.status_code, answer.content_type) == (503, "application/problem+json")
    assert (answer.json["code"], answer.headers["Retry-After"]) == ("storage_unavailable", "60")
    assert WORDS in answer.json["detail"]


def test_pages_are_read_while_nothing_can_be_written(mia: PageClient, break_writes: Break, clock: StoppedClock) -> None:
    break_writes(FULL)
    clock.move(minutes=6)  # The session wants to be seen again, which is a write.
    mia.get("/admin/")
    mia.get("/admin/content/pages")
    assert mia.client.get("/", base_url=mia.base).status_code == 200
    assert mia.client.get("/basket", base_url=mia.base).status_code == 200


def test_thirty_refusals_are_one_line_and_an_alert_that_admins_see(
    mia: PageClient, break_writes: Break, log_lines: list[EventDict]
) -> None:
    break_writes(FULL)
    for _ in range(30):
        mia.client.post("/admin/content/page/new", data=TYPED | {"csrf_token": mia.token}, base_url=mia.base)
    written = [line for line in log_lines if line["event"] != "request"]
    assert [(line["event"], line["cause"]) for line in written] == [("alert_raised", "disk_full")]
    assert "database or disk is full" in written[0]["detail"]
    assert Cause.DISK_FULL.sentence in mia.client.get("/admin/", base_url=mia.base).text


@pytest.mark.parametrize("error", [FULL, BUSY])
def test_a_bundle_whose_import_could_not_be_requested_leaves_no_file(
    app: Flask, mia: PageClient, break_writes: Break, error: Exception
) -> None:
    forms = mia.get("/admin/settings/import-export").all("form")
    [address] = [form["action"] for form in forms if "/upload/" in form.get("action", "")]
    break_writes(error)
    sent = {"bundle": (io.BytesIO(b"a shop"), "shop.zip"), "part": "catalogue"}
    assert _status(mia, address, sent) == 503
    assert not list(app.config["SHOP"].bundle_folder.glob("*"))


@pytest.mark.parametrize("error", [FULL, BUSY])
def test_a_picture_whose_preparation_could_not_be_requested_leaves_no_file(
    app: Flask, mia: PageClient, break_writes: Break, error: Exception
) -> None:
    with app.app_context(), transaction():
        product_id = make_product(db.session.scalars(select(Site)).one(), "T-1").id
    break_writes(error)
    picture = io.BytesIO()
    Image.new("RGB", (40, 30)).save(picture, "PNG")
    picture.seek(0)
    sent = {"image": (picture, "a.png")}
    assert _status(mia, f"/admin/catalogue/product/{product_id}/images", sent) == 503
    assert not list(Path(app.config["SHOP"].media_dir).rglob("*.upload"))


def _status(mia: PageClient, address: str, sent: dict[str, Any]) -> int:
    return mia.client.post(address, data=sent | {"csrf_token": mia.token}, base_url=mia.base).status_code
