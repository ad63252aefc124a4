"""A day at a market stall and the morning after: a table of calls to the API and of the amounts of their answers,
written by hand. Cash is rounded to 5; the figure at the end of a line is what lies in the drawer, in pence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from app.domain.catalogue.models import Product
from app.domain.pos import journal
from app.domain.pos.journal_models import PosJournalEntry
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.v1.pos.conftest import FAIR, TillClient, Tills
from tests.factories import make_product
from tests.fakes.clock import StoppedClock

PRICES = {"MUG": 333, "TEAPOT": 2_500, "CAKE": 248}
MUGS = 5
SESSION, BASKET, HERE = "/v1/pos/sessions", "/v1/basket", f"/v1/pos/{FAIR}"
CASH, CARD, MOVE = f"POST {HERE}/cashPayments", f"POST {HERE}/paymentIntents", f"POST {HERE}/cashMovements"
# (name of the answer, call, body, status, what the answer has); {name.field} is a field of an earlier answer.
Call = tuple[str, str, Any, int, dict[str, Any]]


def cash(name: str, amount: int, handed_over: int | None, change: int, rounding: int, of: str | None = None) -> Call:
    body = {"amountInPence": amount, "tenderedInPence": handed_over, "orderId": of and f"{{{of}.id}}"}
    has = {"status": "SUCCEEDED", "tenderType": "CASH", "amountInPence": amount}
    return name, CASH, body, 201, has | {"changeInPence": change, "roundingInPence": rounding}


def card(name: str, digits: str, amount: int, tip: int = 0, of: str | None = None) -> list[Call]:
    body = {"amountInPence": amount, "tipInPence": tip} | ({"locationId": FAIR} if of else {})
    call = f"POST {BASKET}/{{{of}.id}}/paymentIntent" if of else CARD
    captured = f"POST {HERE}/paymentIntents/{{{name}.id}}/capture"
    has = {"status": "succeeded", "amountReceived": amount + tip}
    return [(name, call, body, 201, {"amount": amount + tip}), ("", f"TAP {digits}", f"{{{name}.id}}", 0, {}),
            (f"{name} paid", captured, None, 200, has)]  # fmt: skip


def basket(name: str, total: int, **quantities: int) -> Call:
    lines = [{"skuCode": sku, "quantity": quantity} for sku, quantity in quantities.items()]
    return name, f"POST {BASKET}", {"locationId": FAIR, "lines": lines}, 201, {"total": total, "amountDue": total}


def due(name: str, paid: int, amount: int) -> Call:
    return "", f"GET {BASKET}/{{{name}.id}}", None, 200, {"amountPaid": paid, "amountDue": amount}


def submit(name: str, number: str) -> Call:
    return "", f"PUT {BASKET}/{{{name}.id}}/submit", {}, 200, {"status": "SUBMITTED", "orderNumber": number}


def void(name: str) -> Call:
    return "", f"POST {HERE}/transactions/{{{name}.id}}/void", {"reason": "Mistyped"}, 200, {"status": "CANCELLED"}


def refund(of: str, amount: int, tender: str, rounding: int = 0) -> Call:
    body = {"amountInPence": amount, "reason": "Brought back", "tender": tender}
    has = {"status": "SUCCEEDED", "tender": tender, "amountInPence": amount, "roundingInPence": rounding}
    return "", f"POST {HERE}/transactions/{{{of}}}/refunds", body, 201, has


def move(kind: str, amount: int) -> Call:
    return "", MOVE, {"type": kind, "amountInPence": amount, "reason": "As agreed"}, 201, {"amountInPence": amount}


def refused(call: str, body: Any, status: int, code: str, **details: int) -> Call:
    return "", call, body, status, {"code": code} | details


OFFLINE = {
    "sales": [
        {
            "clientSaleId": "0a1b2c3d-0000-4000-8000-000000000001",
            "soldAt": "2026-11-20T12:05:00Z",
            "lines": [{"skuCode": "MUG", "quantity": 2, "unitPriceInPence": 300}],
            "tenderedInPence": 1_000,
        },
        {
            "clientSaleId": "0a1b2c3d-0000-4000-8000-000000000002",
            "soldAt": "2026-11-20T12:06:00Z",
            "lines": [{"skuCode": "CAKE", "quantity": 1, "unitPriceInPence": 248}],
        },
    ]
}
MORNING: list[Call] = [
    ("float", f"PUT {SESSION}/current", {"openingFloat": 10_000}, 200, {"openingFloat": 10_000}),  # 10,000
    cash("tea", 1_250, 2_000, change=750, rounding=0),  # 11,250
    cash("biscuit", 333, 500, change=165, rounding=2),  # 11,585
    basket("mugs", 999, MUG=3),
    cash("mugs paid", 999, 1_000, change=0, rounding=1, of="mugs"),  # 12,585
    submit("mugs", "1"),
    *card("lunch", "4242", 2_000, tip=300),
    basket("set", 2_996, TEAPOT=1, CAKE=2),
    cash("first part", 1_000, 1_000, change=0, rounding=0, of="set"),  # 13,585
    due("set", 1_000, 1_996),
    refused(f"PUT {BASKET}/{{set.id}}/submit", {}, 409, "payment_required", amountDueInPence=1_996),
    refused(CASH, {"amountInPence": 2_000, "orderId": "{set.id}"}, 422, "amount_exceeds_due", amountDueInPence=1_996),
    *card("second part", "4444", 1_500, tip=150, of="set"),
    due("set", 2_500, 496),
    refused(f"PUT {BASKET}/{{set.id}}", {"lines": [], "revision": 1}, 409, "basket_locked"),
    cash("last part", 496, 500, change=5, rounding=-1, of="set"),  # 14,080
    due("set", 2_996, 0),
    submit("set", "2"),
]
AFTERNOON: list[Call] = [
    cash("mistake", 700, None, change=0, rounding=0),  # 14,780
    void("mistake"),  # 14,080
    basket("mug", 333, MUG=1),
    cash("coins", 333, 335, change=0, rounding=2, of="mug"),  # 14,415
    void("coins"),  # 14,080
    due("mug", 0, 333),
    *card("by card instead", "0005", 333, of="mug"),
    submit("mug", "3"),
    refused(f"POST {HERE}/transactions/{{mugs paid.id}}/void", {"reason": "Too late"}, 409, "void_not_allowed"),
    refund("tea.id", 100, "CASH"),  # 13,980
    refund("biscuit.id", 33, "CASH", rounding=2),  # 13,945
    refund("lunch.transactionId", 500, "CARD"),
    refund("second part.transactionId", 250, "CASH"),  # 13,695
    move("PAY_IN", 2_000),  # 15,695
    move("PAY_OUT", 1_500),  # 14,195
    move("DROP", 5_000),  # 9,195
    ("", "WAIT 14", None, 0, {}),
    ("offline", f"POST {HERE}/offlineSales", OFFLINE, 200, {}),  # 600 and 250: 10,045
    ("again", f"POST {HERE}/offlineSales", OFFLINE, 200, {}),
]
X = {
    "type": "X",
    "tenders": {
        "cash": {"sales": 4_926, "refunds": 383, "count": 7},
        "card": {
            "sales": 3_833,
            "refunds": 500,
            "count": 3,
            "byBrand": [
                {"brand": "amex", "sales": 333, "refunds": 0, "count": 1},
                {"brand": "mastercard", "sales": 1_500, "refunds": 0, "count": 1},
                {"brand": "visa", "sales": 2_000, "refunds": 500, "count": 1},
            ],
        },
    },
    "tips": 450,
    "rounding": 2,  # 2 + 1 - 1 + 2, less 2 of the refund of the biscuit.
    "movements": {"payIn": 2_000, "payOut": 1_500, "drop": 5_000},
    "openingFloat": 10_000,
    "expectedCash": 10_045,
    "countedCash": None,
    "difference": None,
    "zNumber": None,
}
Z = X | {"type": "Z", "countedCash": 10_040, "difference": -5, "cashDifference": -5, "zNumber": 1}
EVENING: list[Call] = [
    ("x", f"GET {SESSION}/current/report", None, 200, X),
    ("z", f"POST {SESSION}/current/close", {"countedCash": 10_040}, 200, Z),
    refused(CASH, {"amountInPence": 100}, 401, "session_revoked"),
]
NEXT_DAY: list[Call] = [
    ("float", f"PUT {SESSION}/current", {"openingFloat": 5_000}, 200, {"openingFloat": 5_000}),  # 5,000
    refused(f"POST {HERE}/transactions/{{tea.id}}/void", {"reason": "Mistyped"}, 409, "void_not_allowed"),
    refund("tea.id", 1_150, "CASH"),  # 3,850
    ("z again", f"GET {SESSION}/{{z.session.id}}/report", None, 200, Z),
    ("z2", f"POST {SESSION}/current/close", {"countedCash": 3_850}, 200, {
        "tenders": {
            "cash": {"sales": 0, "refunds": 1_150, "count": 0},
            "card": {"sales": 0, "refunds": 0, "count": 0, "byBrand": []},
        },
        "expectedCash": 3_850,
        "difference": 0,
        "zNumber": 2,
    }),
]  # fmt: skip
JOURNAL = {
    ("SALE", "CASH"): 5_965,
    ("VOID", "CASH"): -1_035,
    ("REFUND", "CASH"): -1_535,
    ("SALE", "CARD"): 4_283,
    ("REFUND", "CARD"): -500,
    ("PAY_IN", "CASH"): 2_000,
    ("PAY_OUT", "CASH"): -1_500,
    ("DROP", "CASH"): -5_000,
}


class Day:
    """Makes the calls of the table, in an app where the agent signed in."""

    def __init__(self, clock: StoppedClock) -> None:
        self.clock = clock
        self.answers: dict[str, Any] = {}

    def play(self, till: TillClient, calls: list[Call]) -> None:
        for name, call, body, status, has in calls:
            verb, _, rest = self._filled(call).partition(" ")
            if verb == "TAP":
                till.processor.tap(self._filled(body), rest)
            elif verb == "WAIT":
                self.clock.move(minutes=int(rest))
            else:
                answer = till.api.call(verb, rest, self._filled(body))
                assert answer.status_code == status, (call, answer.text)
                assert {key: answer.json.get(key) for key in has} == has, call
                self.answers[name] = answer.json

    def _filled(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._filled(each) for key, each in value.items()}
        if isinstance(value, str) and "{" in value:
            before, _, rest = value.partition("{")
            path, _, after = rest.partition("}")
            name, *fields = path.split(".")
            found = self.answers[name]
            for field in fields:
                found = found[field]
            return f"{before}{found}{after}"
        return value


@pytest.fixture
def stall(app: Flask, fair: int, set_agent: Callable[..., None], set_site: Callable[..., None]) -> int:
    set_site(posCashRounding=5, posTipsEnabled=True)
    set_agent(can_refund=True, can_move_cash=True)
    with app.app_context(), transaction():
        site = db.session.get_one(Site, fair)
        for sku, price in PRICES.items():
            make_product(site, sku, price=price, stock=MUGS if sku == "MUG" else None)
    return fair


def test_a_market_day(app: Flask, stall: int, till: Tills, clock: StoppedClock) -> None:
    day, agent = Day(clock), till()
    day.play(agent, [*MORNING, *AFTERNOON])
    sent, again = day.answers["offline"]["items"], day.answers["again"]["items"]
    assert [[note["code"] for note in item["notes"]] for item in sent] == [["price_changed", "out_of_stock"], []]
    assert [item["result"] for item in sent + again] == ["ACCEPTED"] * 2 + ["DUPLICATE"] * 2
    day.play(agent, EVENING)
    day.play(till(), NEXT_DAY)
    assert day.answers["z again"] == day.answers["z"]
    assert sum(agent.processor.ledger().values()) == 4_283 - 500
    with app.app_context():
        assert journal.verify(stall, day.answers["z"]["journalHead"]).is_whole
        assert journal.head_of(stall) == day.answers["z2"]["journalHead"]
        written: Counter[tuple[str, str]] = Counter()
        for entry in db.session.query(PosJournalEntry).where(PosJournalEntry.type != "Z_REPORT"):
            written[entry.type, entry.tender_type] += entry.amount
        assert written == JOURNAL
        assert db.session.query(Product.stock).filter_by(sku="MUG").scalar() == 0
