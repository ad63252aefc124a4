from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask

from app.domain.catalogue.models import Product, Variant
from app.domain.orders import lifecycle
from app.domain.orders.lifecycle import StatusChange
from app.domain.orders.models import Order, OrderMail
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, NotFound
from app.domain.sites.models import AuditEntry
from app.extensions import db
from app.transaction import transaction
from tests.domain.orders.conftest import Shopper, change_product, stock
from tests.factories import make_site


@pytest.fixture
def order_id(mia: Shopper) -> str:
    """Two kettles, a large tent and a mug."""
    mia.add("KETTLE", 2)
    mia.add("TENT-L")
    mia.add("MUG")
    return mia.order().order.id


def collect(mia: Shopper, order_id: str) -> StatusChange:
    with transaction():
        return lifecycle.collect(Author(mia.site_id, "Ben", mia.clock), order_id)


def cancel(mia: Shopper, order_id: str) -> StatusChange:
    with transaction():
        return lifecycle.cancel(Author(mia.site_id, "Ben", mia.clock), order_id)


def status() -> str:
    db.session.rollback()
    return db.session.query(Order).one().status


def test_cancelling_gives_the_stock_back_once(mia: Shopper, order_id: str) -> None:
    assert (stock("KETTLE"), stock("TENT-L")) == (1, 0)
    assert cancel(mia, order_id) == StatusChange(1, True)
    assert (stock("KETTLE"), stock("TENT-L"), stock("MUG")) == (3, 1, None)
    assert cancel(mia, order_id) == StatusChange(1, False)
    assert stock("KETTLE") == 3
    assert status() == "CANCELLED"


def test_a_collected_order_is_done_with(mia: Shopper, order_id: str) -> None:
    assert collect(mia, order_id) == StatusChange(1, True)
    assert collect(mia, order_id) == StatusChange(1, False)
    with pytest.raises(Conflict, match="collected already"):
        cancel(mia, order_id)
    assert (status(), stock("KETTLE")) == ("COLLECTED", 1)


def test_a_cancelled_order_cannot_be_collected(mia: Shopper, order_id: str) -> None:
    cancel(mia, order_id)
    with pytest.raises(Conflict, match="was cancelled"):
        collect(mia, order_id)


def test_what_the_shop_counts_no_more_is_named(mia: Shopper, order_id: str) -> None:
    with transaction():
        db.session.delete(db.session.query(Product).filter_by(sku="KETTLE").one())
        tent = db.session.query(Product).filter_by(sku="TENT").one()
        tent.variants = [variant for variant in tent.variants if variant.sku == "TENT-S"]
    assert cancel(mia, order_id).not_returned == ("Kettle", "Tent")
    assert (stock("TENT-S"), stock("TENT")) == (2, 0), "nothing went to where it did not come from"


def test_a_product_that_got_variants_since_is_named_and_its_own_stock_stays(mia: Shopper, order_id: str) -> None:
    with transaction():
        kettle = db.session.query(Product).filter_by(sku="KETTLE").one()
        kettle.variants = [Variant(site_id=mia.site_id, position=0, sku="KETTLE-R", stock=4, options={"Colour": "Red"})]
    assert cancel(mia, order_id).not_returned == ("Kettle",)
    assert (stock("KETTLE-R"), db.session.query(Product).filter_by(sku="KETTLE").one().stock) == (4, 1)
    said = [entry.summary for entry in db.session.query(AuditEntry).filter_by(action="order.cancel")]
    assert said == ["Order 1 was cancelled; not counted back into stock: Kettle"]


def reopen(mia: Shopper, order_id: str) -> StatusChange:
    with transaction():
        return lifecycle.reopen(Author(mia.site_id, "Ada", mia.clock), order_id)


