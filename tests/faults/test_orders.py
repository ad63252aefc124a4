"""F48: the process that takes an order is killed; the shopper sends the same form again."""

from __future__ import annotations

import signal

import pytest
from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.domain.orders import basket_contents
from app.domain.orders.models import OPEN, SUBMITTED, Order
from app.extensions import db
from app.transaction import transaction
from tests.faults.shops import SITE, Shop, check

pytestmark = pytest.mark.fault("F48")

MOST_STATEMENTS = 60
KILLED = -signal.SIGKILL
BEFORE, AFTER = [(OPEN, None, 3)], [(SUBMITTED, 1, 2)]


@pytest.fixture
def token(shop: Shop) -> str:
    """Of a basket with one of three."""
    with shop.opened() as context:
        with transaction():
            db.session.scalars(select(Product).where(Product.sku == "sku-1")).one().stock = 3
        with transaction():
            return basket_contents.add(context.clock, SITE, None, "sku-1", 1).token or ""


def orders(shop: Shop) -> list[tuple[str, int | None, int | None]]:
    """State and number of every order, and what is left in stock."""
    with shop.opened():
        stock = db.session.scalar(select(Product.stock).where(Product.sku == "sku-1"))
        return [(order.status, order.number, stock) for order in db.session.scalars(select(Order))]


def test_an_order_is_whole_or_not_there_wherever_its_process_is_killed(shop: Shop, token: str) -> None:
    for number in range(1, MOST_STATEMENTS):
        attempt = shop.do("order", token, f"statement:{number}")
        if attempt.finish() == 0:
            break
        assert attempt.finish() == KILLED and orders(shop) == BEFORE
    assert number > 8 and attempt.said == ["ordered 1 now"]
    assert orders(shop) == AFTER
    check(shop)


@pytest.mark.parametrize(("point", "left", "answer"), [("commit", BEFORE, "now"), ("committed", AFTER, "before")])
def test_a_form_that_is_sent_again_after_its_process_was_killed_makes_one_order(
    shop: Shop, token: str, point: str, left: list[object], answer: str
) -> None:
    assert shop.do("order", token, point).finish() == KILLED
    assert orders(shop) == left
    again = shop.do("order", token, "none")
    assert again.finish() == 0 and again.said == [f"ordered 1 {answer}"]
    assert orders(shop) == AFTER
