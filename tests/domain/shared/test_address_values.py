"""Ids and days as anybody may send them."""

from __future__ import annotations

from datetime import date

import pytest

from app.domain.shared.address_values import LARGEST_ID, day_in, id_in, lookup_id, reversed_days


@pytest.mark.parametrize(
    ("text", "read"),
    [("7", 7), ("0000000007", 7), (str(LARGEST_ID), LARGEST_ID), (str(LARGEST_ID + 1), None), ("9" * 5000, None)]
    + [(text, None) for text in ("0", "", "-7", "+7", "7.0", " 7", "٧", "seven")],
)
def test_an_id_is_what_a_column_of_ids_can_hold(text: str, read: int | None) -> None:
    assert id_in(text) == read
    assert lookup_id(text) == (read or 0)


def test_nothing_names_neither_an_id_nor_a_day() -> None:
    assert (id_in(None), day_in(None)) == (None, None)


@pytest.mark.parametrize("text", ["", "20261123", "2026-W48-1", "2026-11-31", "2026-11-23T10", "٢٠٢٦-11-23"])
def test_a_day_is_written_in_one_way(text: str) -> None:
    assert day_in("2026-11-23") == date(2026, 11, 23)
    assert day_in(text) is None


def test_days_the_wrong_way_round_are_a_problem_of_the_first() -> None:
    early, late = date(2026, 11, 1), date(2026, 11, 2)
    assert [problem.pointer for problem in reversed_days(late, early)] == ["#/from"]
    assert [*reversed_days(early, late), *reversed_days(early, early), *reversed_days(None, early)] == []
