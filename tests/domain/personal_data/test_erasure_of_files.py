"""What an erasure does outside the database: files go after the commit, and the list of erasures outlasts a backup."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from app.domain.orders.models import Order
from app.domain.personal_data.erasure import brought_back, erase
from app.domain.shared.problems import Conflict
from app.domain.work.mailing import Mail
from app.extensions import db
from app.transaction import transaction
from tests.domain.personal_data.shop_of_sam import SAM, Shop, named
from tests.domain.personal_data.stored_files import exported_bundle, sent_mail


def test_mails_that_are_kept_as_files_go(shop: Shop, tmp_path: Path) -> None:
    for number, to in enumerate((SAM, "Sam@home.test", "other@home.test")):
        shop.mailer.send(Mail(to, "Your receipt", "Thank you", "<p>Thank you</p>", f"mail-{number}"))
    shop.order()
    assert shop.erase().mails == 2
    assert [file.name for file in (tmp_path / "mail").iterdir()] == ["mail-2.eml"]


def test_a_restored_backup_is_erased_again_and_newer_orders_stay(shop: Shop) -> None:
    order_id, nameless = shop.order(), shop.order(number=900_077, contact_email="", contact_phone="0123 456 789")
    shop.erase()
    shop.erase("900077")
    assert "sam" not in "".join(shop.stores.list.lines())
    with transaction():  # As a backup would.
        restored = db.session.get_one(Order, order_id)
        restored.contact_name, restored.contact_email = "Sam Sedge", SAM
        db.session.get_one(Order, nameless).contact_name = "Ann Ash"
    newer = shop.order(created_at=shop.clock.now() + timedelta(hours=1))
    db.session.rollback()
    for person in list(brought_back(shop.stores, shop.author)):
        erase(transaction, shop.author, person, shop.stores)
    names = dict(db.session.execute(select(Order.id, Order.contact_name)).all())
    assert names == {order_id: "Erased", nameless: "Erased", newer: "Sam Sedge"}
    db.session.rollback()
    assert list(brought_back(shop.stores, shop.author)) == []


def test_nothing_is_erased_where_the_list_cannot_be_written(shop: Shop, tmp_path: Path) -> None:
    shop.order()
    mail, export = sent_mail(shop, "nia@shop.test"), exported_bundle(shop)
    (tmp_path / "erasures.list").mkdir()
    for words in (SAM, "nia@shop.test"):
        with pytest.raises(Conflict, match="could not be written"):
            shop.erase(words)
    assert named(SAM)
    assert mail.exists()
    assert export.exists()


def test_no_file_is_removed_before_the_commit(shop: Shop) -> None:
    shop.order()
    mail, export = sent_mail(shop, "nia@shop.test"), exported_bundle(shop)
    person = shop.find("nia@shop.test")
    with pytest.raises(OSError, match="full"):
        erase(failing_to_commit, shop.author, person, shop.stores)
    assert named("nia@shop.test")
    assert mail.exists()
    assert export.exists()


def test_files_that_cannot_be_removed_are_named_in_the_summary(shop: Shop) -> None:
    shop.order()
    sent_mail(shop, SAM)
    unreadable = shop.mails / "other.eml"
    unreadable.mkdir()
    erasure = shop.erase()
    assert "could not be removed (Is a directory). Remove them on the server" in erasure.summary
    assert not named(SAM)


@contextmanager
def failing_to_commit() -> Iterator[None]:
    with transaction():
        yield
        raise OSError("The disk is full.")


def test_a_torn_line_of_the_list_hides_no_other(shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "erasures.list").write_text('{"at": "2026-')
    shop.order()
    shop.erase()
    assert len(shop.stores.list.lines()) == 2
    with transaction():
        db.session.scalars(select(Order)).one().contact_email = SAM
    db.session.rollback()
    assert len(list(brought_back(shop.stores, shop.author))) == 1
