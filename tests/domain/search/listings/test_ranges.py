"""Sliders with sensible steps, and ratings as stars and up."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.search.listings.rail import FEWEST_STEPS, MOST_STEPS, Slider, slider, stars_and_up

PENNY = Decimal("0.01")
NUMBERS = st.decimals(-(10**9), 10**9, places=2)


def scale(lowest: str, highest: str, finest: Decimal = PENNY) -> tuple[str, str, str] | None:
    made = slider(Decimal(lowest), Decimal(highest), None, None, finest)
    return made and (made.lowest, made.highest, made.step)


@pytest.mark.parametrize(
    ("lowest", "highest", "expected"),
    [
        ("5.50", "999", ("0", "1000", "10")),
        ("7", "449.95", ("5", "450", "5")),
        ("5.50", "8.50", ("5.5", "8.5", "0.05")),
        ("0.99", "1.09", ("0.99", "1.09", "0.01")),
        ("8", "12", ("8", "12", "1")),
        ("8", "12.5", ("8", "12.5", "0.05")),
        ("1", "3", ("1", "3", "0.02")),
        ("120", "25000", ("0", "25000", "500")),
        ("-40", "60", ("-40", "60", "1")),
    ],
)
def test_steps_are_round_and_few(lowest: str, highest: str, expected: tuple[str, str, str]):
    assert scale(lowest, highest) == expected


def test_no_step_is_finer_than_the_currency():
    assert scale("100", "150", finest=Decimal(1)) == ("100", "150", "1")
    assert scale("100", "102", finest=Decimal(1)) is None


def test_with_little_to_slide_there_is_no_slider():
    assert scale("0.01", "0.03") is None


def test_handles_stand_where_the_ends_are_within_the_scale():
    assert slider(Decimal(0), Decimal(100), Decimal(20), Decimal("55.5"), PENNY) == Slider(
        "0", "100", "1", "20", "55.5"
    )
    assert slider(Decimal(0), Decimal(100), Decimal(-5), Decimal(500), PENNY) == Slider("0", "100", "1", "0", "100")


@given(NUMBERS, NUMBERS)
def test_every_scale_holds_its_numbers_in_whole_steps(first: Decimal, second: Decimal):
    lowest, highest = min(first, second), max(first, second)
    made = slider(lowest, highest, None, None, PENNY)
    if made is None:
        assert highest - lowest <= FEWEST_STEPS * PENNY
        return
    start, end, step = Decimal(made.lowest), Decimal(made.highest), Decimal(made.step)
    assert start <= lowest < start + step and end - step < highest <= end
    assert (end - start) % step == 0 and start % step == 0
    assert FEWEST_STEPS <= (end - start) / step <= MOST_STEPS + 2
    assert step.normalize().as_tuple().digits in ((1,), (2,), (5,))


@pytest.mark.parametrize(
    ("lowest", "highest", "stars"),
    [(0.0, 5.0, [4, 3, 2, 1]), (3.0, 4.0, [4]), (3.2, 3.9, []), (None, None, []), (5.0, 5.0, [])],
)
def test_stars_that_leave_some_out_and_keep_some(lowest: float | None, highest: float | None, stars: list[int]):
    assert list(stars_and_up(lowest, highest)) == stars
