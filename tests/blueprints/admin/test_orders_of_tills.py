"""Orders that were sold at a till, in the admin."""

from __future__ import annotations

import pytest
from flask import Flask

from app.domain.orders.models import Order
from app.domain.pos.models import PosAgent, PosTransaction
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.conftest import SignedIn
from tests.factories import WHEN, make_agent, make_location, make_order, make_product, make_transaction, make_user
from tests.page_client import PageClient
from tests.statements import statements


@pytest.fixture
def ada(signed_in: SignedIn) -> PageClient:
    return signed_in(Role.ADMIN)


@pytest.fixture
def stall(app: Flask, site_id: int) -> int:
    """The site, whose agent Tilly works at the stall."""
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        make_agent(site, make_user(site, Role.POS_AGENT, name="Tilly Till"), make_location(site, "tml_stall"))
        make_product(site, "KETTLE", name="Kettle", stock=5)
    return site_id


def sold(app: Flask, site_id: int, status: str = "SUBMITTED", payment: str = "SUCCEEDED", **more: object) -> str:
    """An order of a till for £25, and its payment; the ids of both are those of the order."""
    with app.app_context(), transaction():
        site, agent = db.session.get_one(Site, site_id), db.session.query(PosAgent).one()
        given_back = {"REFUNDED": 2_500, "PARTIALLY_REFUNDED": 500}.get(payment, 0)
        is_paid = payment in ("SUCCEEDED", "REFUNDED", "PARTIALLY_REFUNDED")
        fields = {
            "channel": "POS",
            "owner_id": agent.user_id,
            "pos_location_id": "tml_stall",
            "contact_name": "",
        } | more
        if is_paid:
            stays_paid = status != "OPEN" or not given_back
            paid = {"paid_at": WHEN if stays_paid else None, "paid_amount": 2_500 if stays_paid else 2_500 - given_back}
            fields = paid | fields
        else:
            fields = {"reserved_amount": 2_500} | fields
        if status == "OPEN":
            fields["submitted_at"] = None
        order = make_order(site, None, status, **fields)
        card = {"card_brand": "visa", "card_last4": "4242"}
        money = {"amount_in_pence": 2_500, "refunded_amount": given_back}
        make_transaction(agent, agent.locations[0], payment, order_id=order.id, **money, **card)
        return order.id


def pay_in_cash(app: Flask, order_id: str, amount: int, **more: object) -> None:
    """A payment in cash of an order, beside its others."""
    with app.app_context(), transaction():
        agent = db.session.query(PosAgent).one()
        cash = {"tender_type": "CASH", "processor": "", "processor_intent_id": None, "amount_in_pence": amount}
        make_transaction(agent, agent.locations[0], "SUCCEEDED", order_id=order_id, **(cash | more))


def text(ada: PageClient, path: str) -> str:
    return " ".join(ada.client.get(path, base_url=ada.base).text.split())


def test_the_list_says_where_an_order_came_from_and_how_its_payment_stands(
    app: Flask, ada: PageClient, stall: int
) -> None:
    with app.app_context(), transaction():
        make_order(db.session.get_one(Site, stall), number=900)
    for payment in ("SUCCEEDED", "PENDING", "UNKNOWN", "REFUNDED", "PARTIALLY_REFUNDED"):
        sold(app, stall, payment=payment)
    ada.get("/admin/orders")
    shown = text(ada, "/admin/orders")
    for words in ("Paid by card", "Payment under way", "Payment unknown", "Refunded", "Partly refunded"):
        assert words in shown
    assert shown.count("Till, Market stall") == 5 and "Tilly Till" in shown
    tills, web = text(ada, "/admin/orders?channel=pos"), text(ada, "/admin/orders?channel=web")
    assert ("Order 900" in tills, "Order 900" in web, "Market stall" in web) == (False, True, False)
    assert "No order of this state came from a till" in text(ada, "/admin/orders?channel=pos&status=cancelled")


def test_an_order_links_to_each_of_its_payments(app: Flask, ada: PageClient, stall: int) -> None:
    order_id = sold(app, stall)
    ada.get(f"/admin/orders/{order_id}")
    shown = text(ada, f"/admin/orders/{order_id}")
    assert "/admin/pos/transactions/transaction-" in shown and "4242" in shown
    assert "Market stall" in shown and "Tilly Till" in shown and "Paid by card" in shown
    assert "To pay on collection" not in shown and "over the counter" in shown