def test_an_order_that_was_not_collected_after_all_is_to_hand_over_again(mia: Shopper, order_id: str) -> None:
    collect(mia, order_id)
    assert reopen(mia, order_id) == StatusChange(1, True)
    assert reopen(mia, order_id) == StatusChange(1, False)
    order = lifecycle.order_of(mia.site_id, order_id)
    assert (order.status, order.settled_at, stock("KETTLE")) == ("SUBMITTED", None, 1)
    entry = db.session.query(AuditEntry).filter_by(action="order.reopen").one()
    assert (entry.actor, entry.summary) == ("Ada", "Order 1 is awaiting collection again")
    assert cancel(mia, order_id).changed
    assert stock("KETTLE") == 3


def test_only_what_was_collected_lately_is_taken_back(mia: Shopper, order_id: str) -> None:
    collect(mia, order_id)
    mia.clock.move(days=7)
    assert reopen(mia, order_id).changed
    collect(mia, order_id)
    mia.clock.move(days=7, seconds=1)
    with pytest.raises(Conflict, match="over 7 days ago"):
        reopen(mia, order_id)


def test_a_cancelled_order_stays_cancelled(mia: Shopper, order_id: str) -> None:
    cancel(mia, order_id)
    with pytest.raises(Conflict, match="was cancelled"):
        reopen(mia, order_id)


def test_what_was_not_counted_when_it_was_sold_is_not_counted_back(mia: Shopper, order_id: str) -> None:
    change_product("MUG", stock=10)
    cancel(mia, order_id)
    assert stock("MUG") == 10


def test_hidden_products_get_theirs_back_too(mia: Shopper, order_id: str) -> None:
    change_product("KETTLE", enabled=False)
    cancel(mia, order_id)
    assert stock("KETTLE") == 3


def test_the_log_says_who_did_it(mia: Shopper, order_id: str) -> None:
    cancel(mia, order_id)
    entries = db.session.query(AuditEntry).filter(AuditEntry.action.in_(("order.cancel", "product.stock"))).all()
    summaries = [(entry.actor, entry.summary) for entry in entries]
    assert ("Ben", "Order 1 was cancelled") in summaries
    assert ("Order 1", "Order 1 was cancelled and gave back 2 of Kettle") in summaries


def test_another_shops_orders_and_baskets_are_not_found(mia: Shopper, ben: Shopper, order_id: str) -> None:
    ben.add("MUG")
    basket_id = db.session.query(Order).filter_by(status="OPEN").one().id
    with transaction():
        other = make_site("other.test").id
    for site_id, wanted in ((other, order_id), (mia.site_id, basket_id), (mia.site_id, "nothing")):
        with pytest.raises(NotFound), transaction():
            lifecycle.cancel(Author(site_id, "Ben", mia.clock), wanted)


@pytest.mark.concurrent
def test_many_who_cancel_and_collect_at_once_settle_it_once(app: Flask, mia: Shopper, order_id: str) -> None:
    db.session.remove()

    def settle(number: int) -> bool:
        with app.app_context():
            try:
                return (collect if number % 2 else cancel)(mia, order_id).changed
            except Conflict:
                return False

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(settle, range(16))) == 1
    assert (status(), stock("KETTLE")) in (("CANCELLED", 3), ("COLLECTED", 1))


def test_a_variant_that_an_order_names_can_be_deleted(mia: Shopper, order_id: str) -> None:
    with transaction():
        db.session.delete(db.session.query(Variant).filter_by(sku="TENT-L").one())
    lines = lifecycle.order_of(mia.site_id, order_id).lines
    assert [(line.name, line.options) for line in lines][1] == ("Tent", {"Size": "L"})


def mark_ready(mia: Shopper, order_id: str, by_email: bool = False) -> StatusChange:
    with transaction():
        return lifecycle.mark_ready(Author(mia.site_id, "Ben", mia.clock), order_id, by_email)


def mark_not_ready(mia: Shopper, order_id: str) -> StatusChange:
    with transaction():
        return lifecycle.mark_not_ready(Author(mia.site_id, "Ben", mia.clock), order_id)


