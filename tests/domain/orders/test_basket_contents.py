from __future__ import annotations

import pytest
from sqlalchemy import event

from app.domain.catalogue.models import Product, Variant
from app.domain.orders.basket import MOST_LINES, Availability
from app.domain.orders.basket_contents import basket_of
from app.domain.orders.models import Order
from app.domain.shared.problems import Conflict, Invalid, NotFound
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.domain.orders.conftest import Shopper, change_product
from tests.factories import make_product, make_site
from tests.fakes.clock import StoppedClock


def test_what_is_added_twice_is_one_line(mia: Shopper) -> None:
    mia.add("KETTLE")
    assert mia.add("KETTLE").items == 2
    mia.add("MUG", 5)
    assert [(line.name, line.quantity, line.total) for line in mia.basket.lines] == [
        ("Kettle", 2, 4_000),
        ("Mug", 5, 2_500),
    ]
    assert (mia.basket.items, mia.basket.total, mia.basket.can_be_ordered) == (7, 6_500, True)


def test_each_variant_is_a_line_of_its_own_with_its_price(mia: Shopper) -> None:
    mia.add("TENT-S")
    mia.add("TENT-L")
    assert [(line.sku, line.price, line.described) for line in mia.basket.lines] == [
        ("TENT-S", 9_000, "Size: S"),
        ("TENT-L", 11_000, "Size: L"),
    ]


def test_of_a_product_with_variants_one_must_be_chosen(mia: Shopper) -> None:
    with pytest.raises(Invalid, match="choose which Tent"):
        mia.add("TENT")


def test_more_than_is_left_is_cut_down_to_it_and_told(mia: Shopper) -> None:
    filled = mia.add("KETTLE", 5)
    assert (filled.quantity, filled.short) == (3, True)
    filled = mia.add("KETTLE")
    assert (filled.quantity, filled.short) == (3, True)


def test_what_is_sold_out_hidden_or_unknown_cannot_be_added(mia: Shopper) -> None:
    change_product("KETTLE", stock=0)
    change_product("MUG", enabled=False)
    with pytest.raises(Conflict, match="sold out"):
        mia.add("KETTLE")
    for sku in ("MUG", "NOTHING", "", "kettle"):
        with pytest.raises(NotFound):
            mia.add(sku)
    assert db.session.query(Order).count() == 0, "nothing was put into no basket"


@pytest.mark.parametrize("quantity", [0, -1, 100])
def test_quantities_have_bounds(mia: Shopper, quantity: int) -> None:
    with pytest.raises(Invalid):
        mia.add("MUG", quantity)


def test_a_basket_has_room_for_so_many_lines(mia: Shopper, site_id: int) -> None:
    with transaction():
        site = db.session.get_one(Site, site_id)
        for number in range(MOST_LINES + 1):
            make_product(site, f"P-{number}")
    for number in range(MOST_LINES):
        mia.add(f"P-{number}")
    with pytest.raises(Conflict, match="at most 50"):
        mia.add(f"P-{MOST_LINES}")


def test_a_quantity_is_changed_and_a_line_removed(mia: Shopper) -> None:
    mia.add("KETTLE")
    mia.add("MUG")
    kettle, mug = mia.basket.lines
    assert mia.change(kettle.id, 2).items == 3
    assert mia.change(kettle.id, 9).short
    assert mia.change(mug.id, 0).quantity == 0
    assert [(line.name, line.quantity) for line in mia.basket.lines] == [("Kettle", 3)]


def test_nobody_changes_anothers_basket(mia: Shopper, ben: Shopper) -> None:
    mia.add("KETTLE")
    ben.add("MUG")
    with pytest.raises(NotFound):
        ben.change(mia.basket.lines[0].id, 0)
    assert mia.basket.items == 1


def test_a_token_that_was_made_up_is_not_taken_over(mia: Shopper) -> None:
    mia.token = "made-up"
    assert mia.basket.lines == ()
    assert mia.add("MUG").token != "made-up"


def test_a_basket_belongs_to_its_shop(mia: Shopper) -> None:
    mia.add("MUG")
    with transaction():
        other = make_site("other.test").id
    assert basket_of(other, mia.token).lines == ()


def test_the_database_does_not_keep_the_token(mia: Shopper) -> None:
    mia.add("MUG")
    assert mia.token and mia.token not in str(vars(db.session.query(Order).one()))


def test_a_new_price_is_shown_beside_the_one_before(mia: Shopper) -> None:
    mia.add("KETTLE")
    change_product("KETTLE", price=2_500)
    (line,) = mia.basket.lines
    assert (line.price, line.price_before, mia.basket.total) == (2_500, 2_000, 2_500)
    mia.change(line.id, 2)
    assert mia.basket.lines[0].price_before is None, "who changes the line has seen the price"


def test_what_cannot_be_had_any_more_says_so_and_costs_nothing(mia: Shopper) -> None:
    mia.add("KETTLE", 3)
    mia.add("MUG")
    mia.add("TENT-S")
    mia.add("TENT-L")
    change_product("KETTLE", stock=2)
    change_product("MUG", enabled=False)
    with transaction():
        db.session.query(Variant).filter_by(sku="TENT-S").one().stock = 0
        tent = db.session.query(Product).filter_by(sku="TENT").one()
        tent.variants = [variant for variant in tent.variants if variant.sku == "TENT-S"]
    basket = mia.basket
    assert [line.availability for line in basket.lines] == [
        Availability.FEWER,
        Availability.GONE,
        Availability.SOLD_OUT,
        Availability.GONE,
    ]
    assert all(line.trouble for line in basket.lines) and not basket.can_be_ordered
    assert (basket.total, basket.items_to_be_had, basket.items) == (6_000, 3, 6)


def test_a_deleted_product_leaves_its_name_behind(mia: Shopper) -> None:
    mia.add("KETTLE")
    with transaction():
        db.session.delete(db.session.query(Product).filter_by(sku="KETTLE").one())
    (line,) = mia.basket.lines
    assert (line.name, line.availability, line.product_id) == ("Kettle", Availability.GONE, None)
    assert mia.change(line.id, 0).items == 0


def test_a_product_that_comes_in_variants_now_must_be_chosen_anew(mia: Shopper, site_id: int) -> None:
    mia.add("MUG")
    with transaction():
        mug = db.session.query(Product).filter_by(sku="MUG").one()
        mug.variants = [Variant(site_id=site_id, sku="MUG-RED", stock=4, options={"Colour": "Red"})]
    assert mia.basket.lines[0].availability is Availability.GONE
    with pytest.raises(Conflict):
        mia.change(mia.basket.lines[0].id, 2)


def test_a_full_basket_is_read_in_a_handful_of_statements(mia: Shopper, clock: StoppedClock) -> None:
    for sku in ("KETTLE", "MUG", "TENT-S", "TENT-L"):
        mia.add(sku)
    db.session.rollback()
    statements: list[str] = []
    event.listen(db.engine, "before_cursor_execute", lambda *call: statements.append(call[2]))
    assert len(mia.basket.lines) == 4
    assert len([one for one in statements if one.startswith("SELECT")]) == 5
