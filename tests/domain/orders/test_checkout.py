from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask
from sqlalchemy import event, select
from sqlalchemy.exc import OperationalError

from app.domain.catalogue import products
from app.domain.catalogue.models import Product, Variant
from app.domain.orders import basket_contents
from app.domain.orders.basket import Contact
from app.domain.orders.checkout import BasketChanged, place
from app.domain.orders.models import Order
from app.domain.search.models import OutboxEntry
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid, NotFound, StaleRevision
from app.domain.sites.models import AuditEntry, Site
from app.extensions import db
from app.transaction import transaction
from tests.domain.orders.conftest import FORM, MIA, Shopper, change_product, product, stock
from tests.factories import draft_of, make_product, make_site
from tests.fakes.clock import StoppedClock


def test_an_order_keeps_what_was_bought_and_counts_the_stock_down(mia: Shopper) -> None:
    mia.add("KETTLE", 2)
    mia.add("TENT-L")
    mia.add("MUG", 3)
    placed = mia.order(Contact("Mia Moss", "mia@home.test", "", "At noon."))
    order = placed.order
    assert (placed.is_new, order.number, order.status, order.total) == (True, 1, "SUBMITTED", 16_500)
    assert [(line.name, line.quantity, line.unit_price, line.stock_taken) for line in order.lines] == [
        ("Kettle", 2, 2_000, 2),
        ("Tent", 1, 11_000, 1),
        ("Mug", 3, 500, 0),
    ]
    assert (order.contact_name, order.contact_email, order.note) == ("Mia Moss", "mia@home.test", "At noon.")
    assert (stock("KETTLE"), stock("TENT-L"), stock("TENT-S"), stock("MUG")) == (1, 0, 2, None)
    assert mia.basket.lines == (), "the basket is empty again"


def test_ordering_twice_gives_one_order(mia: Shopper) -> None:
    mia.add("KETTLE")
    seen = mia.basket.seen
    first, second = mia.order(seen=seen), mia.order(seen=seen)
    assert (first.is_new, second.is_new, second.order.number) == (True, False, 1)
    assert stock("KETTLE") == 2


def test_who_knows_the_basket_does_not_read_the_order(mia: Shopper) -> None:
    mia.add("KETTLE")
    planted, seen = mia.token or "", mia.basket.seen
    placed = mia.order(seen=seen)
    named = basket_contents.order_by_token(mia.site_id, placed.token)
    assert named is not None and named.id == placed.order.id
    assert basket_contents.order_by_token(mia.site_id, planted) is None
    for guess in ("", "another form with a secret of its own", "x"):
        with pytest.raises(NotFound):
            mia.order(seen=seen, form=guess)


def test_a_form_without_a_secret_orders_too(mia: Shopper) -> None:
    mia.add("KETTLE")
    assert mia.order(form="").token != mia.token


def test_after_an_order_a_new_basket_begins(mia: Shopper) -> None:
    mia.add("KETTLE")
    before = mia.token
    mia.order()
    mia.add("MUG")
    assert mia.token != before
    assert mia.order().order.number == 2


def test_each_shop_counts_its_orders_from_one(mia: Shopper) -> None:
    mia.add("MUG")
    with transaction():
        other_site = make_site("other.test")
        make_product(other_site, "MUG")
    other = Shopper(mia.clock, other_site.id)
    other.add("MUG")
    assert (mia.order().order.number, other.order().order.number) == (1, 1)


def test_a_price_that_changed_meanwhile_is_told_before_anybody_buys(mia: Shopper) -> None:
    mia.add("KETTLE")
    seen = mia.basket.seen
    change_product("KETTLE", price=1)
    with pytest.raises(BasketChanged, match="Check the new total"):
        mia.order(seen=seen)
    assert stock("KETTLE") == 3
    assert mia.order().order.total == 1


def test_what_another_tab_added_is_not_bought_unseen(mia: Shopper) -> None:
    mia.add("KETTLE")
    seen = mia.basket.seen
    mia.add("MUG")
    with pytest.raises(BasketChanged):
        mia.order(seen=seen)


@pytest.mark.parametrize("changes", [{"stock": 1}, {"stock": 0}, {"enabled": False}])
def test_a_basket_is_ordered_whole_or_not_at_all(mia: Shopper, changes: dict[str, object]) -> None:
    mia.add("TENT-S")
    mia.add("KETTLE", 2)
    seen = mia.basket.seen
    change_product("KETTLE", **changes)
    with pytest.raises(BasketChanged, match="has not been placed"):
        mia.order(seen=seen)
    assert stock("TENT-S") == 2
    assert db.session.query(Order).one().status == "OPEN"


def test_an_empty_basket_or_none_cannot_be_ordered(mia: Shopper) -> None:
    with pytest.raises(NotFound, match="empty"):
        mia.order()
    mia.add("MUG")
    mia.change(mia.basket.lines[0].id, 0)
    with pytest.raises(NotFound, match="empty"):
        mia.order()


def test_a_bad_contact_changes_nothing(mia: Shopper) -> None:
    mia.add("KETTLE")
    with pytest.raises(Invalid):
        mia.order(Contact("Mia"))
    assert stock("KETTLE") == 3
    assert mia.order().order.number == 1, "a number that came to nothing is not used up"


