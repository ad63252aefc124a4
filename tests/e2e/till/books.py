"""The books of a running shop, read in its database: its ledger, and what its payment processor has charged."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Page

from tests.e2e.till.selling import in_app
from tests.processes import RunningShop
from tests.waiting import until

ENDED = {"SUCCEEDED", "CANCELLED", "FAILED"}
PAYMENTS = """
select id, tender_type, amount_in_pence, tip_in_pence, status, order_id, client_sale_id, created_at
from pos_transactions
"""
INTENTS = "select id, amount, status, metadata from simulator_intents"
ORDERS = "select id, status, total, paid_amount from orders where channel = 'POS'"
ON_THE_DISK = """
async () => {
  const opening = indexedDB.open("till");
  const db = await new Promise((resolve) => { opening.onsuccess = () => resolve(opening.result); });
  const all = (store) => new Promise((resolve) => {
    const reading = db.transaction(store).objectStore(store).getAll();
    reading.onsuccess = () => resolve(reading.result);
  });
  const found = { payments: await all("payments"), sales: await all("sales"), offline: await all("offline") };
  db.close();
  return found;
}
"""


@dataclass
class Books:
    """What was booked since this was made. `paid` is what the app showed as paid, by tender, in minor units."""

    shop: RunningShop
    paid: list[tuple[str, int]] = field(default_factory=list)
    orders_paid: int = 0

    def __post_init__(self) -> None:
        self._before = {row["id"] for query in (PAYMENTS, INTENTS, ORDERS) for row in self._rows(query)}

    def payments(self) -> list[dict[str, Any]]:
        return self._new(PAYMENTS)

    def wait_for_log(self, page: Page) -> None:
        """Once the app has sent every sale that it made without a network."""

        def is_sent() -> bool:
            in_app(page, "offline.js", "await module.sendWaiting();")
            return all(one["state"] == "SENT" for one in page.evaluate(ON_THE_DISK)["offline"])

        until(is_sent)

    def check(self) -> None:
        """The ledger has what the app showed as paid, the processor has charged what the ledger has of cards, and each
        order is submitted once, paid as a whole."""
        payments = self.payments()
        taken = [(one["tender_type"], one["amount_in_pence"]) for one in payments if one["status"] == "SUCCEEDED"]
        assert sorted(taken) == sorted(self.paid)
        assert {one["status"] for one in payments} <= ENDED
        charged = {
            json.loads(one["metadata"])["transactionId"]: one["amount"]
            for one in self._new(INTENTS)
            if one["status"] == "succeeded"
        }
        assert charged == {
            one["id"]: one["amount_in_pence"] + one["tip_in_pence"]
            for one in payments
            if one["tender_type"] == "CARD" and one["status"] == "SUCCEEDED"
        }
        self._check_orders(payments)

    def _check_orders(self, payments: list[dict[str, Any]]) -> None:
        orders = [one for one in self._new(ORDERS) if one["status"] != "OPEN"]
        assert len(orders) == self.orders_paid
        for order in orders:
            of_order = [one for one in payments if one["order_id"] == order["id"] and one["status"] == "SUCCEEDED"]
            assert sum(one["amount_in_pence"] for one in of_order) == order["paid_amount"] == order["total"]
        in_log = [one["client_sale_id"] for one in payments if one["client_sale_id"]]
        assert len(in_log) == len(set(in_log))

    def check_device(self, page: Page) -> None:
        """Nothing is left on the device of what was under way: no payment, no unsent sale, none paid in part."""
        found = page.evaluate(ON_THE_DISK)
        assert found["payments"] == []
        assert [one["state"] for one in found["offline"] if one["state"] != "SENT"] == []
        assert [one for one in found["sales"] if one["paid"] and not one["isFinished"]] == []

    def _new(self, query: str) -> list[dict[str, Any]]:
        return [row for row in self._rows(query) if row["id"] not in self._before]

    def _rows(self, query: str) -> list[dict[str, Any]]:
        with closing(sqlite3.connect(f"file:{self.shop.instance / 'shop.db'}?mode=ro", uri=True)) as database:
            database.row_factory = sqlite3.Row
            return [dict(row) for row in database.execute(query)]
