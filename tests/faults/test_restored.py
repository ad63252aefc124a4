"""F33: the database is restored from a copy that is older than the index."""

from __future__ import annotations

import shutil
import sqlite3

import pytest
from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.domain.search.models import ReconcileReport
from app.extensions import db
from app.transaction import transaction
from tests.faults.shops import SITE, Shop, check
from tests.injected_faults import injected
from tests.searching import add_product
from tests.waiting import until

pytestmark = pytest.mark.fault("F33")


def keep_copy(shop: Shop) -> None:
    with sqlite3.connect(shop.folder / "shop.db") as source, sqlite3.connect(shop.folder / "copy.db") as copy:
        source.backup(copy)
    source.close()
    copy.close()


def restore_copy(shop: Shop) -> None:
    for rest in shop.folder.glob("shop.db*"):
        rest.unlink()
    shutil.copy(shop.folder / "copy.db", shop.folder / "shop.db")
    injected()


def test_what_came_after_the_copy_is_found_no_more_once_the_night_is_over(shop: Shop) -> None:
    """And what was deleted or changed since is found as it was. Before, a rebuild does the same at once."""
    keep_copy(shop)
    with shop.opened(), transaction():
        add_product(SITE, "later", "after the copy")
        db.session.delete(product("sku-1"))
        product("sku-2").name = "renamed"
    shop.do("apply").finish()
    assert shop.found().keys() >= {"later"} and "sku-1" not in shop.found()
    restore_copy(shop)
    shop.do("eager_scheduler")
    assert shop.do("job", "reconcile").finish() == 0
    until(lambda: "later" not in shop.found())
    found = shop.found()
    assert (found["sku-1"], found["sku-2"]) == ("name-1", "name-2")
    with shop.opened():
        report = db.session.scalars(select(ReconcileReport)).one()
        assert (report.missing, report.extra, report.stale) == (1, 1, 1)
    shop.end_all()
    shop.running.clear()
    check(shop)


def test_a_save_after_the_restore_is_found_though_its_number_was_used_before(shop: Shop) -> None:
    """Entries of the outbox are counted from the copy on, so their numbers come again."""
    keep_copy(shop)
    shop.save(20)
    shop.do("apply").finish()
    restore_copy(shop)
    said = shop.save(20)
    shop.do("apply").finish()
    assert shop.do("job", "reconcile").finish() == 0
    check(shop, said)


def product(sku: str) -> Product:
    return db.session.scalars(select(Product).where(Product.sku == sku)).one()