def test_search_learns_that_something_was_sold(mia: Shopper) -> None:
    mia.add("TENT-L")
    with transaction():
        db.session.query(OutboxEntry).delete()
    mia.order()
    assert db.session.scalars(select(OutboxEntry.record_id)).all() == [product("TENT").id]


def test_who_has_the_product_open_learns_that_an_order_took_some(mia: Shopper, clock: StoppedClock) -> None:
    """Else their save would write back the stock that it began with."""
    mia.add("KETTLE")
    kettle = product("KETTLE")
    kettle_id, opened, draft = kettle.id, kettle.revision, draft_of(kettle)
    mia.order()
    with pytest.raises(StaleRevision, match="Order 1 saved this product"), transaction():
        products.save(Author(mia.site_id, "Ben", clock), kettle_id, opened, draft, None)


def test_the_activity_log_tells_of_the_order_and_not_of_the_person(mia: Shopper) -> None:
    mia.add("KETTLE")
    mia.order()
    entries = db.session.scalars(select(AuditEntry).order_by(AuditEntry.id)).all()
    assert [(entry.action, entry.actor) for entry in entries] == [
        ("product.stock", "Order 1"),
        ("order.submit", "A shopper"),
    ]
    assert (entries[0].before, entries[0].after) == ({"stock": 3}, {"stock": 2})
    assert "mia" not in str([(e.summary, e.before, e.after) for e in entries]).lower()


def test_totals_beyond_32_bits_fit(mia: Shopper) -> None:
    change_product("MUG", price=999_999_999)
    mia.add("MUG", 99)
    assert mia.order().order.total == 98_999_999_901


def test_an_order_is_in_the_currency_of_its_day(mia: Shopper) -> None:
    mia.add("MUG")
    with transaction():
        db.session.get_one(Site, mia.site_id).currency = "eur"
    assert mia.order().order.currency == "eur"


@pytest.mark.concurrent
def test_twenty_who_want_the_last_ones_get_just_those(app: Flask, mia: Shopper) -> None:
    """Three kettles and twenty baskets, each of which also holds a mug and a tent, in changing order."""
    change_product("TENT", stock=None)
    with transaction():
        db.session.query(Variant).filter_by(sku="TENT-S").one().stock = 40
    shoppers = [Shopper(mia.clock, mia.site_id) for _ in range(20)]
    for number, shopper in enumerate(shoppers):
        for sku in ("KETTLE", "MUG", "TENT-S")[:: 1 if number % 2 else -1]:
            shopper.add(sku)
    wanted = [(shopper, shopper.basket.seen) for shopper in shoppers]
    db.session.remove()

    def buy(shopper: Shopper, seen: str) -> int | None:
        with app.app_context():
            try:
                return shopper.order(seen=seen).order.number
            except BasketChanged:
                return None

    with ThreadPoolExecutor(10) as threads:
        numbers = list(threads.map(lambda one: buy(*one), wanted))
    assert sorted(number for number in numbers if number) == [1, 2, 3]
    assert (stock("KETTLE"), stock("TENT-S")) == (0, 37)
    assert db.session.query(Order).filter_by(status="OPEN").count() == 17


@pytest.mark.concurrent
def test_a_button_pressed_twice_at_the_same_moment_gives_one_order(app: Flask, mia: Shopper) -> None:
    mia.add("KETTLE")
    site_id, token, seen, clock = mia.site_id, mia.token or "", mia.basket.seen, mia.clock
    db.session.remove()

    def press(_: int) -> tuple[bool, int | None]:
        with app.app_context(), transaction():
            placed = place(clock, site_id, token, MIA, seen, form=FORM)
            return placed.is_new, placed.order.number

    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(press, range(6)))
    assert sorted(answers) == [(False, 1)] * 5 + [(True, 1)]
    assert stock("KETTLE") == 2


@pytest.mark.parametrize("database_kind", ["postgresql"], indirect=True)  # SQLite has one writer.
def test_a_checkout_does_not_wait_for_a_till_that_waits_for_it(mia: Shopper) -> None:
    """A till that begins a basket holds the order numbers, for which a checkout waits, and then adds a line, which
    looks at its product as here."""
    mia.add("KETTLE")
    looked = []
    kettle = select(Product.id).where(Product.sku == "KETTLE")

    def begin_a_basket(_connection: object, _cursor: object, sql: str, *_: object) -> None:
        if "FROM products" in sql and " FOR " in sql and not looked:
            looked.append(sql)
            with db.engine.connect() as till:
                till.execute(kettle.with_for_update(read=True, key_share=True, nowait=True))
                with pytest.raises(OperationalError, match="could not obtain lock"):  # Two who sell it take turns.
                    till.execute(kettle.with_for_update(key_share=True, nowait=True))

    event.listen(db.engine, "after_cursor_execute", begin_a_basket)
    try:
        assert mia.order().is_new
    finally:
        event.remove(db.engine, "after_cursor_execute", begin_a_basket)
    assert looked and stock("KETTLE") == 2


@pytest.mark.concurrent
def test_one_basket_filled_from_two_tabs_loses_nothing(app: Flask, mia: Shopper) -> None:
    mia.add("MUG")
    site_id, token, clock = mia.site_id, mia.token, mia.clock
    db.session.remove()

    def add(_: int) -> None:
        with app.app_context(), transaction():
            basket_contents.add(clock, site_id, token, "MUG", 1)

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(add, range(12)))
    db.session.rollback()
    assert mia.basket.items == 13
