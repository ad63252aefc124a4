"""Agents who sell over a bad line: each order is paid by two or three parts, by card and in cash, and each request is
sent again under its key until it is answered. What they saw is what the shop must have."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tests.fakes.stripe_ledger import Refusal
from tests.fakes.stripe_server import StripeServer
from tests.faults.browser import HOST

ACCOUNT, STALL = "acct_mine", "tml_fair"
TILL = f"/v1/pos/{STALL}"
NO_ANSWER = 0
PATIENCE, CUSTOMERS_PATIENCE = 90, 6  # Seconds. A fault that is stored under a key is repeated for a day.
SENT_AGAIN = {NO_ANSWER, 202, 401, 502, 503, 504}
FAILED_FOR_GOOD = frozenset({502})  # A refund that the processor refused.
NOT_YET = {"idempotency_in_progress", "outcome_unknown"}
Answer = tuple[int, dict[str, Any]]


class NobodyKnows(Exception):
    """What came of a payment by card."""


@dataclass
class Drawer:
    """What customers handed over, less their change and what was given back."""

    cash: int = 0
    taken: set[str] = field(default_factory=set)
    taken_back: set[str] = field(default_factory=set)
    given_back: int = 0


@dataclass
class SplitAgent:
    """An agent with a phone and a drawer. `paid` has the total of each order that the agent saw as submitted, `left`
    what was paid of each that was given up. `unclear_refunds` may have been made."""

    number: int
    port: int
    stripe: StripeServer
    token: str
    chance: random.Random
    drawer: Drawer = field(default_factory=Drawer)
    tips: int = 0
    refunded_to_cards: int = 0
    unclear_refunds: int = 0
    paid: dict[str, int] = field(default_factory=dict)
    left: dict[str, int] = field(default_factory=dict)
    answers: Counter[str] = field(default_factory=Counter)

    def sell(self, numbers: Iterator[int]) -> None:
        """One sale for each number; where nobody knows what came of a payment, the customer begins anew."""
        for number in numbers:
            for tries in count():
                with suppress(NobodyKnows):
                    self._sell(f"{self.number}-{number}-{tries}")
                    break

    def _sell(self, key: str) -> None:
        lines = [{"skuCode": f"sku-{self.chance.randrange(100)}", "quantity": self.chance.randint(1, 9)}]
        _, basket = self._insist("POST", "/v1/basket", {"locationId": STALL, "lines": lines})
        order_id = basket["id"]
        for position, amount in enumerate(self._parts(basket["total"])):
            pay = self._pay_in_cash if self.chance.random() < 0.5 else self._pay_by_card
            transaction_id = pay(order_id, f"{key}-{position}", amount)
            self.left[order_id] = self.left.get(order_id, 0) + amount
        status, submitted = self._insist("PUT", f"/v1/basket/{order_id}/submit")
        assert (status, submitted.get("status")) == (200, "SUBMITTED"), submitted
        self.paid[order_id] = self.left.pop(order_id)
        if self.chance.random() < 0.15:
            self._refund(transaction_id, key, "CARD" if pay == self._pay_by_card else "CASH")

    def _parts(self, total: int) -> list[int]:
        cuts = sorted(self.chance.sample(range(100, total - 100), self.chance.choice((1, 2))))
        cuts = [cut for cut, before in zip(cuts, [0, *cuts], strict=False) if cut - before >= 100]
        return [after - before for before, after in zip([0, *cuts], [*cuts, total], strict=True)]

    def _pay_in_cash(self, order_id: str, key: str, amount: int) -> str:
        payment = self._take_cash(order_id, key, amount)
        if self.chance.random() < 0.15:
            self._take_back(payment)
            payment = self._take_cash(order_id, f"{key}-again", amount)
        return str(payment["id"])

    def _take_cash(self, order_id: str, key: str, amount: int) -> dict[str, Any]:
        handed = amount + self.chance.choice((5, 100, 737))
        body = {"amountInPence": amount, "tenderedInPence": handed, "orderId": order_id}
        status, payment = self._insist("POST", f"{TILL}/cashPayments", body, key)
        assert status == 201, payment
        assert payment["changeInPence"] == handed - amount - payment["roundingInPence"]
        self.drawer.cash += handed - payment["changeInPence"]
        self.drawer.taken.add(payment["id"])
        return payment

    def _take_back(self, payment: dict[str, Any]) -> None:
        status, body = self._insist("POST", f"{TILL}/transactions/{payment['id']}/void", {"reason": "Wrong note"})
        assert status == 200, body
        self.drawer.cash -= payment["amountInPence"] + payment["roundingInPence"]
        self.drawer.taken_back.add(payment["id"])

    def _pay_by_card(self, order_id: str, key: str, amount: int) -> str:
        tip = self.chance.choice((0, 0, 150))
        body = {"locationId": STALL, "amountInPence": amount, "tipInPence": tip}
        for tries in count():
            status, intent = self._begin(f"/v1/basket/{order_id}/paymentIntent", body, f"{key}-{tries}")
            if status == 201 and self._is_tapped(intent["id"]) and self._is_captured(intent["id"]):
                self.tips += tip
                return str(intent["transactionId"])
            assert status == 201 or intent["code"] == "payment_failed", intent
        raise AssertionError("count() does not end")

    def _begin(self, path: str, body: object, key: str) -> Answer:
        try:
            return self._insist("POST", path, body, key, patience=CUSTOMERS_PATIENCE)
        except TimeoutError:
            raise NobodyKnows from None

    def _is_captured(self, intent_id: str) -> bool:
        """Whether the till heard that a card paid; False for a payment that was given up meanwhile."""
        status, code = NO_ANSWER, ""
        while status != 200 and code != "payment_canceled":
            status, captured = self._insist("POST", f"{TILL}/paymentIntents/{intent_id}/capture")
            code = captured.get("code", "")
        return status == 200

    def _is_tapped(self, intent_id: str) -> bool:
        """Whether a card paid; False for a payment that was given up meanwhile."""
        cards = ["visa"] if self.chance.random() < 0.8 else ["insufficient", "mastercard"]
        with suppress(Refusal):
            for card in cards:
                self.stripe.tap(ACCOUNT, intent_id, card)
            return True
        return False

    def _refund(self, transaction_id: str, key: str, tender: str) -> None:
        body = {"amountInPence": 100, "reason": "One was broken", "tender": tender}
        for tries in count():
            path = f"{TILL}/transactions/{transaction_id}/refunds"
            try:
                status, refund = self._insist(
                    "POST", path, body, f"{key}-refund-{tries}", FAILED_FOR_GOOD, CUSTOMERS_PATIENCE
                )
            except TimeoutError:
                self.unclear_refunds += 100
                return
            if status == 201 and tender == "CASH":
                self.drawer.given_back += 100 + refund["roundingInPence"]
            elif status == 201:
                self.refunded_to_cards += 100
            if status == 201:
                return

    def _insist(
        self,
        method: str,
        path: str,
        body: object = None,
        key: str = "",
        final: frozenset[int] = frozenset(),
        patience: float = PATIENCE,
    ) -> Answer:
        """Ask until the answer is final: done, or refused for good. Raises TimeoutError."""
        deadline = time.monotonic() + patience
        while True:
            status, answer = self._call(method, path, body, key)
            code = answer.get("code", "")
            self.answers[f"{status} {code}".strip()] += 1
            if status not in SENT_AGAIN - final and code not in NOT_YET:
                return status, answer
            if time.monotonic() > deadline:
                raise TimeoutError(f"{method} {path} {key}: {status} {answer}")
            time.sleep(0.05)

    def _call(self, method: str, path: str, body: object, key: str) -> Answer:
        headers = {"Host": HOST, "Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        if key:
            headers["Idempotency-Key"] = key
        with _connection(self.port) as connection:
            try:
                connection.request(method, path, None if body is None else json.dumps(body), headers)
                answer = connection.getresponse()
                return answer.status, json.loads(answer.read())
            except (OSError, http.client.HTTPException):
                return NO_ANSWER, {}


@contextmanager
def _connection(port: int) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        yield connection
    finally:
        connection.close()


class Numbers:
    """The numbers of sales, which several agents take from."""

    def __init__(self, most: int) -> None:
        self._numbers, self._lock, self.taken = iter(range(most)), threading.Lock(), 0

    def __iter__(self) -> Numbers:
        return self

    def __next__(self) -> int:
        with self._lock:
            number = next(self._numbers)
            self.taken = number + 1
            return number
