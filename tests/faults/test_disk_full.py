"""F09 and F10: a disk of the shop's that is full, or fails, while the shop runs. Pages are read, saves are refused with
words, the log stays short, and the owner knows; afterwards everything that was acknowledged is there."""

from __future__ import annotations

import io
import json
import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.request import Request, urlopen

import psycopg
import pytest
from PIL import Image
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.adapters.clock import SystemClock
from app.adapters.null_engine import NullEngine
from app.adapters.queue import NoQueue, RqQueue
from app.domain.alerts.alerts import open_alerts
from app.domain.alerts.models import Alert
from app.domain.catalogue.models import Page, Product
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.extensions import db
from app.ports import Ports
from app.supervisor import embedded_redis
from app.transaction import transaction
from tests.factories import make_site, make_user
from tests.faults.browser import HOST, Browser, signed_in
from tests.faults.shops import SITE, Shop, check, need_strace
from tests.faults.web_process import PAGES, WebProcess, web_process
from tests.injected_faults import injected
from tests.page_client import PageClient
from tests.ready_app import application, config_for
from tests.surroundings import missing
from tests.waiting import until

pytestmark = pytest.mark.fault("F09", "F10")

MEGABYTES = 24


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small one of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    with mounted(folder):
        yield folder


@contextmanager
def mounted(folder: Path) -> Iterator[None]:
    mount = ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m,mode=700", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        missing("a small disk cannot be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture
def shop_on_disk(shop: Shop, disk: Path) -> Shop:
    """All that the shop stores lies on the small disk; its log and what the tests read do not."""
    for name in ("shop.db", "index", "media"):
        if (shop.folder / name).exists():
            shutil.move(shop.folder / name, disk / name)
    (shop.folder / "index").symlink_to(disk / "index")
    shop.config = config_for(f"sqlite:///{disk / 'shop.db'}", disk)
    return shop


def fill(disk: Path) -> None:
    with (disk / "ballast").open("wb") as ballast:
        usage = shutil.disk_usage(disk)
        os.posix_fallocate(ballast.fileno(), 0, usage.free)
    injected()


def pages(shop: Shop) -> set[str]:
    with shop.opened():
        return set(db.session.scalars(select(Page.title)))


def alerts(shop: Shop) -> dict[str, bool]:
    """The causes so far, and whether each is open."""
    with shop.opened():
        return {alert.cause: alert.ended_at is None for alert in db.session.scalars(select(Alert).order_by(Alert.id))}


def log_of(shop: Shop) -> list[dict[str, str]]:
    log = shop.folder / "errors.log"
    lines = log.read_text().splitlines() if log.exists() else []
    return [json.loads(line) for line in lines if line.startswith("{")]


def save(browser: Browser, token: str, title: str) -> tuple[int, str]:
    form = {"csrf_token": token, "title": title, "body": "x" * 60_000, "enabled": "on"}
    return browser.post("/admin/content/page/new", form)


def test_a_full_disk_refuses_saves_with_words_and_nothing_else(shop_on_disk: Shop, disk: Path) -> None:
    shop = shop_on_disk
    address = shop.do("serve").line()
    admin, token = signed_in(shop, address)
    fill(disk)
    saved: set[str] = set()
    refusals = []
    for number in range(35):  # The log of the database may have room for the first.
        status, text = save(admin, token, f"page {number}")
        if status == 302:
            saved.add(f"page {number}")
        else:
            refusals.append((status, text))
    assert len(refusals) >= 30 and {status for status, _ in refusals} == {503}
    assert "disk is full or fails" in refusals[-1][1] and "x" * 60_000 in refusals[-1][1], "what was typed is kept"

    for path in ("/", "/search?q=name", "/admin/", "/admin/content/pages"):
        assert admin.get(path)[0] == 200, path
    assert "The disk is full or nearly full." in admin.get("/admin/")[1]
    lines = log_of(shop)
    assert [(line["event"], line.get("cause")) for line in lines] == [("alert_raised", "disk_full")]
    assert "Traceback" not in (shop.folder / "errors.log").read_text()

    (disk / "ballast").unlink()
    assert save(admin, token, "afterwards")[0] == 302
    assert pages(shop) == saved | {"afterwards"}
    assert alerts(shop) == {"disk_full": True}, "the process that met it wrote it down with its next save"
    check(shop)