def is_ready() -> bool:
    db.session.rollback()
    return db.session.query(Order).one().is_ready


def mail_of(kind: str) -> tuple[str, str | None]:
    db.session.rollback()
    mail = db.session.query(OrderMail).filter_by(kind=kind).populate_existing().one()
    assert not mail.was_sent and (mail.email is None) == (not mail.is_unfinished)
    return mail.state, mail.error


def ready_mails() -> int:
    return db.session.query(OrderMail).filter_by(kind="ready").count()


def test_an_order_that_is_ready_still_waits_for_its_customer(mia: Shopper, order_id: str) -> None:
    assert mark_ready(mia, order_id) == StatusChange(1, True)
    assert mark_ready(mia, order_id) == StatusChange(1, False)
    assert (status(), is_ready(), ready_mails()) == ("SUBMITTED", True, 0)
    entries = db.session.query(AuditEntry).filter_by(action="order.ready").all()
    assert [(entry.actor, entry.summary) for entry in entries] == [("Ben", "Order 1 is ready to collect")]
    collect(mia, order_id)
    assert (status(), is_ready()) == ("COLLECTED", False)


def test_the_customer_is_mailed_once_that_an_order_is_ready(mia: Shopper, order_id: str) -> None:
    mark_ready(mia, order_id, by_email=True)
    with transaction():
        db.session.query(OrderMail).filter_by(kind="ready").one().state = "done"
    mark_not_ready(mia, order_id)
    mark_ready(mia, order_id, by_email=True)
    assert ready_mails() == 1
    summaries = [entry.summary for entry in db.session.query(AuditEntry).filter_by(action="order.ready")]
    assert summaries == ["Order 1 is ready to collect; an email says so", "Order 1 is ready to collect"]


def test_a_mail_that_was_never_sent_does_not_use_up_the_one_that_says_ready(mia: Shopper, order_id: str) -> None:
    for _ in range(2):
        mark_ready(mia, order_id, by_email=True)
        assert mail_of("ready") == ("waiting", None)
        mark_not_ready(mia, order_id)
        assert mail_of("ready") == ("done", "The order was marked as not ready before the mail went out.")


def test_what_is_settled_needs_no_mail_any_more(mia: Shopper, order_id: str) -> None:
    mark_ready(mia, order_id, by_email=True)
    cancel(mia, order_id)
    assert mail_of("ready") == ("done", "The order was cancelled before the mail went out.")
    assert mail_of("received") == ("done", "The order was cancelled before the mail went out.")


def test_a_confirmation_is_true_while_the_order_waits(mia: Shopper, order_id: str) -> None:
    mark_ready(mia, order_id)
    mark_not_ready(mia, order_id)
    assert mail_of("received") == ("waiting", None)


def test_an_order_that_is_not_ready_after_all_awaits_collection(mia: Shopper, order_id: str) -> None:
    assert mark_not_ready(mia, order_id) == StatusChange(1, False)
    mark_ready(mia, order_id)
    assert mark_not_ready(mia, order_id) == StatusChange(1, True)
    assert (status(), is_ready()) == ("SUBMITTED", False)


def test_what_is_collected_or_cancelled_is_not_made_ready(mia: Shopper, order_id: str) -> None:
    collect(mia, order_id)
    with pytest.raises(Conflict, match="collected already"):
        mark_ready(mia, order_id)
    with transaction():
        lifecycle.reopen(Author(mia.site_id, "Ben", mia.clock), order_id)
    cancel(mia, order_id)
    for change in (mark_ready, mark_not_ready):
        with pytest.raises(Conflict, match="was cancelled"):
            change(mia, order_id)


def test_an_order_of_another_site_is_not_made_ready(mia: Shopper, order_id: str) -> None:
    with transaction():
        other = make_site("other.test")
    with pytest.raises(NotFound), transaction():
        lifecycle.mark_ready(Author(other.id, "Ben", mia.clock), order_id)
