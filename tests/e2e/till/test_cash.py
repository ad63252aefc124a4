"""Cash at the till. Whatever gets lost on the way, the shop's books have the payment once, and the app ends up showing
what they have."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Browser, Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in
from tests.e2e.till.selling import (
    CANDLES,
    CASH,
    TEALIGHTS,
    TILL,
    cash_of,
    change_of,
    hand_over,
    is_paid,
    lose_answers,
    next_sale,
    pay_order,
    quick_payment,
    reopen,
    unlock,
)
from tests.processes import RunningShop

Api = Callable[..., dict[str, Any]]
TAP_TWICE = "button => { button.click(); button.click(); }"


def test_cash_is_taken_once_with_change(till: Page, api: Api) -> None:
    quick_payment(till, 31_10)
    till.get_by_role("textbox", name="Received").fill("31")
    expect(till.get_by_text("Still missing")).to_be_visible()
    expect(till.get_by_role("button", name="Take cash")).to_be_disabled()
    till.get_by_role("group", name="Cash received").get_by_role("button", name="£40.00", exact=True).click()
    expect(change_of(till)).to_contain_text("£8.90")

    till.get_by_role("button", name="Take cash").evaluate(TAP_TWICE)
    is_paid(till)
    expect(change_of(till)).to_contain_text("£8.90")
    expect(till.get_by_role("img", name="Receipt code")).to_be_visible()
    assert cash_of(api, 31_10) == ["SUCCEEDED"]


def test_a_lost_answer_is_had_by_asking_again(till: Page, api: Api) -> None:
    lose_answers(till, CASH, times=2)
    quick_payment(till, 31_20)
    hand_over(till, "£31.20")
    expect(till.get_by_text("We don't know yet")).to_be_visible()
    is_paid(till)
    assert cash_of(api, 31_20) == ["SUCCEEDED"]


def test_a_lost_tab_takes_nothing_twice_and_loses_nothing(till: Page, api: Api) -> None:
    till.route(CASH, lambda route: route.abort())  # The request does not arrive.
    quick_payment(till, 31_30)
    hand_over(till, "£31.30")
    expect(till.get_by_text("We don't know yet")).to_be_visible()
    assert cash_of(api, 31_30) == []
    fresh = reopen(till)
    is_paid(fresh)
    next_sale(fresh)

    lose_answers(fresh, CASH, times=None)
    quick_payment(fresh, 31_40)
    hand_over(fresh, "£50.00")
    expect(fresh.get_by_text("We don't know yet")).to_be_visible()
    latest = reopen(fresh)
    is_paid(latest)
    expect(change_of(latest)).to_contain_text("£18.60")
    again = reopen(latest)
    again.get_by_role("link", name="Go on with the sale").click()
    is_paid(again)
    assert (cash_of(api, 31_30), cash_of(api, 31_40)) == (["SUCCEEDED"], ["SUCCEEDED"])


def test_two_tabs_take_the_same_cash_once(till: Page, api: Api) -> None:
    lose_answers(till, CASH, times=None)
    quick_payment(till, 31_50)
    hand_over(till, "£31.50")
    expect(till.get_by_text("We don't know yet")).to_be_visible()
    other = till.context.new_page()
    other.goto("/till")
    expect(unlock(other).get_by_text("We don't know yet")).to_be_visible()
    till.unroute_all(behavior="ignoreErrors")
    is_paid(other)
    is_paid(till)
    assert cash_of(api, 31_50) == ["SUCCEEDED"]


def test_an_order_is_paid_in_parts_of_which_one_is_taken_back(till: Page, api: Api) -> None:
    pay_order(till, CANDLES, TEALIGHTS)
    till.get_by_role("button", name="Pay another way").click()
    till.get_by_role("button", name="Part of the amount").click()
    till.get_by_role("textbox", name="Part to pay now").fill("12.34")
    till.get_by_role("button", name="Take this part").click()
    till.get_by_role("button", name="Cash", exact=True).click()
    hand_over(till, "£15.00")

    paid = till.get_by_role("region", name="Paid so far")
    expect(paid).to_contain_text("£12.34")
    expect(change_of(till)).to_contain_text("£2.66")
    paid.get_by_role("button", name="Take back").click()
    dialog = till.get_by_role("dialog")
    dialog.get_by_role("button", name="Take back £12.34").click()
    expect(dialog.get_by_role("textbox", name="Reason")).to_have_attribute("aria-invalid", "true")
    dialog.get_by_role("textbox", name="Reason").fill("Pays all at once")
    dialog.get_by_role("button", name="Take back £12.34").click()
    expect(paid).to_be_hidden()

    till.get_by_role("button", name="Cash", exact=True).click()
    hand_over(till, "£32.00")
    is_paid(till)
    order, *_ = (one for one in api("GET", f"{TILL}/transactions")["items"] if one["amountInPence"] == 32_00)
    assert api("GET", f"/v1/basket/{order['orderId']}")["status"] == "SUBMITTED"
    assert cash_of(api, 12_34) == ["CANCELLED"]


def test_cash_that_the_shop_refuses_can_be_taken_otherwise(till: Page) -> None:
    pay_order(till, CANDLES)
    expect(till.get_by_role("button", name="Take cash")).to_be_enabled()
    refusal = {"status": 403, "code": "cash_disabled", "detail": "This shop takes no cash."}
    till.route(CASH, lambda route: route.fulfill(status=403, json=refusal), times=1)
    hand_over(till, "£18.00")
    expect(till.get_by_role("alert").filter(has_text="This shop takes no cash.")).to_be_visible()
    hand_over(till, "£20.00")
    is_paid(till)


def test_the_last_cash_is_rounded_as_the_shop_rounds(browser: Browser, shop: RunningShop, till: Page) -> None:
    with browser.new_context(base_url=shop.address) as office:
        admin = office.new_page()
        sign_in(admin, "admin@demo.test")
        set_rounding(admin, "10")
        till.reload()
        quick_payment(unlock(till), 31_66)
        expect(till.get_by_text("Rounded to")).to_be_visible()
        hand_over(till, "£31.70")
        is_paid(till)
        set_rounding(admin, "0")


def set_rounding(admin: Page, step: str) -> None:
    admin.goto("/admin/pos/settings")
    admin.get_by_label(re.compile("[Rr]ound")).select_option(step)
    admin.get_by_role("button", name="Save").first.click()
    expect(admin.locator("#flashes")).to_contain_text(re.compile("[Ss]aved"))


TYPE_AT_ONCE = """digits => {
  for (const key of digits) document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
}"""


def test_the_keypad_loses_no_digit_of_a_quick_typist(till: Page) -> None:
    till.get_by_role("button", name="Quick payment").click()
    expect(till.get_by_role("heading", name="Quick payment")).to_be_focused()  # Then it listens to keys as well.
    till.evaluate(TYPE_AT_ONCE, [*"3949", "Backspace", "0"])
    expect(till.locator(".quick .amount")).to_have_text("£39.40")
