"""Orders that are paid by card: in parts, with a tip, and after the total changed."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.till.test_card_payments import CAPTURE, CREATE, Payment, reopen, unlock

BASKET = re.compile(r"/v1/basket/[^/]+$")
SUBMIT = re.compile(r"/v1/basket/[^/]+/submit$")
MUGS = """async (quantity) => {
  const module = (name) => import(new URL(name, document.querySelector("script[type=module]").src));
  const { startOrder } = await module("sale.js");
  const { addLine } = await module("order_lines.js");
  const { checkOrder } = await module("order_check.js");
  await startOrder();
  await addLine({ skuCode: "MUG-04-01", name: "Enamel camp mug", unitPrice: 1 }, quantity);
  const { basket } = await checkOrder();
  (await module("navigation.js")).go("/till/pay");
  return basket;
}"""


@pytest.fixture
def order(till: Page) -> dict:
    """Two mugs, which wait to be paid."""
    basket: dict = till.evaluate(MUGS, 2)
    expect(till.get_by_text("To pay")).to_be_visible()
    return basket


def pounds(amount: int) -> str:
    return f"£{amount / 100:.2f}"


def test_an_order_is_paid_in_parts_and_handed_in(till: Page, order: dict, api: Callable[..., dict]) -> None:
    payment, total = Payment(till), order["total"]
    till.get_by_role("button", name="Part of the amount").click()
    till.get_by_role("textbox", name="Part to pay now").fill("999")
    till.get_by_role("button", name="Take this part").click()
    expect(till.get_by_text(f"No more than {pounds(total)} is due.")).to_be_visible()
    till.get_by_role("textbox", name="Part to pay now").fill("5")
    till.get_by_role("button", name="Take this part").click()
    expect(till.get_by_text(f"of {pounds(total)} due")).to_be_visible()
    till.get_by_role("button", name="Card", exact=True).click()
    payment.waits().hold("visa")
    expect(till.get_by_text(pounds(total - 500)).first).to_be_visible()

    till.route(SUBMIT, lambda route: route.abort(), times=1)
    till.get_by_role("button", name="Card", exact=True).click()
    payment.waits().hold("mastercard")
    payment.is_paid()
    expect(payment.status).to_contain_text("Mastercard •••• 4444")
    expect(payment.status).to_contain_text(pounds(total))
    payment.next_sale()
    paid = api("GET", f"/v1/basket/{order['id']}")
    assert (paid["status"], paid["amountPaid"], len(paid["payments"])) == ("SUBMITTED", total, 2)


def test_a_lost_tab_goes_on_with_the_payment_of_its_order(till: Page, order: dict, api: Callable[..., dict]) -> None:
    till.get_by_role("button", name="Card", exact=True).click()
    payment = Payment(till).waits()
    payment = Payment(reopen(till)).waits()
    payment.page.route(CAPTURE, lambda route: (route.fetch(), route.abort()), times=1)
    payment.page.route(SUBMIT, lambda route: route.abort())
    payment.hold("visa")
    expect(payment.page.get_by_role("button", name="Finish the sale")).to_be_visible()
    payment = Payment(reopen(payment.page))
    payment.is_paid()
    assert api("GET", f"/v1/basket/{order['id']}")["status"] == "SUBMITTED"


def test_a_changed_total_is_shown_before_a_card_is_taken(till: Page, order: dict) -> None:
    def raise_price(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json=answer.json() | {"amountDue": order["total"] + 100})

    till.route(BASKET, raise_price, times=1)
    till.get_by_role("button", name="Card", exact=True).click()
    changed = f"The total changed from {pounds(order['total'])} to {pounds(order['total'] + 100)}."
    expect(till.get_by_role("dialog")).to_contain_text(changed)
    till.get_by_role("button", name="Show the new total").click()
    expect(till.get_by_text(pounds(order["total"] + 100))).to_be_visible()


def test_a_payment_of_the_order_that_is_under_way_is_adopted(till: Page, order: dict, api: Callable[..., dict]) -> None:
    """One that another program of this agent began, or this one before it lost what it knew."""
    begun = api("POST", f"/v1/basket/{order['id']}/paymentIntent", locationId="tml_demo_market")
    till.get_by_role("button", name="Card", exact=True).click()
    payment = Payment(till).waits()
    with till.expect_response(CAPTURE) as captured:
        payment.hold("visa")
    assert captured.value.json()["id"] == begun["id"]
    payment.is_paid()


def test_a_tip_is_asked_for_and_sent(till: Page) -> None:
    def with_tips(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json=answer.json() | {"tips": True})

    till.route("**/configuration", with_tips)
    till.reload()
    unlock(till)
    payment = Payment(till)
    payment.type_amount(10_00)
    till.get_by_role("button", name="Card", exact=True).click()
    tips = till.get_by_role("group", name="Tip")
    with till.expect_request(CREATE) as sent:
        tips.get_by_role("button", name="15%: £1.50").click()
    assert (sent.value.post_data_json["amountInPence"], sent.value.post_data_json["tipInPence"]) == (10_00, 1_50)
    expect(till.get_by_role("alert").filter(has_text="takes no tips")).to_be_visible()
