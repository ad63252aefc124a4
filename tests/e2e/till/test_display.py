"""The customer's display follows the till in the same browser."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.processes import RunningShop

LINES = [
    {"name": "Enamel mug, blue", "quantity": 2, "lineTotal": 2500},
    {"name": "Waxed cotton jacket with a removable lining", "quantity": 1, "lineTotal": 18900},
]
BASKET = {"currency": "gbp", "lines": LINES, "total": 21400, "due": 21400}


@pytest.fixture
def display(shop: RunningShop, page: Page) -> Page:
    """The display, in a window beside one in which modules of the till are imported."""
    opened = page.context.new_page()
    opened.goto("/till/display")
    page.goto("/till/display")
    return opened


def send(till: Page, call: str, given: Any) -> None:
    till.evaluate(f"async (given) => (await import('/static/till/display/channel.js')).{call}(given)", given)


def test_the_basket_is_shown_as_it_grows(page: Page, display: Page) -> None:
    expect(display.get_by_role("heading")).to_have_text("Welcome")
    send(page, "showIdle", "Demo shop")
    expect(display.get_by_role("heading")).to_have_text("Demo shop")
    send(page, "showBasket", BASKET | {"lines": LINES[:1], "total": 2500, "due": 2500})
    expect(display.get_by_role("listitem")).to_have_count(1)
    send(page, "showBasket", BASKET)
    expect(display.get_by_role("listitem").last).to_contain_text("£189.00")
    expect(display.get_by_role("status")).to_have_text("To pay £214.00")


def test_what_was_paid_already_stands_beside_the_total(page: Page, display: Page) -> None:
    send(page, "showBasket", BASKET | {"due": 11400})
    expect(display.get_by_role("status")).to_contain_text("Total £214.00")
    expect(display.get_by_role("status")).to_contain_text("To pay £114.00")


@pytest.mark.parametrize(
    ("payment", "words", "amount"),
    [
        ({"state": "waiting", "amount": 21400}, "Present your card", "£214.00"),
        ({"state": "declined", "amount": 21400}, "Declined. Try another card, or pay in another way", "£214.00"),
        ({"state": "approved", "amount": 21400, "change": 600}, "Paid. Thank you", "£6.00"),
        ({"state": "approved", "amount": 21400, "change": 0}, "Paid. Thank you", "£214.00"),
    ],
)
def test_the_payment_is_followed(page: Page, display: Page, payment: dict[str, Any], words: str, amount: str) -> None:
    send(page, "showPayment", payment | {"currency": "gbp"})
    expect(display.get_by_role("heading")).to_have_text(words)
    expect(display.get_by_role("status")).to_contain_text(amount)


def test_a_display_that_is_opened_later_shows_what_is_on_the_till(page: Page, display: Page) -> None:
    send(page, "showBasket", BASKET)
    display.reload()
    expect(display.get_by_role("listitem")).to_have_count(2)


def test_the_last_basket_is_gone_once_the_till_is_closed(page: Page, display: Page) -> None:
    send(page, "showIdle", "Demo shop")
    send(page, "showBasket", BASKET)
    expect(display.get_by_role("listitem")).to_have_count(2)
    page.close(run_before_unload=False)
    expect(display.get_by_role("heading")).to_have_text("Demo shop")


FOLLOW = """
async () => {
  window.state = await import("/static/till/state.js");
  (await import("/static/till/display/follow_till.js")).followTill();
}"""
SALE = {
    "id": "s1",
    "kind": "ORDER",
    "currency": "gbp",
    "lines": [{"name": "Enamel mug", "options": {"Colour": "Blue"}, "quantity": 2, "unitPrice": 1250}],
    "basket": {"total": 2500, "amountDue": 1500},
    "isChecked": True,
    "paid": [],
    "isFinished": False,
}


def test_the_display_follows_the_sale_on_the_till(page: Page, display: Page) -> None:
    page.evaluate(FOLLOW)

    def update(**changes: Any) -> None:
        page.evaluate("(changes) => state.update(changes)", changes)

    update(phase="ready", configuration={"shopName": "Demo shop"})
    expect(display.get_by_role("heading")).to_have_text("Demo shop")
    update(sale=SALE)
    expect(display.get_by_role("listitem")).to_contain_text("Enamel mug, Blue")
    expect(display.get_by_role("status")).to_contain_text("To pay £15.00")
    card = {"saleId": "s1", "tender": "CARD", "amount": 1500, "tip": 150}
    update(payment=card | {"state": "waiting"})
    expect(display.get_by_role("heading")).to_have_text("Present your card")
    expect(display.get_by_role("status")).to_contain_text("£16.50")
    update(payment=card | {"state": "declined"})
    expect(display.get_by_role("heading")).to_contain_text("Declined")
    paid = {"amountInPence": 1500, "tipInPence": 0, "changeInPence": 500}
    update(payment=None, sale=SALE | {"paid": [paid], "isFinished": True})
    expect(display.get_by_role("status")).to_contain_text("Change£5.00")
    update(sale=SALE | {"kind": "QUICK", "amount": 999, "paid": []})
    expect(display.get_by_role("status")).to_contain_text("£9.99")
    update(phase="locked")
    expect(display.get_by_role("heading")).to_have_text("Demo shop")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(768, 1024), (1280, 800)])
def test_a_long_order_ends_at_its_newest_line(page: Page, display: Page, scheme: Any, size: tuple[int, int]) -> None:
    width, height = size
    display.emulate_media(color_scheme=scheme)
    display.set_viewport_size({"width": width, "height": height})
    many = [{"name": f"Product {number}", "quantity": 1, "lineTotal": 100} for number in range(1, 41)]
    send(page, "showBasket", {"currency": "gbp", "lines": many, "total": 4000, "due": 4000})
    expect(display.get_by_text("Product 40")).to_be_in_viewport()
    expect(display.get_by_text("£40.00")).to_be_in_viewport()
