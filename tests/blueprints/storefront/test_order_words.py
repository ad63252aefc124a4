"""What the page of an order promises."""

from __future__ import annotations

from flask import Flask

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
