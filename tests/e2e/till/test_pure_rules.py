"""The till's pure rules, which exist at the shop as well or are a person's first help: amounts, rounding, PINs."""

from __future__ import annotations

import random
from typing import Any

from playwright.sync_api import BrowserContext, Page

from app.domain.pos.rules import round_cash

SEED = 30
EXAMPLES = 2_000


def results(page: Page, module: str, function: str, arguments: list[list[object]]) -> list[Any]:
    """Call a function of a module of the till with each list of arguments."""
    script = """async ([module, name, calls]) => {
      const entry = document.querySelector("script[type=module]").src;
      const { [name]: called } = await import(new URL(module, entry));
      return calls.map((given) => called(...given));
    }"""
    found: list[Any] = page.evaluate(script, [f"./{module}.js", function, arguments])
    return found


def test_amounts_are_rounded_as_the_shop_rounds_and_read_as_they_are_written(phone: BrowserContext) -> None:
    page, chance = phone.new_page(), random.Random(SEED)
    page.goto("/till")
    amounts = [*range(30), *(chance.randrange(100_000_000) for _ in range(EXAMPLES))]
    for step in (0, 5, 10):
        assert results(page, "money", "rounded", [[amount, step] for amount in amounts]) == [
            round_cash(amount, step) for amount in amounts
        ]
    for currency in ("gbp", "eur", "jpy", "bhd"):
        written = results(page, "money", "amountText", [[amount, currency] for amount in amounts])
        assert results(page, "money", "parseMoney", [[text, currency] for text in written]) == amounts
    assert results(page, "money", "parseMoney", [[text, "gbp"] for text in ("12,5", " £1.20", "0.1", "7")]) == [
        1_250,
        120,
        10,
        700,
    ]
    for text in ("", ".", "-1", "1.234", "1e3", "12.3.4", "0x10", "NaN", "१२", "9999999999"):
        assert results(page, "money", "parseMoney", [[text, "gbp"]]) == [None], text


def test_no_pin_that_is_guessed_at_once_is_taken_and_most_are(phone: BrowserContext) -> None:
    page, chance = phone.new_page(), random.Random(SEED)
    page.goto("/till")
    trivial = [
        "0000",
        "1234",
        "4321",
        "7890",
        "111111",
        "121212",
        "123123",
        "1990",
        "2024",
        "12",
        "1234567",
        "12a4",
        "",
    ]
    assert all(results(page, "pins", "problemOfPin", [[pin] for pin in trivial]))
    drawn = [f"{chance.randrange(10**length):0{length}}" for length in (4, 5, 6) for _ in range(EXAMPLES)]
    refused = sum(problem is not None for problem in results(page, "pins", "problemOfPin", [[pin] for pin in drawn]))
    assert refused < len(drawn) / 20