def test_counting_requests_on_a_full_disk_kills_no_web_process(shop_on_disk: Shop, disk: Path) -> None:
    """Prometheus' library counts in files that it maps: before, the first count without room for it was SIGBUS."""
    (disk / "metrics").mkdir()
    with web_process(shop_on_disk, PROMETHEUS_MULTIPROC_DIR=str(disk / "metrics"), METRICS_TOKEN="m") as web:
        web.visits(1)  # Who never opened the database cannot on a full disk.
        fill(disk)
        web.visits(2 * len(PAGES))


def test_files_of_metrics_that_are_cut_short_end_no_web_process(shop: Shop) -> None:
    """Mapped files were: who touches a page of one that is not there any more is killed (SIGBUS)."""
    folder = shop.folder / "metrics"
    folder.mkdir()
    with web_process(shop, PROMETHEUS_MULTIPROC_DIR=str(folder), METRICS_TOKEN="m") as web:
        web.visits(len(PAGES))
        for file in folder.iterdir():
            os.truncate(file, 0)
            injected()
        web.visits(2 * len(PAGES))
        counted = figures(web, "m")
    assert 'endpoint="health.alive"' in counted


def figures(web: WebProcess, token: str) -> str:
    headers = {"Authorization": f"Bearer {token}", "Host": HOST}
    with urlopen(Request(f"http://127.0.0.1:{web.port}/metrics", headers=headers), timeout=30) as answer:
        text: str = answer.read().decode()
        return text


def test_a_worker_waits_until_the_disk_of_the_queue_has_room_and_then_starts_anew(shop: Shop, disk: Path) -> None:
    server = embedded_redis.prepare(disk)
    server.part.start()
    server.wait_until_it_answers()
    shop.redis_url = server.url
    queue = RqQueue(shop.redis_url, shop.config.queue_prefix)
    try:
        worker = shop.do("work_restlessly", "default")
        until(lambda: queue.idle_kinds() == ["builds"])
        fill(disk)
        until(lambda: not queue.enqueue("events:deliver"))
        until(lambda: [line["event"] for line in log_of(shop)] == ["queue_has_no_room"])
        assert worker.is_running
        (disk / "ballast").unlink()
        assert worker.finish() == 0
        assert "Traceback" not in (shop.folder / "errors.log").read_text()
    finally:
        server.stop(5)


def test_the_scheduler_raises_the_alert_and_ends_it_when_there_is_room(shop_on_disk: Shop, disk: Path) -> None:
    shop = shop_on_disk
    fill(disk)
    shop.do("watch_machine")
    until(lambda: log_of(shop))
    assert [(line["event"], line["cause"]) for line in log_of(shop)] == [("alert_raised", "disk_full")]
    (disk / "ballast").unlink()
    shop.save(1)
    until(lambda: alerts(shop) == {"disk_full": False})


def test_a_disk_that_fails_refuses_saves_with_words(shop: Shop) -> None:
    need_strace()
    log = str(shop.folder / "shop.db-wal")
    failing = ("-P", log, "-e", "trace=pwrite64", "-e", "inject=pwrite64:error=EIO:when=1+")
    address = shop.do("serve", strace=failing).line()
    admin, token = signed_in(shop, address)
    answers = [save(admin, token, f"page {number}") for number in range(30)]
    assert {status for status, _ in answers} == {503} and "disk is full or fails" in answers[0][1]
    assert admin.get("/admin/content/pages")[0] == 200
    assert [(line["event"], line.get("cause")) for line in log_of(shop)] == [("alert_raised", "database_io_error")]
    assert pages(shop) == set()
    check(shop)


