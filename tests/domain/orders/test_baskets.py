"""Baskets of tills and programs: what and how many is theirs to say, all else is the shop's."""

from __future__ import annotations

import pytest

from app.domain.orders.baskets import Owner, WantedLine, create_basket, find_basket, view_basket
from app.domain.orders.models import Order, OrderLine
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Invalid, NotFound, StaleRevision
from app.extensions import db
from app.transaction import transaction
from tests.domain.orders.conftest import Shopper, change_product, stock
from tests.domain.orders.till import Till, order
from tests.factories import make_site


def test_a_basket_has_the_catalogues_names_and_prices_and_the_orders_number(till: Till) -> None:
    basket = order(till.fill({"KETTLE": 2, "TENT-L": 1, "MUG": 3}))
    view = view_basket(basket)
    assert [(line.sku_code, line.name, line.quantity, line.unit_price, line.line_total) for line in view.lines] == [
        ("KETTLE", "Kettle", 2, 2_000, 4_000),
        ("TENT-L", "Tent", 1, 11_000, 11_000),
        ("MUG", "Mug", 3, 500, 1_500),
    ]
    assert (view.subtotal, view.total, basket.total) == (16_500, 16_500, 16_500)
    assert (basket.number, basket.revision, basket.status, basket.channel) == (1, 1, "OPEN", "POS")
    assert (basket.owner_id, basket.pos_location_id, stock("KETTLE")) == (till.user_id, "tml_1", 3)


def test_baskets_and_orders_of_shoppers_share_one_count(till: Till, mia: Shopper) -> None:
    first = order(till.fill({"MUG": 1})).number
    mia.add("MUG")
    assert (first, mia.order().order.number, order(till.fill({})).number) == (1, 2, 3)


def test_replacing_says_everything_and_lines_that_stay_keep_their_ids(till: Till) -> None:
    basket_id = till.fill({"KETTLE": 1, "MUG": 1})
    kettle, mug = (line.id for line in order(basket_id).lines)
    till.replace(basket_id, {"TENT-S": 2, "MUG": 5}, revision=1)
    basket = order(basket_id)
    assert [(line.sku, line.quantity, line.position) for line in basket.lines] == [("TENT-S", 2, 0), ("MUG", 5, 1)]
    assert basket.lines[1].id == mug and db.session.get(OrderLine, kettle) is None
    assert (basket.revision, basket.total) == (2, 20_500)
    assert till.replace(basket_id, {}, revision=2).total == 0


def test_a_sku_that_is_named_twice_is_one_line(till: Till) -> None:
    with transaction():
        twice = [WantedLine("MUG", 2), WantedLine("KETTLE", 1), WantedLine("MUG", 3)]
        basket_id = create_basket(till.author, Owner(till.user_id, "POS"), twice).id
    assert [(line.sku, line.quantity) for line in order(basket_id).lines] == [("MUG", 5), ("KETTLE", 1)]


def test_every_line_that_cannot_be_is_named(till: Till) -> None:
    with pytest.raises(Invalid) as refused:
        till.fill({"NOTHING": 1, "MUG": 1, "TENT": 1})
    assert [(problem.code, problem.pointer) for problem in refused.value.problems] == [
        ("unknown_sku", "#/lines/0/skuCode"),
        ("choose_variant", "#/lines/2/skuCode"),
    ]
    with pytest.raises(Invalid) as too_many, transaction():
        create_basket(till.author, Owner(till.user_id, "POS"), [WantedLine("MUG", 60), WantedLine("MUG", 40)])
    assert [(problem.code, problem.pointer) for problem in too_many.value.problems] == [
        ("too_many", "#/lines/1/quantity")
    ]
    assert db.session.query(Order).count() == 0


def test_every_line_of_which_there_is_not_enough_is_named(till: Till) -> None:
    change_product("MUG", stock=0)
    with pytest.raises(Conflict) as refused:
        till.fill({"KETTLE": 4, "TENT-S": 2, "MUG": 1})
    assert refused.value.code == "out_of_stock"
    assert refused.value.details["errors"] == [
        {"code": "insufficient_stock", "message": "Only 3 of Kettle (KETTLE) left.", "pointer": "#/lines/0/quantity"},
        {"code": "sold_out", "message": "Mug (MUG) is sold out.", "pointer": "#/lines/2/quantity"},
    ]


def test_what_is_hidden_or_of_another_shop_is_not_sold(till: Till) -> None:
    change_product("MUG", enabled=False)
    with pytest.raises(Invalid):
        till.fill({"MUG": 1})
    basket_id = till.fill({"KETTLE": 1})
    with transaction():
        other = Author(make_site("other.test").id, "Ben", till.author.clock)
    with pytest.raises(NotFound):
        find_basket(other.site_id, basket_id)
    with pytest.raises(Invalid), transaction():
        create_basket(other, Owner(till.user_id, "POS"), [WantedLine("KETTLE", 1)])


def test_who_read_an_older_basket_does_not_overwrite_the_newer(till: Till) -> None:
    basket_id = till.fill({"MUG": 1})
    till.replace(basket_id, {"MUG": 2}, revision=1)
    with pytest.raises(StaleRevision) as stale:
        till.replace(basket_id, {"MUG": 9}, revision=1)
    assert stale.value.current_revision == 2
    assert [line.quantity for line in order(basket_id).lines] == [2]


def test_a_basket_that_is_being_paid_or_was_submitted_stays_as_it_is(till: Till) -> None:
    basket_id = till.fill({"MUG": 1})
    till.pay(basket_id)
    with pytest.raises(Conflict) as locked:
        till.replace(basket_id, {}, revision=1)
    till.submit(basket_id)
    with pytest.raises(Conflict) as submitted:
        till.replace(basket_id, {}, revision=1)
    assert (locked.value.code, submitted.value.code) == ("basket_locked", "basket_submitted")


def test_an_open_basket_shows_todays_prices_and_a_locked_one_those_that_are_paid(till: Till) -> None:
    basket_id = till.fill({"MUG": 2})
    change_product("MUG", price=700, name="Big mug")
    view = view_basket(order(basket_id))
    assert (view.total, view.lines[0].name) == (1_400, "Big mug")
    assert till.lock(basket_id) == 1_400, "what is due is of that moment"
    change_product("MUG", price=900)
    assert view_basket(order(basket_id)).total == 1_400


def test_a_shoppers_own_basket_has_no_address_for_programs(till: Till, mia: Shopper) -> None:
    mia.add("MUG")
    with pytest.raises(NotFound):
        find_basket(till.author.site_id, db.session.query(Order).one().id)
