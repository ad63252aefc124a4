"""Payments at the till of which somebody says something wrong, or that somebody left behind: each is booked once, and
none keeps the till from selling."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests.e2e.till.selling import (
    CANDLES,
    CASH,
    cash_of,
    change_of,
    go,
    hand_over,
    in_app,
    is_paid,
    lose_answers,
    next_sale,
    order,
    pay_order,
    quick_payment,
    reopen,
)
from tests.e2e.till.test_card_payments import CREATE, Payment, lose_answer
from tests.waiting import until

FAKE_PRINTERS = Path(__file__).parent / "fake_printers.js"
Api = Callable[..., dict[str, Any]]
CHANGE_STORED = """
const [store, changes] = argument;
for (const one of await module.readAll(store)) await module.write(store, { ...one, ...changes });
"""
REFUSAL = "return module[argument]({ amount: 1800, tendered: 1800 }).catch((error) => error.message)"
SAY_ONLINE = "is => Object.defineProperty(navigator, 'onLine', { get: () => is, configurable: true })"


def change_stored(page: Page, store: str, **changes: object) -> None:
    """Change what the till has on the disk, which another tab or another day could have left there."""
    in_app(page, "store.js", CHANGE_STORED, [store, changes])


def take_part_in_cash(page: Page, part: str, note: str) -> None:
    page.get_by_role("button", name="Part of the amount").click()
    page.get_by_role("textbox", name="Part to pay now").fill(part)
    page.get_by_role("button", name="Take this part").click()
    page.get_by_role("button", name="Cash", exact=True).click()
    hand_over(page, note)


def test_cash_is_booked_once_where_the_browser_wrongly_says_that_it_is_offline(till: Page, api: Api) -> None:
    pay_order(till, CANDLES)
    expect(till.get_by_role("button", name="Take cash")).to_be_enabled()
    before = len(cash_of(api, 18_00))
    till.evaluate(SAY_ONLINE, False)
    lose_answers(till, CASH)
    hand_over(till, "£18.00")
    is_paid(till)
    till.evaluate(SAY_ONLINE, True)
    assert in_app(till, "store.js", "return module.readAll('offline')") == []
    assert len(cash_of(api, 18_00)) == before + 1


def test_change_is_given_back_once(till: Page) -> None:
    quick_payment(till, 32_00)
    till.get_by_role("button", name="Pay another way").click()
    take_part_in_cash(till, "8.00", "£10.00")
    expect(change_of(till)).to_contain_text("£2.00")
    till.get_by_role("button", name="Card", exact=True).click()
    Payment(till).hold("visa")
    is_paid(till)
    expect(till.get_by_text("Change", exact=True)).to_be_hidden()


def test_a_payment_that_another_agent_left_is_given_up(till: Page) -> None:
    def begin_and_leave(page: Page, **changes: object) -> Payment:
        page.route(CREATE, lambda route: route.abort())
        payment = Payment(page)
        payment.type_amount(32_10)
        page.get_by_role("button", name="Card", exact=True).click()
        expect(payment.status).to_contain_text("We don't know yet")
        change_stored(page, "payments", userId="999", **changes)
        return Payment(reopen(page))

    payment = begin_and_leave(till)
    expect(payment.status).to_contain_text("Another agent began this payment.")
    expect(payment.page.get_by_role("button", name="Cancel payment")).to_be_hidden()
    payment.page.get_by_role("button", name="Stop waiting").click()
    payment.page.get_by_role("button", name="Card", exact=True).click()
    payment.waits().hold("visa")
    payment.is_paid()
    payment.next_sale()

    payment = begin_and_leave(payment.page, createdAt=0)
    expect(payment.page.get_by_text("was given up. Nothing was charged.")).to_be_visible()
    payment.page.get_by_role("button", name="Card", exact=True).click()
    payment.waits()


ANOTHER_USER = "module.update({ user: { ...module.app().user, id: argument } })"


def test_a_payment_whose_answer_was_lost_is_sent_again_by_its_own_agent_alone(till: Page, api: Api) -> None:
    own = in_app(till, "state.js", "return module.app().user.id")
    payment = Payment(till)
    lose_answer(till, CREATE)
    payment.type_amount(47_13)
    till.get_by_role("button", name="Card", exact=True).click()
    expect(payment.status).to_contain_text("We don't know yet")
    sent: list[str] = []
    till.on("request", lambda request: CREATE.search(request.url) and sent.append(request.method))
    in_app(till, "state.js", ANOTHER_USER, "999")
    expect(payment.status).to_contain_text("Another agent began this payment.")
    expect(till.get_by_role("button", name="Stop waiting")).to_be_visible()
    assert sent == []
    in_app(till, "state.js", ANOTHER_USER, own)
    payment = Payment(reopen(till)).waits()
    payment.hold("visa")
    payment.is_paid()
    listed = api("GET", "/v1/pos/tml_demo_market/transactions?pageSize=100")["items"]
    assert [one["status"] for one in listed if one["amountInPence"] == 47_13] == ["SUCCEEDED"]


def test_cash_that_is_too_old_to_be_asked_for_is_ended_by_whoever_looked_for_it(till: Page) -> None:
    def leave_behind(page: Page) -> Page:
        page.route(CASH, lambda route: route.abort())
        quick_payment(page, 12_37)
        hand_over(page, "£20.00")
        expect(page.get_by_text("We don't know yet")).to_be_visible()
        change_stored(page, "payments", createdAt=0)
        return reopen(page)

    page = leave_behind(till)
    expect(page.get_by_text("This is too long ago for the shop to be asked.")).to_be_visible()
    expect(page.get_by_text("the shop is asked again")).to_be_hidden()
    page.get_by_role("button", name="It is not there: stop waiting").click()
    expect(page.get_by_text("£12.37").first).to_be_visible()
    page.get_by_role("button", name="Cash", exact=True).click()
    hand_over(page, "£20.00")
    is_paid(page)
    next_sale(page)

    page = leave_behind(page)
    page.get_by_role("button", name="It is there: end the sale").click()
    expect(page.get_by_role("button", name="Quick payment")).to_be_enabled()


def test_a_sale_of_another_location_is_paid_there(till: Page) -> None:
    quick_payment(till, 32_20)
    change_stored(till, "sales", locationId="tml_other")
    elsewhere = reopen(till)
    elsewhere.get_by_role("link", name="Go on with the sale").click()
    elsewhere.get_by_role("button", name="Card", exact=True).click()
    expect(elsewhere.get_by_role("alert").filter(has_text="begun at another location")).to_be_visible()
    assert in_app(elsewhere, "store.js", "return module.readAll('payments')") == []


def test_a_shop_in_trouble_keeps_nobody_from_paying_in_cash(till: Page) -> None:
    go(till, "/till/order")
    order(till, CANDLES)
    till.route("**/v1/basket**", lambda route: route.fulfill(status=503, body="Bad gateway"))
    till.get_by_role("button", name="Charge").click()
    expect(till.get_by_role("heading", name="Take payment")).to_be_visible()
    till.get_by_role("button", name="Cash", exact=True).click()
    hand_over(till, "£18.00")
    is_paid(till)
    till.unroute_all(behavior="ignoreErrors")


def test_nothing_is_paid_while_a_scanned_code_is_not_known(till: Page) -> None:
    go(till, "/till/order")
    order(till, CANDLES)
    till.get_by_role("button", name="Charge").click()
    expect(till.get_by_role("heading", name="Take payment")).to_be_visible()
    till.get_by_role("link", name="Back").click()
    till.get_by_role("button", name="Scan a barcode").click()
    dialog = till.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Barcode").fill("9999999999994")
    dialog.get_by_role("button", name="Add").click()
    dialog.get_by_role("button", name="Close").click()
    code = till.get_by_role("listitem", name="Code 9999999999994")
    expect(code).to_be_visible()
    till.go_back()
    expect(code).to_be_visible()
    for module, take in (("payments.js", "beginCard"), ("cash.js", "takeCash")):
        refused = in_app(till, module, REFUSAL, take)
        assert refused == "A scanned code is not found yet. Find it or remove it first."

    code.get_by_role("button", name="Remove").click()
    till.get_by_role("button", name="Charge").click()
    expect(till.get_by_role("button", name="Card", exact=True)).to_be_enabled()


def test_a_stop_is_kept_until_somebody_waits(till: Page) -> None:
    script = """
      const sent = [];
      module.send({ kind: "stop" });
      module.send({ kind: "again" });
      sent.push(await module.wait(0));
      module.send({ kind: "stop" });
      module.forgetStop();
      return [...sent, await module.wait(0)];"""
    assert in_app(till, "readers/hand.js", script) == [{"kind": "stop"}, None]


def test_the_drawer_opens_once_when_cash_is_known_to_be_taken(till: Page) -> None:
    till.context.add_init_script(path=FAKE_PRINTERS)
    till.context.add_init_script("fakeUsb(window.device = usbDevice())")
    lose_answers(till, CASH, times=None)
    quick_payment(till, 32_30)
    hand_over(till, "£32.30")
    expect(till.get_by_text("We don't know yet")).to_be_visible()
    again = reopen(till)
    is_paid(again)
    until(lambda: again.evaluate("window.device.jobs.length > 0"))  # The driver’s own wait needs eval.
    next_sale(again)
    assert len(again.evaluate("device.jobs")) == 1
