"""F10: the database's file takes no writes for a while, during which web servers are started. Each of their connections
only reads, and would go on so for good."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.adapters.clock import SystemClock
from app.domain.alerts.alerts import raise_alert
from app.domain.alerts.causes import Cause
from app.transaction import transaction
from tests.faults.browser import Browser, signed_in
from tests.faults.shops import Shop, check
from tests.faults.test_disk_full import alerts, pages, save
from tests.injected_faults import injected
from tests.surroundings import missing
from tests.waiting import until

pytestmark = pytest.mark.fault("F10")


@contextmanager
def immutable(file: Path) -> Iterator[None]:
    if shutil.which("chattr") is None or subprocess.run(["chattr", "+i", file], check=False).returncode:
        missing("no file can be made immutable here")
    injected()
    try:
        yield
    finally:
        subprocess.run(["chattr", "-i", file], check=True)


def test_a_database_that_could_not_be_written_to_for_a_while_is_written_to_again(shop: Shop) -> None:
    shop.do("watch_machine")
    with shop.opened(), transaction():
        raise_alert(SystemClock(), Cause.DATABASE_GONE, "for a moment")
    until(lambda: not alerts(shop)["database_gone"])  # It has opened the database, and may write on.
    before = shop.do("serve")
    admin, token = signed_in(shop, before.line())
    before.signal("KILL")
    before.finish()
    with immutable(shop.folder / "shop.db"):
        admin = Browser(shop.do("serve").line(), admin.cookie)
        assert save(admin, token, "refused")[0] == 503
        status, said = admin.get("/readyz")
        assert status == 503 and "the database cannot be written to" in said
        until(lambda: alerts(shop).get("database_io_error"))
        assert admin.get("/admin/content/pages")[0] == 200
    assert save(admin, token, "first")[0] in (302, 503), "the one that finds the connection out"
    assert save(admin, token, "second")[0] == 302
    until(lambda: "the database" not in admin.get("/readyz")[1])
    until(lambda: alerts(shop)["database_io_error"] is False)
    assert "second" in pages(shop) and "refused" not in pages(shop)
    check(shop)
