"""Numbers with units and amounts of money within searches."""

from __future__ import annotations

import pytest

from app.domain.search.understanding.quantities import Quantity, read_quantities, read_tokens


def found(text: str, currency: str = "gbp") -> list[Quantity]:
    return read_quantities(read_tokens(text), currency)


def described(text: str, currency: str = "gbp") -> list[tuple[str, float | None, float | None, float | None]]:
    """(unit or money, exact, low, high) of each quantity."""
    return [(q.unit.symbol if q.unit else "money", q.exact, q.low, q.high) for q in found(text, currency)]


@pytest.mark.parametrize(
    ("text", "unit", "number"),
    [
        ("27 inch", "in", 27),
        ('27" monitor', "in", 27),
        ("27-inch monitor", "in", 27),
        ("27in", "in", 27),
        ("2.5kg", "kg", 2.5),
        ("2,5 kg", "kg", 2.5),
        ("1,000 g", "g", 1000),
        ("1 TB drive", "TB", 1),
        ("cable 3 metres", "m", 3),
        ("6ft lead", "ft", 6),
        ("charger 65W", "W", 65),
    ],
)
def test_a_number_with_its_unit_is_read(text: str, unit: str, number: float):
    assert described(text) == [(unit, number, None, None)]


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("under £50", None, 50),
        ("below 50 pounds", None, 50),
        ("less than £1,000", None, 1000),
        ("£50 or less", None, 50),
        ("over £20", 20, None),
        ("£20 and up", 20, None),
        ("50-100 pounds", 50, 100),
        ("£50-£100", 50, 100),
        ("between £50 and £100", 50, 100),
        ("from 50 to 100 quid", 50, 100),
    ],
)
def test_a_price_is_a_limit_or_a_range(text: str, low: float | None, high: float | None):
    assert described(text) == [("money", None, low, high)]


def test_an_amount_in_another_currency_is_no_price():
    assert found("under $50") == []
    assert described("under $50", "usd") == [("money", None, None, 50)]


def test_pounds_are_money_where_the_site_sells_in_them_and_a_weight_elsewhere():
    assert described("up to 5 pounds") == [("money", None, None, 5)]
    assert described("up to 5 pounds", "usd") == [("lb", None, None, 5)]


@pytest.mark.parametrize(
    ("text", "unit", "low", "high"),
    [
        ("20-25 inch", "in", 20, 25),
        ("20 to 25 inches", "in", 20, 25),
        ("20 inch to 25 inch", "in", 20, 25),
        ("500 g - 2 kg", "kg", 0.5, 2),
        ("at least 16 GB", "GB", 16, None),
        ("16 GB or more", "GB", 16, None),
        ("up to 2kg", "kg", None, 2),
        ("max 40 cm", "cm", None, 40),
    ],
)
def test_a_range_of_numbers_is_read_in_one_unit(text: str, unit: str, low: float | None, high: float | None):
    assert described(text) == [(unit, None, low, high)]


@pytest.mark.parametrize(
    "text",
    [
        "wd-40 oil",
        "core i7",
        "16gb2",
        "60 x 40 cm",
        "1 GB/s",
        "27 in stock",
        "1.2.3 kg",
        "cheap",
        "under 50",
        "25-20 inch",
        "4k tv",
        "20 inch - 5 kg",
        "9999999999999999 kg",
    ],
)
def test_what_is_part_of_a_code_or_has_no_unit_is_left(text: str):
    assert [one for one in found(text) if one.low is not None or one.high is not None] == []
    assert all(one.exact in (20, 5, 25) for one in found(text))
