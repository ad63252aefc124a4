"""F22, F23, F27 and F28: what was acknowledged is kept and found, whatever runs beside it or dies."""

from __future__ import annotations

import re
import shutil
import signal
import sqlite3
from pathlib import Path

import pytest
from flask import current_app
from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.extensions import db
from app.transaction import transaction
from tests.faults.shops import Shop, check
from tests.injected_faults import injected


@pytest.mark.fault("F22")
def test_saves_all_through_several_rebuilds_are_all_found(shop: Shop) -> None:
    """F22: random saves from two processes, an applier and a builder, none waiting for the others."""
    savers = [shop.do("save", "0") for _ in range(2)]
    for _ in range(3):
        builder, applier = shop.do("rebuild"), shop.do("apply")
        assert (builder.finish(), applier.finish()) == (0, 0)
    for saver in savers:
        saver.signal("KILL")
        saver.finish()
    injected(sum(line.startswith(("saved", "deleted")) for saver in savers for line in saver.said))
    # Each saver changes products of its own and of the model; about the latter the database has the last word.
    check(shop, [line for saver in savers for line in saver.said if " new-" in line])


@pytest.mark.fault("F23")
def test_an_older_state_never_follows_a_newer_one(shop: Shop) -> None:
    """F23: an applier halted after it read does not overtake the one that read later."""
    change_name(shop, "older")
    first = shop.do("apply", fault="apply:STOP")
    first.until_stopped()
    change_name(shop, "newer")
    second = shop.do("apply")
    first.signal("CONT")
    assert (first.finish(), second.finish()) == (0, 0)
    assert shop.found()["sku-1"] == "newer"
    check(shop)


def change_name(shop: Shop, name: str) -> None:
    with shop.opened(), transaction():
        db.session.scalars(select(Product).where(Product.sku == "sku-1")).one().name = name


@pytest.mark.fault("F27")
def test_a_locked_database_is_waited_for(shop: Shop) -> None:
    """F27."""
    holder = shop.do("lock", "1")
    assert holder.line() == "locked"
    said = shop.save(1)
    assert said[0].startswith(("saved", "deleted"))
    holder.finish()
    check(shop, said)


@pytest.mark.fault("F27")
def test_while_the_database_stays_locked_pages_say_when_to_try_again_and_saves_are_refused_whole(shop: Shop) -> None:
    """503, never 500, both at the same time. A sign-in that fails is noted, so it writes."""
    holder = shop.do("lock", "60")
    assert holder.line() == "locked"
    saver = shop.do("save", "1")
    with shop.opened():
        client = current_app.test_client()
        form = client.get("/admin/login", base_url="http://shop.test").text
        token = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', form)
        assert token
        sent = {"csrf_token": token[1], "email": "nobody@shop.test", "password": "wrong"}
        answer = client.post("/admin/login", data=sent, base_url="http://shop.test")
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0
    assert saver.finish() == 0
    assert saver.said[-1] == "refused database is locked"
    holder.signal("KILL")
    holder.finish()
    check(shop)


@pytest.mark.fault("F28")
@pytest.mark.parametrize("after", [3, 11, 30])
def test_a_process_killed_among_its_commits_loses_nothing_it_acknowledged(shop: Shop, after: int) -> None:
    """F28."""
    saver = shop.do("save", "0")
    while len(saver.said) < after:
        assert saver.line()
    saver.signal("KILL")
    injected()
    assert saver.finish() == -signal.SIGKILL
    assert integrity(shop.folder / "shop.db") == "ok"
    check(shop, saver.said)


@pytest.mark.fault("F28")
@pytest.mark.parametrize("torn", [1, 700, 4000])
def test_a_torn_end_of_the_write_ahead_log_is_left_out(shop: Shop, torn: int) -> None:
    """F28: as after a power cut in the middle of a write."""
    saver = shop.do("save", "0")
    for _ in range(8):
        assert saver.line()
    saver.signal("STOP")
    copy = shop.folder / "torn.db"
    shutil.copy(shop.folder / "shop.db", copy)
    log = (shop.folder / "shop.db-wal").read_bytes()
    Path(f"{copy}-wal").write_bytes(log[:-torn])
    injected()
    assert integrity(copy) == "ok"
    saver.signal("KILL")
    saver.finish()
    check(shop, saver.said)


def integrity(file: Path) -> str:
    database = sqlite3.connect(file)
    try:
        (found,) = database.execute("PRAGMA integrity_check").fetchone()
        return str(found)
    finally:
        database.close()
