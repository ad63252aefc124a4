"""Training mode: the till as always, and nothing of it reaches the shop."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.till.selling import CANDLES, TEALIGHTS, change_of, go, hand_over, is_paid, next_sale, order, unlock
from tests.e2e.till.signing_in import sign_in_to_till
from tests.waiting import until

# A split sale, refunds and what is refused on the way. Each answer is the names of its fields, or a refusal's code.
SELL_AT_BOTH = """async () => {
  const till = document.querySelector("script[type=module]").src.replace("app.js", "");
  const [{ desk }, { update }] = [await import(`${till}desk.js`), await import(`${till}state.js`)];
  const tent = await (await fetch("/v1/product/TENT-04")).json();
  const line = { skuCode: "TENT-04", name: tent.name, options: {}, quantity: 1, unitPrice: tent.price };
  const sale = { id: "practice", kind: "ORDER", lines: [line], unresolved: [], paid: [], basket: null };
  update({ sale: { ...sale, currency: "gbp" } });
  const answers = [];
  const ask = async (name, ...given) => {
    try {
      const answer = await desk()[name](...given);
      const body = answer.body ?? answer;
      answers.push([name, answer.status ?? null, Object.keys(body).sort()]);
      return body;
    } catch (error) {
      answers.push(error.code);
      return null;
    }
  };
  const lines = [{ skuCode: "TENT-04", quantity: 1 }];
  const basket = await ask("createBasket", lines);
  await ask("updateBasket", basket.id, lines, basket.revision + 5);
  await ask("submitBasket", basket.id);
  const cash = { orderId: basket.id, amount: 500, tendered: 400, currency: "gbp" };
  await ask("takeCash", cash, crypto.randomUUID());
  await ask("takeCash", { ...cash, amount: basket.total + 1, tendered: undefined }, crypto.randomUUID());
  const key = crypto.randomUUID();
  const part = await ask("takeCash", { ...cash, tendered: 1000 }, key);
  const again = await ask("takeCash", { ...cash, tendered: 1000 }, key);
  answers.push([part.id === again.id, part.changeInPence]);
  await ask("updateBasket", basket.id, lines, basket.revision);
  const intent = await ask("createIntent", { orderId: basket.id }, crypto.randomUUID());
  await ask("createIntent", { orderId: basket.id }, crypto.randomUUID());
  await ask("captureIntent", intent.id);
  await ask("presentCard", intent.id, intent.clientSecret, "removed_early");
  const declined = await ask("presentCard", intent.id, intent.clientSecret, "insufficient");
  answers.push([declined.lastError.declineCode]);
  await ask("captureIntent", intent.id);
  await ask("presentCard", intent.id, intent.clientSecret, "visa");
  const captured = await ask("captureIntent", intent.id);
  const { transaction } = captured;
  answers.push([transaction.cardBrand, transaction.cardLast4, Object.keys(transaction).sort()]);
  await ask("cancelIntent", intent.id);
  const paid = await ask("readBasket", basket.id);
  answers.push([paid.amountDue, paid.paymentState, Object.keys(paid.payments[0]).sort()]);
  await ask("submitBasket", basket.id);
  await ask("voidCash", part.id, "Wrong", crypto.randomUUID());
  await ask("refund", part.id, { amountInPence: 501, reason: "Broken", tender: "CASH" }, crypto.randomUUID());
  await ask("refund", part.id, { amountInPence: 100, reason: "Broken", tender: "CASH" }, crypto.randomUUID());
  const left = await ask("readTransaction", part.id);
  answers.push([left.status, left.refundedAmount]);
  await ask("readIntent", intent.id);
  const { receipt } = await ask("receipt", part.id);
  answers.push(Object.keys(receipt).sort());
  await ask("listTransactions", { pageSize: 1, pageNumber: 1, tenderType: "CASH" });
  update({ sale: null });
  return answers;
}"""
SELLING = ("/v1/pos/", "/v1/basket")


def test_training_charges_declines_and_loses_answers_without_a_request_to_the_shops_till(
    phone: BrowserContext, api: Callable[..., dict]
) -> None:
    sent: list[str] = []
    phone.on(
        "request", lambda request: sent.append(request.url) if changes_the_shop(request.method, request.url) else None
    )
    page = sign_in_to_till(phone.new_page())
    before = api("GET", "/v1/pos/tml_demo_market/transactions")["totalItems"]
    switch_training(page)
    expect(page.get_by_text("No money moves.")).to_be_visible()

    charge(page, "1250", "declined")
    status = page.get_by_role("status", name="Payment")
    expect(status).to_contain_text("Declined")
    page.get_by_role("button", name="Try another card").click()
    tap(page, "pin_required")
    page.get_by_role("textbox", name="PIN on the reader").fill("1234")
    page.get_by_role("button", name="Confirm PIN").click()
    expect(page.get_by_role("heading", name="Paid")).to_be_visible()
    expect(page.get_by_role("img", name="Receipt code")).to_be_visible()
    page.get_by_role("textbox", name="E-mail for the receipt").fill("sam@example.com")
    page.get_by_role("button", name="Send receipt").click()
    expect(page.get_by_role("alert").get_by_text("Training: no e-mail is sent.")).to_be_visible()
    page.get_by_role("button", name="New sale").click()

    charge(page, "700", "lost_response")
    expect(page.get_by_role("heading", name="Paid")).to_be_visible()
    page.get_by_role("button", name="New sale").click()

    page.get_by_role("link", name="Transactions").click()
    expect(page.get_by_role("link", name="£12.50").filter(has_text="Visa •••• 0008")).to_contain_text("Paid")
    expect(page.get_by_text("2 payments")).to_be_visible()
    refund_all(page)
    expect(page.get_by_text("All of it was given back.")).to_be_visible()

    assert sent == []
    assert api("GET", "/v1/pos/tml_demo_market/transactions")["totalItems"] == before


def test_a_training_payment_outlives_a_reload_and_training_ends_only_after_it(phone: BrowserContext) -> None:
    page = sign_in_to_till(phone.new_page())
    switch_training(page)
    begin_payment(page, "500")
    expect(page.get_by_role("group", name="Simulated cards")).to_be_visible()
    page.reload()
    unlock(page)
    expect(page.get_by_role("group", name="Simulated cards")).to_be_visible()
    expect(page.get_by_text("No money moves.")).to_be_visible()

    page.goto("/till/session")
    unlock(page)
    tap(page, "stuck_capture")  # The payment comes before everything else.
    expect(page.get_by_role("heading", name="Paid")).to_be_visible()
    page.goto("/till/settings")
    unlock(page)
    page.get_by_role("switch", name="Training mode").click()
    expect(page.get_by_text("Finish the sale under way first.")).to_be_visible()
    page.goto("/till/done")
    unlock(page)
    page.get_by_role("button", name="New sale").click()

    page.get_by_role("link", name="Session").click()
    expect(page.get_by_text("Training has no work session")).to_be_visible()
    page.get_by_role("link", name="Back").click()
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("switch", name="Training mode").click()
    expect(page.get_by_text("No money moves.")).to_be_hidden()
    assert stored(page, "device", "training") is None
    page.get_by_role("link", name="Back").click()
    page.get_by_role("link", name="Transactions").click()
    expect(page.get_by_role("link", name="£5.00").filter(has_text="Visa •••• 4242")).to_be_hidden()


def test_training_takes_cards_without_a_network_and_in_every_tab(phone: BrowserContext) -> None:
    page = sign_in_to_till(phone.new_page())
    other = phone.new_page()
    other.goto("/till")
    unlock(other)
    switch_training(page)
    expect(other.get_by_text("No money moves.")).to_be_visible()
    other.close()
    page.get_by_role("link", name="Back").click()
    until(lambda: page.evaluate("navigator.serviceWorker.controller !== null"))  # All of the app is on the device.
    phone.set_offline(True)
    charge(page, "1105", "visa")
    is_paid(page)
    next_sale(page)

    order(page, CANDLES, TEALIGHTS)
    go(page, "/till/pay")
    expect(page.get_by_text("£32.00").first).to_be_visible()
    page.get_by_role("button", name="Cash", exact=True).click()
    hand_over(page, "£40.00")
    is_paid(page)
    expect(change_of(page)).to_contain_text("£8.00")
    next_sale(page)
    assert stored(page, "offline", None) == []
    page.get_by_role("link", name="Transactions").click()
    expect(page.get_by_role("link", name="£32.00")).to_contain_text("TRAINING-1")


def test_training_answers_as_the_shop_does(phone: BrowserContext) -> None:
    page = sign_in_to_till(phone.new_page())
    by_the_shop = page.evaluate(SELL_AT_BOTH)
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("switch", name="Training mode").click()
    expect(page.get_by_role("switch", name="Training mode")).to_be_checked()
    for shop, training in zip(by_the_shop, page.evaluate(SELL_AT_BOTH), strict=True):
        assert training == shop
    codes = [answer for answer in by_the_shop if isinstance(answer, str)]
    assert len(codes) == 12, codes  # The refusals. The others are the names of what an answer has.


def changes_the_shop(method: str, url: str) -> bool:
    return method != "GET" and any(path in url for path in SELLING)


def switch_training(page: Page) -> None:
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("switch", name="Training mode").click()
    expect(page.get_by_role("switch", name="Training mode")).to_be_checked()


def begin_payment(page: Page, digits: str) -> None:
    if page.get_by_role("heading", name="Settings").is_visible():
        page.get_by_role("link", name="Back").click()
    page.get_by_role("button", name="Quick payment").click()
    for digit in digits:
        page.get_by_role("group", name="Amount").get_by_role("button", name=digit, exact=True).click()
    page.get_by_role("button", name="Card").click()


def charge(page: Page, digits: str, card: str) -> None:
    begin_payment(page, digits)
    tap(page, card)


def tap(page: Page, card: str) -> None:
    page.get_by_role("group", name="Simulated cards").get_by_role("button", name=card, exact=True).click()


def refund_all(page: Page) -> None:
    page.get_by_role("link", name="£7.00").click()
    page.get_by_role("button", name="Refund").click()
    dialog = page.get_by_role("dialog", name="Refund")
    dialog.get_by_role("textbox", name="Reason").fill("Practice")
    dialog.get_by_role("button", name="Refund £7.00").click()
    expect(page.get_by_text("goes back to the card")).to_be_visible()


def stored(page: Page, store: str, key: str | None) -> object:
    """A record of the app, or without a key all of a store."""
    return page.evaluate(
        """([store, key]) => new Promise((resolve, reject) => {
          const opening = indexedDB.open("till");
          opening.onerror = reject;
          opening.onsuccess = () => {
            const records = opening.result.transaction(store).objectStore(store);
            const asked = key === null ? records.getAll() : records.get(key);
            asked.onsuccess = () => { opening.result.close(); resolve(asked.result ?? null); };
          };
        })""",
        [store, key],
    )