@pytest.fixture
def pages_on_disk(own_database_url: str, database_kind: str) -> Iterator[Path]:
    """A small disk that holds the table of the pages, where PostgreSQL's server may write to it."""
    if database_kind != "postgresql":
        pytest.skip("SQLite is one file")
    folder = Path(tempfile.mkdtemp(prefix="shop-disk-"))
    address = own_database_url.replace("+psycopg", "")
    with mounted(folder), psycopg.connect(address, autocommit=True) as connection:
        shutil.chown(folder, "nobody" if os.geteuid() == 0 else None)
        connection.execute(f"CREATE TABLESPACE small LOCATION '{folder}'")  # type: ignore[arg-type]
        connection.execute("ALTER TABLE pages SET TABLESPACE small")
        yield folder
        connection.execute("ALTER TABLE pages SET TABLESPACE pg_default")
        connection.execute("DROP TABLESPACE small")
    folder.rmdir()


def test_a_full_disk_of_postgresql_refuses_saves_with_words(
    own_database_url: str, pages_on_disk: Path, tmp_path: Path
) -> None:
    config = config_for(own_database_url, tmp_path)
    app = application(config, Ports(NullEngine(), SystemClock(), NoQueue()))
    with app.app_context(), transaction():
        make_user(make_site(), Role.ADMIN, email="admin@shop.test")
    admin = PageClient(app).signed_in("admin@shop.test")
    fill(pages_on_disk)
    typed = {"csrf_token": admin.token, "title": "A page", "body": secrets.token_hex(40_000), "enabled": "on"}
    answer = admin.client.post("/admin/content/page/new", data=typed, base_url=admin.base)
    assert answer.status_code == 503 and "disk is full or fails" in answer.text and typed["body"] in answer.text
    admin.get("/admin/content/pages")
    assert "The disk is full or nearly full." in admin.client.get("/admin/", base_url=admin.base).text
    (pages_on_disk / "ballast").unlink()
    assert admin.client.post("/admin/content/page/new", data=typed, base_url=admin.base).status_code == 302
    with app.app_context():
        assert [alert.cause for alert in open_alerts(None)] == ["disk_full"], "written with the next save"
        db.session.remove()
        db.engine.dispose()


def test_a_full_disk_of_the_index_costs_a_build_and_delays_what_is_found(shop: Shop, disk: Path) -> None:
    shutil.move(shop.folder / "index", disk / "index")
    (shop.folder / "index").symlink_to(disk / "index")
    before = shop.live
    fill(disk)
    shop.do("watch_machine")
    said = shop.save(5)
    shop.do("rebuild").finish()
    assert shop.run() == ("failed", "There is no space left on the disk. Free some, then rebuild.")
    assert (shop.live, shop.generations) == (before, {before})
    until(lambda: alerts(shop))
    assert alerts(shop) == {"disk_full": True}
    assert {(line["event"], line.get("cause")) for line in log_of(shop)} == {("alert_raised", "disk_full")}
    (disk / "ballast").unlink()
    until(lambda: alerts(shop) == {"disk_full": False})
    check(shop, said)


def test_a_picture_that_the_disk_does_not_hold_is_refused_with_words(shop: Shop, disk: Path) -> None:
    folder = disk / "media"
    config = replace(shop.config, media_dir=folder)
    app = application(config, Ports(NullEngine(), SystemClock(), NoQueue()))
    with app.app_context(), transaction():
        make_user(db.session.get_one(Site, SITE), Role.ADMIN, email="admin@shop.test")
        product_id = db.session.scalars(select(Product.id)).first()
    admin = PageClient(app, HOST).signed_in("admin@shop.test")
    path = f"/admin/catalogue/product/{product_id}/images"

    def upload() -> TestResponse:
        picture = io.BytesIO()
        Image.effect_noise((300, 300), 90).save(picture, "PNG")
        picture.seek(0)
        form = {"csrf_token": admin.token, "image": (picture, "a.png"), "alt": "Noise"}
        return admin.client.post(path, data=form, base_url=admin.base)

    fill(disk)
    refused = upload()
    assert refused.status_code == 503 and "disk is full or fails" in refused.text and "Noise" in refused.text
    assert [path for path in folder.rglob("*") if path.is_file()] == []
    (disk / "ballast").unlink()
    assert upload().status_code == 302
    with app.app_context():
        db.session.remove()
        db.engine.dispose()
