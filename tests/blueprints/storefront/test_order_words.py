"""What the page of an order promises."""

from __future__ import annotations

from flask import Flask

from app import ports
from app.domain.orders.lifecycle import collect, mark_ready
from app.domain.orders.models import Order
from app.domain.shared.author import Author
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.storefront.shopper import Shopper


def test_a_placed_order_promises_no_message_that_the_shop_does_not_send(app: Flask, site_id: int) -> None:
    mia = Shopper(app)
    mia.add("S-7", 1)
    mine = mia.get("/checkout").text
    assert "so that we can contact you" in mine and "when it is ready" not in mine
    thanks = mia.get(mia.order().location).text
    assert "Collect your order at" in thanks and "and pay there" in thanks
    assert "If anything is missing, we" in thanks
    assert "when it is ready" not in thanks and "put it aside" not in thanks


def test_an_order_says_whether_it_is_ready_to_collect(app: Flask, site_id: int) -> None:
    mia = Shopper(app)
    mia.add("S-7", 1)
    address = mia.order().location
    assert "Awaiting collection" in mia.get(address).text
    with app.app_context(), transaction():
        mark_ready(Author(site_id, "Ben", ports.clock()), db.session.query(Order).one().id)
    ready = mia.get(address).text
    assert "Ready to collect" in ready and "Awaiting collection" not in ready
    with app.app_context(), transaction():
        collect(Author(site_id, "Ben", ports.clock()), db.session.query(Order).one().id)
    steps = mia.get(address).text.partition("How it went")[2]
    assert steps.index("Received") < steps.index("Ready to collect") < steps.index("Collected")