def test_the_sums_of_an_order_with_a_discount_add_up(app: Flask, ada: PageClient, stall: int) -> None:
    reduced = text(ada, f"/admin/orders/{sold(app, stall, discount=500, total=2_000, paid_amount=2_000)}")
    assert '>Discount</th> <td class="n">-£5.00</td>' in reduced
    assert reduced.index(">£25.00</td>") < reduced.index("-£5.00") < reduced.index("<strong>£20.00</strong>")
    assert "Discount" not in text(ada, f"/admin/orders/{sold(app, stall)}")


def test_cancelling_a_paid_order_says_that_the_money_stays_and_where_to_give_it_back(
    app: Flask, ada: PageClient, stall: int
) -> None:
    order_id = sold(app, stall)
    assert "£25.00 was paid by card and stays with the shop." in text(ada, f"/admin/orders/{order_id}")
    ada.get(f"/admin/orders/{order_id}")
    ada.post(f"/admin/orders/{order_id}/cancel", {})
    shown = text(ada, f"/admin/orders/{order_id}")
    assert "This order was cancelled, and £25.00 that was paid for it is still with the shop." in shown
    assert "Refund the payment of £25.00" in shown
    refunded = sold(app, stall, "CANCELLED", "REFUNDED")
    assert "still with the shop" not in text(ada, f"/admin/orders/{refunded}")


def test_an_order_whose_card_is_being_charged_is_left_alone(app: Flask, ada: PageClient, stall: int) -> None:
    order_id = sold(app, stall, payment="PENDING")
    for what in ("cancel", "collect"):
        ada.get(f"/admin/orders/{order_id}")
        ada.post(f"/admin/orders/{order_id}/{what}", {})
        assert "A card payment for order" in text(ada, f"/admin/orders/{order_id}")
    with app.app_context():
        assert db.session.get_one(Order, order_id).status == "SUBMITTED"


def test_a_paid_basket_that_is_no_order_is_found_and_submitted(app: Flask, ada: PageClient, stall: int) -> None:
    assert "Paid, not submitted" not in text(ada, "/admin/orders")
    order_id = sold(app, stall, "OPEN", total=2_400)
    assert "Paid, not submitted" in text(ada, "/admin/orders")
    ada.get("/admin/orders?status=unsubmitted")
    assert "Not submitted" in text(ada, "/admin/orders?status=unsubmitted")
    ada.get(f"/admin/orders/{order_id}")
    assert "£25.00 was paid for this, and its total is £24.00." in text(ada, f"/admin/orders/{order_id}")
    ada.post(f"/admin/orders/{order_id}/submit", {})
    assert "is placed and awaiting collection" in text(ada, f"/admin/orders/{order_id}")
    assert "Nothing to do" in text(ada, "/admin/orders?status=unsubmitted")


def test_a_basket_whose_money_went_back_is_no_longer_left_over(app: Flask, ada: PageClient, stall: int) -> None:
    refunded = sold(app, stall, "OPEN", "REFUNDED")
    assert "Paid, not submitted" not in text(ada, "/admin/orders")
    assert "Nothing to do" in text(ada, "/admin/orders?status=unsubmitted")
    assert f"/admin/orders/{refunded}" not in text(ada, "/admin/orders"), "it is a basket like others"
    partly = sold(app, stall, "OPEN", "PARTIALLY_REFUNDED")
    shown = text(ada, "/admin/orders?status=unsubmitted")
    assert f"/admin/orders/{partly}" in shown and f"/admin/orders/{refunded}" not in shown


def test_a_basket_of_a_till_has_a_page_and_a_shoppers_own_has_none(app: Flask, ada: PageClient, stall: int) -> None:
    basket = sold(app, stall, "OPEN", "PENDING")
    ada.get(f"/admin/orders/{basket}")
    assert "A basket of a till, not ordered yet" in text(ada, f"/admin/orders/{basket}")
    refunded = sold(app, stall, "OPEN", "REFUNDED")
    assert "nothing is left to do" in text(ada, f"/admin/orders/{refunded}")
    with app.app_context(), transaction():
        shoppers = make_order(db.session.get_one(Site, stall), status="OPEN", submitted_at=None).id
    assert ada.client.get(f"/admin/orders/{shoppers}", base_url=ada.base).status_code == 404


