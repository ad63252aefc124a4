"""What tests of cash do at the till, and what they lose on the way."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Page, Route, expect

from tests.e2e.till.signing_in import PIN

TILL = "/v1/pos/tml_demo_market"
CASH = re.compile(r"/v1/pos/[^/]+/cashPayments$")
OFFLINE = re.compile(r"/v1/pos/[^/]+/offlineSales$")
CANDLES = {"skuCode": "CANDLE-05", "name": "Beeswax dinner candles", "unitPrice": 18_00}  # Always in stock.
TEALIGHTS = {"skuCode": "CANDLE-06", "name": "Beeswax tealights", "unitPrice": 14_00}

IS_INSTALLED = """
() => new Promise((resolve) => {
  if (navigator.serviceWorker.controller) resolve();
  else navigator.serviceWorker.addEventListener("controllerchange", () => resolve(), { once: true });
})
"""

# Runs what follows with a module of the app as `module`.
WITH_MODULE = """async ([name, argument]) => {
  const app = document.querySelector("script[type=module]").src;
  const module = await import(app.replace("app.js", name));
  %s
}"""


def in_app(page: Page, module: str, code: str, argument: object = None) -> Any:
    """Run JavaScript in the app; `module` is its module of that file."""
    return page.evaluate(WITH_MODULE % code, [module, argument])


def order(page: Page, *lines: dict[str, object]) -> None:
    """Build an order of one each of these lines."""
    build = """
      const { addLine } = await import(app.replace("app.js", "order_lines.js"));
      await module.startOrder();
      for (const line of argument) await addLine(line);
    """
    in_app(page, "sale.js", build, list(lines))


def go(page: Page, path: str) -> None:
    """Go to a screen as a link does."""
    in_app(page, "navigation.js", "module.go(argument)", path)


def quick_payment(page: Page, amount: int) -> None:
    """Begin to take an amount in cash."""
    page.get_by_role("button", name="Quick payment").click()
    keys = page.get_by_role("group", name="Amount")
    for digit in str(amount):
        keys.get_by_role("button", name=digit, exact=True).click()
    page.get_by_role("button", name="Cash", exact=True).click()


def pay_order(page: Page, *lines: dict[str, object]) -> None:
    """Begin to take an order in cash."""
    order(page, *lines)
    go(page, "/till/pay")
    page.get_by_role("button", name="Cash", exact=True).click()


def hand_over(page: Page, note: str) -> None:
    """Take cash: the customer hands over a note, or the exact amount."""
    received = page.get_by_role("group", name="Cash received")
    received.get_by_role("button", name=note, exact=True).click()
    page.get_by_role("button", name="Take cash").click()


def change_of(page: Page) -> Locator:
    """What is shown as change, on the screen of the payment as on the one after it."""
    return page.get_by_text("Change", exact=True).locator("..")


def is_paid(page: Page) -> None:
    expect(page.get_by_role("heading", name="Paid")).to_be_visible()


def next_sale(page: Page) -> None:
    page.get_by_role("button", name="New sale").click()
    expect(page.get_by_role("button", name="Quick payment")).to_be_enabled()


def lose_answers(page: Page, address: re.Pattern[str], times: int | None = 1) -> None:
    """The request arrives, and its answer does not."""

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route(address, lose, **({"times": times} if times else {}))


def installed(page: Page) -> Page:
    """Once the app is installed. The policy of the page forbids the driver's own waiting."""
    page.evaluate(IS_INSTALLED)
    return page


def lose_network(page: Page) -> None:
    """The network is gone, after the app was installed."""
    installed(page)
    page.context.set_offline(True)


def reopen(page: Page) -> Page:
    """The tab is lost with everything that it did, and the app is opened anew."""
    context = page.context
    page.close()
    fresh = context.new_page()
    fresh.goto("/till")
    return unlock(fresh)


def unlock(page: Page) -> Page:
    page.get_by_role("textbox", name="PIN").fill(PIN)
    page.get_by_role("button", name="Unlock").click()
    return page


def cash_of(api: Callable[..., dict[str, Any]], amount: int) -> list[str]:
    """The statuses of the shop's cash payments of an amount; each test has amounts of its own."""
    payments = api("GET", f"{TILL}/transactions?pageSize=100&tenderType=CASH")["items"]
    return [one["status"] for one in payments if one["amountInPence"] == amount]
