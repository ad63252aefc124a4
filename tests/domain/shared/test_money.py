from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.shared.money import LARGEST, decimal_text, format_money, parse_money
from app.domain.shared.problems import Invalid

CURRENCIES = st.sampled_from(["gbp", "eur", "sek", "jpy", "kwd"])


@given(st.integers(0, LARGEST), CURRENCIES)
def test_what_a_form_shows_reads_back_as_the_same_amount(amount: int, currency: str) -> None:
    assert parse_money(decimal_text(amount, currency), currency) == amount


@given(st.integers(0, LARGEST))
def test_what_people_read_can_be_typed(amount: int) -> None:
    assert parse_money(format_money(amount, "gbp"), "gbp") == amount


@pytest.mark.parametrize(
    ("typed", "pence"), [("12", 1200), ("12.5", 1250), ("12.50", 1250), (" £1,234.05 ", 123405), ("0", 0), ("3.", 300)]
)
def test_pounds_are_read_as_pence(typed: str, pence: int) -> None:
    assert parse_money(typed, "gbp") == pence


@pytest.mark.parametrize(
    "typed",
    ["", "-1", "1.234", "1,23", "12,50", "1e3", "0x10", "1_000", "١٢", "£", "12 pounds", "NaN", "10000000", "9" * 40],
)
def test_what_is_no_amount_of_pounds_is_refused(typed: str) -> None:
    with pytest.raises(Invalid):
        parse_money(typed, "gbp")


@pytest.mark.parametrize("typed", ["", "  ", "£"])
def test_an_amount_that_is_missing_is_asked_for(typed: str) -> None:
    with pytest.raises(Invalid, match=r"Enter an amount, such as 12\.50\."):
        parse_money(typed, "gbp")


def test_a_currency_without_decimals_takes_none() -> None:
    assert parse_money("1250", "jpy") == 1250
    with pytest.raises(Invalid):
        parse_money("12.50", "jpy")


def test_amounts_are_shown_as_people_write_them() -> None:
    assert [format_money(123450, currency) for currency in ("gbp", "jpy", "sek")] == [
        "£1,234.50",
        "¥123,450",
        "1,234.50 SEK",
    ]