def test_an_order_says_by_which_tenders_it_was_paid(app: Flask, ada: PageClient, stall: int) -> None:
    both = sold(app, stall, total=3_000, paid_amount=3_000)
    pay_in_cash(app, both, 500)
    ada.get(f"/admin/orders/{both}")
    shown = text(ada, f"/admin/orders/{both}")
    assert shown.count("Paid by card and in cash") == 3 and "Cash · Tilly Till" in shown
    assert "Paid by card and in cash" in text(ada, "/admin/orders")
    assert "Paid by card and in cash" in text(ada, f"/admin/orders/{both}/packing-slip")
    assert "£30.00 was paid by card and in cash and stays with the shop." in shown


def test_a_tip_and_money_that_must_go_back_pay_nothing_of_an_order(app: Flask, ada: PageClient, stall: int) -> None:
    order_id = sold(app, stall)
    pay_in_cash(app, order_id, 900, is_surplus=True, anomaly="order_paid_twice")
    shown = text(ada, f"/admin/orders/{order_id}")
    assert "was paid for this, and its total is" not in shown and "Paid by card<" in shown
    assert "Paid by card<" in text(ada, "/admin/orders")
    with app.app_context(), transaction():
        paid = db.session.query(PosTransaction).filter_by(order_id=order_id, tender_type="CARD").one()
        paid.tip_in_pence, paid.captured_amount = 300, 2_800
    shown = text(ada, f"/admin/orders/{order_id}")
    assert "+ £3.00 tip" in shown and "was paid for this, and its total is" not in shown


def test_a_basket_that_was_paid_in_part_is_placed_or_refunded(app: Flask, ada: PageClient, stall: int) -> None:
    order_id = sold(app, stall, "OPEN", "CANCELLED", reserved_amount=0, paid_amount=1_000)
    pay_in_cash(app, order_id, 1_000)
    listed = text(ada, "/admin/orders?status=unsubmitted")
    assert "Partly paid" in listed and "£15.00 due" in listed
    ada.get(f"/admin/orders/{order_id}")
    shown = text(ada, f"/admin/orders/{order_id}")
    assert "A basket, paid in part" in shown and "£10.00 of £25.00 is paid, and £15.00 is due." in shown
    assert "Refund the payment of £10.00" in shown and "Submit the order" in shown
    for label, amount in (("Still to pay", "£15.00"), ("Paid in cash", "£10.00")):
        assert f'>{label}</th> <td class="n">{amount}' in shown
    ada.post(f"/admin/orders/{order_id}/submit", {})
    assert "To pay: <strong>£15.00</strong>" in text(ada, f"/admin/orders/{order_id}/packing-slip")


def test_what_a_till_and_a_transfer_paid_of_an_order_is_given_back_apart(
    app: Flask, ada: PageClient, stall: int
) -> None:
    delivered = {"delivery_method": "Post", "delivery_payment": "inAdvance", "channel": "WEB"}
    order_id = sold(app, stall, "SUBMITTED", "CANCELLED", reserved_amount=0, paid_amount=1_000, **delivered)
    pay_in_cash(app, order_id, 1_000)
    page = f"/admin/orders/{order_id}"
    ada.get(page)
    ada.post(f"{page}/paid", {})
    paid = text(ada, page)
    assert "Paid by bank transfer and at a till" in paid and "£15.00 of it by bank transfer" in paid
    assert "Refund the difference" not in paid
    ada.post(f"{page}/cancel", {})
    cancelled = text(ada, page)
    assert "cancelled, and £15.00 that was paid by bank transfer" in cancelled
    assert "cancelled, and £10.00 that was paid for it" in cancelled


def test_a_basket_is_not_placed_while_a_card_may_still_pay_for_it(app: Flask, ada: PageClient, stall: int) -> None:
    order_id = sold(app, stall, "OPEN", "PENDING", reserved_amount=1_500, paid_amount=1_000)
    pay_in_cash(app, order_id, 1_000)
    shown = text(ada, f"/admin/orders/{order_id}")
    assert "Payment under way" in shown and "Submit the order" not in shown


def test_the_list_costs_the_same_however_long_it_is(app: Flask, ada: PageClient, stall: int) -> None:
    costs = []
    for _ in range(2):
        for _ in range(4):
            sold(app, stall)
        with statements(app) as seen:
            ada.get("/admin/orders")
        costs.append(len(seen))
    assert costs[0] == costs[1] <= 17
