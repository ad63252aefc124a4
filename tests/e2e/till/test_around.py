"""Around the sale: payments that were made, refunds, settings, signing out."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Request, Route, expect

from tests.e2e.till.accessibility import expect_no_violations
from tests.e2e.till.selling import unlock
from tests.e2e.till.signing_in import sign_in_to_till

AT = "/v1/pos/tml_demo_market"
Api = Callable[..., dict[str, Any]]


@pytest.fixture
def call(phone: BrowserContext) -> Api:
    """Call /v1 in the session of the till itself, whose requests are listened to."""
    tokens: list[str] = []

    def listen(request: Request) -> None:
        if "/v1/pos/" in request.url and "authorization" in request.headers:
            tokens.append(request.headers["authorization"])

    phone.on("request", listen)

    def send(method: str, path: str, **data: object) -> dict[str, Any]:
        headers = {"Authorization": str(data.pop("token", None) or tokens[-1])}
        answer = phone.request.fetch(path, method=method, headers=headers, data=data or None)
        assert answer.ok, answer.text()
        return answer.json()

    return send


def test_payments_of_the_location_are_found_by_filters_and_shown_without_a_network(
    call: Api, phone: BrowserContext
) -> None:
    page = sign_in_to_till(phone.new_page())
    sell_thirty(call)
    call("POST", f"{AT}/cashPayments", amountInPence=1_250, tenderedInPence=2_000)
    page.get_by_role("link", name="Transactions").click()
    expect(rows(page)).to_have_count(25)
    page.get_by_role("button", name="Show more").click()
    expect(rows(page)).not_to_have_count(25)

    page.get_by_text("Filters").click()
    page.get_by_label("Paid with").select_option("Card")
    expect(rows(page).filter(has_text="Cash")).to_have_count(0)
    page.get_by_label("Paid with").select_option("Cash")
    page.get_by_label("Status").select_option("Refunded")
    expect(page.get_by_text("No payments.")).to_be_visible()
    page.get_by_label("Status").select_option("Paid")
    page.get_by_label("From").fill("2031-01-01")
    expect(page.get_by_text("No payments.")).to_be_visible()
    page.get_by_role("button", name="Clear").click()
    page.get_by_role("checkbox", name="Only mine").check()
    page.get_by_role("link", name="£12.50").first.click()
    expect(page.get_by_text("£20.00")).to_be_visible()  # Received, with the change next.
    expect(page.get_by_text("£7.50")).to_be_visible()

    phone.set_offline(True)
    expect(page.get_by_text("Giving money back needs the network.")).to_be_visible()
    page.get_by_role("link", name="Back").click()
    expect(page.get_by_text("Offline: these are from")).to_be_visible()
    page.get_by_role("link", name="£12.50").first.click()
    expect(page.get_by_text("Offline: this is the payment as it was loaded last.")).to_be_visible()
    phone.set_offline(False)
    expect(page.get_by_role("button", name="Show the receipt code")).to_be_visible()


def test_a_receipt_is_had_again_and_own_cash_is_taken_back(call: Api, till: Page) -> None:
    paid = call("POST", f"{AT}/cashPayments", amountInPence=640)
    open_payment(till, paid["id"])
    till.get_by_role("button", name="Show the receipt code").click()
    code = till.get_by_role("img", name="Receipt code")
    expect(code).to_be_visible()
    assert code.evaluate("picture => picture.decode().then(() => picture.naturalWidth)")
    with till.expect_popup() as printed:
        till.get_by_role("button", name="Print receipt").click()  # Without a printer, the browser prints it.
    expect(printed.value.get_by_text("£6.40").first).to_be_visible()
    till.get_by_role("textbox", name="E-mail for the receipt").fill("sam@example.com")
    till.get_by_role("button", name="Send receipt").click()
    expect(till.get_by_text("The receipt goes to sam@example.com.")).to_be_visible()

    till.get_by_role("button", name="Take back").click()
    dialog = till.get_by_role("dialog", name="Take back")
    dialog.get_by_role("button", name="Take back").click()
    expect(dialog.get_by_text("Say why")).to_be_visible()
    dialog.get_by_role("textbox", name="Reason").fill("Wrong amount")
    dialog.get_by_role("button", name="Take back").click()
    expect(till.get_by_text("Give the customer £6.40")).to_be_visible()
    assert call("GET", f"{AT}/transactions/{paid['id']}")["status"] == "CANCELLED"


def test_a_card_is_refunded_in_part_and_the_rest_in_cash(call: Api, till: Page) -> None:
    paid = pay_by_card(call, 2_000)
    open_payment(till, paid)
    refund(till, "Broken", part="30", button="Refund £30.00")
    dialog = till.get_by_role("dialog", name="Refund")
    expect(dialog.get_by_text("At most £20.00 can be given back.")).to_be_visible()
    dialog.get_by_role("textbox", name="Amount").fill("5,50")
    dialog.get_by_role("button", name="Refund £5.50").click()
    expect(till.get_by_text("£5.50 goes back to the card")).to_be_visible()
    expect(till.get_by_text("Partly refunded")).to_be_visible()
    till.get_by_role("button", name="Refund").click()
    till.get_by_role("radio", name="In cash").check()
    refund(till, "Returned", button="Refund £14.50", is_open=True)
    expect(till.get_by_text("Give the customer £14.50 in cash.")).to_be_visible()
    expect(till.get_by_text("All of it was given back.")).to_be_visible()
    expect(till.get_by_role("button", name="Refund")).to_be_hidden()
    assert call("GET", f"{AT}/transactions/{paid}")["refundedAmount"] == 2_000

    def fail(route: Route) -> None:
        shown = route.fetch().json()
        shown["refunds"][0]["status"] = "FAILED"
        route.fulfill(json=shown)

    till.route(re.compile(rf"/transactions/{paid}$"), fail)
    till.get_by_role("link", name="Back").click()
    rows(till).first.click()
    expect(till.get_by_text("Refund of £5.50 failed on")).to_be_visible()


def test_a_refund_without_an_answer_is_sent_again_under_its_key_also_after_the_tab_is_lost(
    call: Api, phone: BrowserContext
) -> None:
    page = sign_in_to_till(phone.new_page())
    paid = pay_by_card(call, 1_800)
    keys: list[str] = []

    def lose(route: Route) -> None:
        keys.append(route.request.headers["idempotency-key"])
        route.fetch()
        route.abort()

    page.route("**/refunds", lose)
    open_payment(page, paid)
    refund(page, "Too small", part="8", button="Refund £8.00")
    expect(page.get_by_role("heading", name="We don't know yet")).to_be_visible()
    expect(page.get_by_role("button", name="Refund")).to_be_hidden()
    page.close()  # Which ends its route as well.

    page = phone.new_page()
    refunds = re.compile("/refunds$")
    page.on("request", lambda sent: keys.append(sent.headers["idempotency-key"]) if refunds.search(sent.url) else None)
    page.goto("/till/settings")
    unlock(page)
    page.get_by_role("switch", name="Training mode").click()
    expect(page.get_by_text("A refund is not answered yet.")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("A refund is not answered yet.")).to_have_count(2)
    page.goto(f"/till/transactions/{paid}")
    unlock(page)
    expect(page.get_by_text("£8.00 goes back to the card")).to_be_visible()
    assert len(set(keys)) == 1 and len(keys) >= 2
    assert call("GET", f"{AT}/transactions/{paid}")["refundedAmount"] == 800


def test_a_refund_that_the_shop_is_finding_out_about_is_asked_for_until_it_is_known(
    call: Api, phone: BrowserContext
) -> None:
    page = sign_in_to_till(phone.new_page())
    paid = pay_by_card(call, 900)

    def delay(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(status=202, json=answer.json() | {"status": "UNKNOWN"})

    page.route("**/refunds", delay, times=1)
    open_payment(page, paid)
    refund(page, "Late", button="Refund £9.00")
    expect(page.get_by_text("The shop is finding out whether this refund was made.")).to_be_visible()
    expect(page.get_by_text("£9.00 goes back to the card")).to_be_visible()

    page.route(
        "**/refunds",
        lambda route: route.fulfill(
            status=422,
            content_type="application/problem+json",
            json={
                "status": 422,
                "code": "refund_exceeds_payment",
                "detail": "At most £1.00 of this payment can be refunded.",
            },
        ),
    )
    other = pay_by_card(call, 300)
    open_payment(page, other)
    refund(page, "No", button="Refund £3.00")
    expect(page.get_by_text("At most £1.00 of this payment can be refunded.")).to_be_visible()


def test_settings_change_the_look_remove_devices_and_lock(call: Api, phone: BrowserContext, api: Api) -> None:
    elsewhere = {
        "email": "agent@demo.test",
        "password": "demo-password-1",
        "deviceId": str(uuid.uuid4()),
        "deviceName": "Old phone",
    }
    phone.request.post("/v1/auth/login", data=elsewhere)
    page = sign_in_to_till(phone.new_page())
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("radio", name="Dark").check()
    expect(page.locator("html")).to_have_attribute("data-scheme", "dark")
    expect(page.get_by_text("Version")).to_be_visible()
    expect(page.get_by_role("region", name="Printer")).to_be_visible()
    expect(page.get_by_role("link", name="Customer display")).to_have_attribute("target", "_blank")
    devices = page.get_by_role("region", name="Devices")
    this = devices.get_by_role("listitem").first
    expect(this).to_contain_text(re.compile("Chrome on .*This device"))
    expect(devices.get_by_text("Last seen today at").first).to_be_visible()
    devices.get_by_role("button", name="Remove Old phone").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.get_by_role("link", name="Quick unlock").click()
    expect(page.get_by_role("heading", name="Quick unlock")).to_be_visible()
    page.get_by_role("link", name="Back").click()
    page.get_by_role("button", name="Lock now").click()
    expect(page.get_by_role("heading", name="Locked")).to_be_visible()
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-scheme", "dark")
    unlock(page)
    page.get_by_role("link", name="Back").click()
    page.get_by_role("link", name="Help").click()
    page.get_by_text("We don't know yet").click()
    expect(page.get_by_text("Do not charge it again.")).to_be_visible()
    page.get_by_text("Simulated cards").click()
    expect(page.get_by_role("row", name="stuck_capture")).to_be_visible()


def test_signing_out_asks_before_sales_are_lost_and_is_refused_while_one_is_not_sent(phone: BrowserContext) -> None:
    page = sign_in_to_till(phone.new_page())
    page.route("**/offlineSales", lambda route: route.abort())
    put(page, "offline", {"clientSaleId": str(uuid.uuid4()), "state": "WAITING", "lines": []})
    put(
        page,
        "sales",
        {
            "id": "parked",
            "kind": "ORDER",
            "parkedAt": "2026-01-01T00:00:00Z",
            "isTraining": False,
            "lines": [],
            "paid": [],
        },
    )
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("A sale was not sent to the shop yet.")).to_be_visible()
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()
    put(page, "offline", None)
    page.get_by_role("button", name="Sign out").click()
    dialog = page.get_by_role("dialog", name="Sign out?")
    expect(dialog.get_by_text("also a parked order")).to_be_visible()
    dialog.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_the_screens_around_the_sale_are_accessible(call: Api, till: Page) -> None:
    paid = pay_by_card(call, 450)
    till.get_by_role("link", name="Transactions").click()
    till.get_by_text("Filters").click()
    expect(rows(till).first).to_be_visible()
    expect_no_violations(till)
    open_payment(till, paid)
    till.get_by_role("button", name="Show the receipt code").click()
    expect(till.get_by_role("img", name="Receipt code")).to_be_visible()
    expect_no_violations(till)
    till.get_by_role("button", name="Refund").click()
    till.get_by_role("radio", name="A part").check()
    till.get_by_role("button", name="Refund", exact=True).last.click()
    expect(till.get_by_text("Enter an amount, such as 5.00.")).to_be_visible()
    expect_no_violations(till)
    till.keyboard.press("Escape")
    till.goto("/till/help")
    unlock(till)
    expect(till.get_by_role("heading", name="Help", level=1)).to_be_visible()
    for answer in till.get_by_role("main").locator("summary").all():
        answer.click()
    expect_no_violations(till)
    till.get_by_role("link", name="Back").click()
    till.get_by_role("link", name="Settings").click()
    expect(till.get_by_text("This device", exact=True)).to_be_visible()
    till.get_by_role("switch", name="Training mode").click()
    expect(till.get_by_text("No money moves.")).to_be_visible()
    expect_no_violations(till)


def rows(page: Page) -> Any:
    return page.get_by_role("main").get_by_role("listitem").get_by_role("link")


def open_payment(page: Page, transaction_id: str) -> None:
    page.goto(f"/till/transactions/{transaction_id}")
    unlock(page)


def refund(page: Page, reason: str, button: str, part: str | None = None, is_open: bool = False) -> None:
    if not is_open:
        page.get_by_role("button", name="Refund").click()
    dialog = page.get_by_role("dialog", name="Refund")
    if part:
        dialog.get_by_role("radio", name="A part").check()
        dialog.get_by_role("textbox", name="Amount").fill(part)
    dialog.get_by_role("textbox", name="Reason").fill(reason)
    dialog.get_by_role("button", name=button).click()


def pay_by_card(call: Api, amount: int) -> str:
    """Have a simulated card pay an amount; returns the id of the transaction."""
    intent = call("POST", f"{AT}/paymentIntents", amountInPence=amount)
    reader = f"Bearer {call('GET', f'{AT}/paymentToken')['token']}"
    present = f"/v1/pos/simulator/paymentIntents/{intent['id']}/present"
    call("POST", present, clientSecret=intent["clientSecret"], card="visa", token=reader)
    call("POST", f"{AT}/paymentIntents/{intent['id']}/capture")
    return intent["transactionId"]


def sell_thirty(call: Api) -> None:
    tent = call("GET", "/v1/product/TENT-04")
    now = call("POST", f"{AT}/cashPayments", amountInPence=100)["created"]
    line = {"skuCode": "TENT-04", "quantity": 1, "unitPriceInPence": tent["price"]}
    sales = [{"clientSaleId": str(uuid.uuid4()), "soldAt": now, "lines": [line]} for _ in range(30)]
    answers = call("POST", f"{AT}/offlineSales", sales=sales)["items"]
    assert [one["result"] for one in answers] == ["ACCEPTED"] * 30


def put(page: Page, store: str, record: object) -> None:
    """Put a record into a store of the app, or empty the store."""
    page.evaluate(
        """([store, record]) => new Promise((resolve, reject) => {
          const opening = indexedDB.open("till");
          opening.onerror = reject;
          opening.onsuccess = () => {
            const change = opening.result.transaction(store, "readwrite");
            if (record) change.objectStore(store).put(record);
            else change.objectStore(store).clear();
            change.oncomplete = () => { opening.result.close(); resolve(); };
          };
        })""",
        [store, record],
    )
