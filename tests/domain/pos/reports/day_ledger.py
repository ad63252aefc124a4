"""A day at a stall written down by hand: what happens at the till, and the figures that its X and Z reports must have.
Cash is rounded to 5, and all amounts are pence. Each way to the till plays the same day."""

from __future__ import annotations

from typing import Any, Protocol

VISA, AMEX = "4242", "0005"
FAIR, SHOP = "tml_fair", "tml_shop"


class Till(Protocol):
    """A way to the till. `sale` is the name by which the ledger knows a payment."""

    def sign_in(self) -> None: ...

    def set_float(self, amount: int) -> None: ...

    def cash(self, sale: str, amount: int, place: str = FAIR) -> None: ...

    def card(self, sale: str, card: str, amount: int, tip: int = 0) -> None: ...

    def begin(self, amount: int) -> None:
        """Begin a card payment for which no card is held to the reader."""

    def void(self, sale: str) -> None: ...

    def move(self, type: str, amount: int) -> None: ...

    def refund(self, sale: str, amount: int, tender: str) -> None: ...

    def report(self) -> dict[str, Any]:
        """Return the X report in the words of the API."""

    def close(self, counted: int) -> dict[str, Any]:
        """Return the Z report."""

    def report_again(self) -> dict[str, Any]:
        """Return the Z report of the session that was closed last, as it is now."""


def play_yesterday(till: Till) -> dict[str, Any]:
    till.sign_in()
    till.card("yesterday's", VISA, 800)
    return till.close(0)


YESTERDAY = {
    "zNumber": 1,
    "tenders": {
        "cash": {"sales": 0, "refunds": 0, "count": 0},
        "card": {
            "sales": 800,
            "refunds": 0,
            "count": 1,
            "byBrand": [{"brand": "visa", "sales": 800, "refunds": 0, "count": 1}],
        },
    },
    "expectedCash": 0,
    "difference": 0,
    "cashDifference": None,
}


def play_today(till: Till) -> None:
    till.sign_in()  #                                    drawer
    till.set_float(10_000)  #                            10,000
    till.cash("mugs", 1_250)  #                  1,250   11,250
    till.cash("tea", 333)  #               as      335   11,585
    till.cash("cake", 1_001, SHOP)  #      as    1,000   12,585
    till.card("tent", VISA, 2_000, tip=300)
    till.card("stove", AMEX, 5_000)
    till.cash("mistake", 700)  #                   700   13,285
    till.void("mistake")  #                       -700   12,585
    till.begin(400)
    till.move("PAY_IN", 2_000)  #                2,000   14,585
    till.move("PAY_OUT", 1_500)  #              -1,500   13,085
    till.move("DROP", 5_000)  #                 -5,000    8,085
    till.refund("mugs", 100, "CASH")  #           -100    7,985
    till.refund("tea", 33, "CASH")  #      as      -35    7,950
    till.refund("tent", 500, "CARD")
    till.refund("stove", 1_000, "CASH")  #      -1,000    6,950
    till.refund("yesterday's", 300, "CARD")


X = {
    "type": "X",
    "currency": "gbp",
    "tenders": {
        "cash": {"sales": 2_584, "refunds": 1_133, "count": 3},
        "card": {
            "sales": 7_000,
            "refunds": 800,
            "count": 2,
            "byBrand": [
                {"brand": "amex", "sales": 5_000, "refunds": 0, "count": 1},
                {"brand": "visa", "sales": 2_000, "refunds": 800, "count": 1},
            ],
        },
    },
    "total": {"count": 5, "gross": 9_584, "refundCount": 5, "refunds": 1_933, "net": 7_651},
    "tips": 300,
    "rounding": -1,  # 2 of the tea, -1 of the cake, less 2 of the tea given back.
    "movements": {"payIn": 2_000, "payOut": 1_500, "drop": 5_000},
    "unresolved": {"count": 1, "amount": 400},
    "openingFloat": 10_000,
    "expectedCash": 6_950,
    "countedCash": None,
    "difference": None,
    "cashDifference": None,
    "otherLocations": [
        {
            "locationId": SHOP,
            "displayName": "Shop",
            "cash": {"sales": 1_001, "count": 1},
            "card": {"sales": 0, "count": 0},
        }
    ],
    "zNumber": None,
}
COUNTED = 6_940
Z = X | {"type": "Z", "countedCash": COUNTED, "difference": -10, "cashDifference": -10, "zNumber": 2}


def play_tomorrow(till: Till) -> None:
    till.sign_in()
    till.refund("mugs", 1_150, "CASH")


TOMORROW = {
    "tenders": {
        "cash": {"sales": 0, "refunds": 1_150, "count": 0},
        "card": {"sales": 0, "refunds": 0, "count": 0, "byBrand": []},
    },
    "expectedCash": -1_150,
    "openingFloat": None,
}
# By type and amount, in their order; the sale of a card is with its tip.
JOURNAL = [
    ("SALE", 800),
    ("Z_REPORT", None),
    ("SALE", 1_250),
    ("SALE", 335),
    ("SALE", 1_000),
    ("SALE", 2_300),
    ("SALE", 5_000),
    ("SALE", 700),
    ("VOID", -700),
    ("PAY_IN", 2_000),
    ("PAY_OUT", -1_500),
    ("DROP", -5_000),
    ("REFUND", -100),
    ("REFUND", -35),
    ("REFUND", -500),
    ("REFUND", -1_000),
    ("REFUND", -300),
    ("Z_REPORT", None),
    ("REFUND", -1_150),
]


def assert_figures(report: dict[str, Any], expected: dict[str, Any]) -> None:
    assert {name: report[name] for name in expected} == expected


def check_days(till: Till) -> None:
    """Play three days and compare every report with the ledger."""
    assert_figures(play_yesterday(till), YESTERDAY)
    play_today(till)
    assert_figures(till.report(), X)
    z_report = till.close(COUNTED)
    assert_figures(z_report, Z)
    play_tomorrow(till)
    assert_figures(till.report(), TOMORROW)
    assert till.report_again() == z_report
