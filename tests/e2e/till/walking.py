"""Somebody who sells at a till while everything goes wrong: each step looks at the screen and does what leads to the
end of the sale, and before each step something may happen to the tab, the network, the next request or the server."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Error, Locator, Page

from tests.e2e.till.books import Books
from tests.e2e.till.selling import CANDLES, TEALIGHTS, go, in_app, order
from tests.e2e.till.signing_in import PASSWORD, PIN, set_up_pin
from tests.e2e.till.web_server import MortalShop
from tests.waiting import until

OF_SALES = re.compile(r" /v1/(basket|pos/.*(paymentIntent|paymentToken|capture|cancel|cashPayments|offlineSales))")
CARDS = ["visa", "visa", "mastercard", "declined", "insufficient", "lost_response", "timeout_not_charged"]
CARDS += ["stuck_capture", "removed_early", "slow"]
PLANS = [(kind, tender) for kind in ("QUICK", "ORDER", "PARTS") for tender in ("CARD", "CASH")]
MOST_UNLOCKS = 22  # The shop lets a session refresh 30 times an hour.
MOMENT = 1_500  # Milliseconds until something that was on the screen counts as gone.
MOST_STEPS_OFFLINE = 5
MOST_SECONDS = 120  # For a sale.
SEEN = """
() => {
  const name = (one) => (one.getAttribute("aria-label") ?? one.textContent).trim();
  const names = (which) => [...document.querySelectorAll(which)].map(name);
  return {
    heading: document.querySelector("h1")?.textContent ?? "", links: names("a"),
    buttons: names("button:enabled:not([aria-busy])"),
    dialog: document.querySelector("dialog h2")?.textContent ?? "", text: document.body.innerText,
  };
}
"""
TAP_TWICE = "button => { button.click(); button.click(); }"


@dataclass
class Seller:
    """`chance` decides everything, `said` has what was done. `page` is another one after a tab was closed."""

    page: Page
    shop: MortalShop
    books: Books
    chance: random.Random
    said: list[str] = field(default_factory=list)
    noted: set[str] = field(default_factory=set)
    unlocks: int = 0
    offline_for: int = 0
    _seen: int = 0

    def sell(self) -> None:
        """One sale to its end, then all is well again, and the books are compared."""
        kind, tender = self.chance.choice(PLANS)
        self._plan, self._is_noted, self._has_given_up = (kind, tender), False, self.chance.random() < 0.7
        self._amount = 10 * self.chance.randint(10, 999)  # The simulator declines some that end in 1 or 5.
        self.said.append(f"-- {kind} {tender}")
        until(self._step, MOST_SECONDS)
        self._set_right()
        until(self._is_at_start)
        self.books.wait_for_log(self.page)
        self.books.check()
        self.books.check_device(self.page)

    def _step(self) -> bool:
        """Whether the sale is over."""
        self._disturb()
        try:
            return self._act(self.page.evaluate(SEEN))
        except Error as changed:
            if "Timeout" not in str(changed) and "context was destroyed" not in str(changed):
                raise
            return False

    def _act(self, seen: dict[str, Any]) -> bool:
        if seen["dialog"]:
            self._choose_part()
            return False
        screens = {
            "Sign in": lambda _seen: self._sign_in(),
            "Quick unlock": lambda _seen: set_up_pin(self.page),
            "Locked": lambda _seen: self._unlock(),
            "Paid": self._leave,
            "Take payment": self._pay,
            "Quick payment": self._charge_quick,
            "Order": self._charge_order,
            "Parked orders": lambda _seen: self._press("Resume"),
            "Market stall": self._begin,
        }
        return bool(screens.get(seen["heading"], lambda _seen: None)(seen))

    def _begin(self, seen: dict[str, Any]) -> bool:
        if any(link.startswith("Go on with the sale") for link in seen["links"]):
            self.page.get_by_role("link", name="Go on with the sale").click(timeout=MOMENT)
        elif self._is_noted:
            return True
        elif "Quick payment" in seen["buttons"] and self._plan[0] == "QUICK":
            self._press("Quick payment")
        elif "New order" in seen["buttons"]:
            order(self.page, CANDLES, TEALIGHTS)
            go(self.page, "/till/order")
        return False

    def _charge_quick(self, seen: dict[str, Any]) -> None:
        if f"£{self._amount / 100:.2f}" in seen["text"]:
            self._tap(self._plan[1].capitalize())
        else:
            self.page.keyboard.press("Backspace")
            for digit in str(self._amount) if "£0.00" in seen["text"] else "":
                self.page.keyboard.press(digit)

    def _charge_order(self, seen: dict[str, Any]) -> None:
        if "Park" in seen["buttons"] and self.chance.random() < 0.2:
            self._press("Park")
        elif "Charge" in seen["buttons"] and "£" in seen["text"]:
            self._tap("Charge")
        elif any(link.startswith("Parked orders") for link in [*seen["buttons"], *seen["links"]]):
            go(self.page, "/till/parked")

    def _pay(self, seen: dict[str, Any]) -> None:
        buttons = seen["buttons"]
        if "under way in another tab" in seen["text"]:
            self._go_to_other_tab()
        elif "visa" in buttons and "Cancel payment" in buttons and not self._has_given_up:
            self._has_given_up = True
            self._tap("Cancel payment")
        elif "visa" in buttons:
            self._tap(self.chance.choice(CARDS))
        elif "Try another card" in buttons:
            self._tap("Try another card")
        elif "Take cash" in buttons:
            self._tap("Take cash")
        elif "Pay another way" in buttons:
            self._press("Pay another way")  # Without a network this takes another turn.
        elif "Card" in buttons and "Cash" in buttons:
            is_part = "due" in seen["text"] or "Paid so far" in seen["text"]
            self._tap("Part of the amount" if self._plan[0] == "PARTS" and not is_part else self._tender(seen))

    def _tender(self, seen: dict[str, Any]) -> str:
        """The rest of an order is paid the other way."""
        first = self._plan[1].capitalize()
        return {"Card": "Cash", "Cash": "Card"}[first] if "Paid so far" in seen["text"] else first

    def _choose_part(self) -> None:
        self.page.get_by_role("textbox", name="Part to pay now").fill(str(self.chance.randint(3, 20)), timeout=MOMENT)
        self._press("Take this part")

    def _leave(self, seen: dict[str, Any]) -> None:
        """Note what the screen shows as paid, once, and go on to the next sale."""
        sale = in_app(self.page, "state.js", "return module.app().sale")
        if sale["id"] not in self.noted:
            paid = [(one["tenderType"], one["amountInPence"]) for one in sale["paid"]]
            if sale.get("offline"):
                paid = [("CASH", sale["offline"]["toPay"])]
            assert f"£{sum(amount for _tender, amount in paid) / 100:.2f}" in seen["text"]
            self.said.append(f"paid {paid}")
            self.books.paid += paid
            self.books.orders_paid += sale["kind"] == "ORDER"
            self.noted.add(sale["id"])
            self._is_noted = True
        self._tap("New sale")

    def _tap(self, name: str) -> None:
        """Press once, or twice at once."""
        self._press(name, twice=self.chance.random() < 0.3)

    def _press(self, name: str, twice: bool = False) -> None:
        button: Locator = self.page.get_by_role("button", name=name, exact=True).first
        self.said.append(f"press {name}{' twice' if twice else ''}")
        if twice:
            button.evaluate(TAP_TWICE, timeout=MOMENT)
        else:
            button.click(timeout=MOMENT)

    def _unlock(self) -> None:
        self.page.get_by_role("textbox", name="PIN").fill(PIN, timeout=MOMENT)
        self._press("Unlock")
        self.unlocks += 1

    def _sign_in(self) -> None:
        """A refresh whose answer was lost and that came again too late ends the session, as a stolen token would."""
        self.said.append("sign in")
        self.page.get_by_role("textbox", name="E-mail").fill("agent@demo.test", timeout=MOMENT)
        self.page.get_by_role("textbox", name="Password").fill(PASSWORD, timeout=MOMENT)
        self._press("Sign in")
        self.unlocks = 0

    def _disturb(self) -> None:
        if self.offline_for and (self.offline_for > MOST_STEPS_OFFLINE or self.chance.random() < 0.3):
            self._go_online()
        elif self.offline_for:
            self.offline_for += 1
        has_acted, self._seen = len(self.said) > self._seen, len(self.said)
        if self.chance.random() > (0.3 if has_acted else 0.05):
            return
        on_the_way = [self._lose_request, self._lose_answer, self._lose_answer, self._go_offline, self._kill_server]
        what = self.chance.choice([*on_the_way, self._open_tab])
        if self.unlocks < MOST_UNLOCKS and self.chance.random() < 0.4:
            what = self.chance.choice([self._reload, self._close, self._lock])
        self.said.append(what.__name__)
        what()

    def _lose_request(self) -> None:
        self.shop.network.loses_request = self._once()

    def _lose_answer(self) -> None:
        self.shop.network.loses_answer = self._once()

    def _once(self) -> Callable[[str], bool]:
        left = [1]

        def is_lost(request: str) -> bool:
            return bool(OF_SALES.search(request) and left and left.pop())

        return is_lost

    def _go_offline(self) -> None:
        self.page.context.set_offline(True)
        self.offline_for = 1

    def _go_online(self) -> None:
        self.said.append("online")
        self.page.context.set_offline(False)
        self.offline_for = 0

    def _kill_server(self) -> None:
        self.shop.dies(self.chance.choice(("before", "amid", "after")), OF_SALES)

    def _open_tab(self) -> None:
        """Another tab is used from now on; the one before stays open, those before it are closed."""
        for page in self.page.context.pages:
            if page != self.page:
                page.close()
        self.page = self.page.context.new_page()
        self.page.goto("/till")

    def _go_to_other_tab(self) -> None:
        self.said.append("other tab")
        self.page = next((page for page in self.page.context.pages if page != self.page), self.page)

    def _reload(self) -> None:
        self.page.reload()

    def _close(self) -> None:
        context = self.page.context
        self.page.close()
        self.page = context.new_page()
        self.page.goto("/till")

    def _lock(self) -> None:
        in_app(self.page, "session.js", "module.lock();")

    def _set_right(self) -> None:
        self.shop.network.is_good()
        if self.offline_for:
            self._go_online()
        for page in self.page.context.pages:
            if page != self.page:
                page.close()

    def _is_at_start(self) -> bool:
        seen = self.page.evaluate(SEEN)
        if seen["heading"] == "Locked":
            self._unlock()
        return seen["heading"] == "Market stall" and "Quick payment" in seen["buttons"]
