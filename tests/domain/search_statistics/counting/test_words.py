"""Which searches are kept as words: what people sell, not who they are."""

from __future__ import annotations

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.search.serving.rules import normalized_term
from app.domain.search_statistics.counting.gathering import LONGEST_WORD, countable
from tests.surroundings import DATA, missing


def luhn(digits: str) -> str:
    """The digits with the check digit of payment cards behind."""
    total = sum(sum(divmod(int(d) * (2 - i % 2), 10)) for i, d in enumerate(reversed(digits)))
    return digits + str(-total % 10)


@pytest.mark.parametrize(
    ("typed", "word"),
    [
        ("  Rain   COAT ", "rain coat"),
        ("ＲＪ４５", "rj45"),
        ("Straße", "strasse"),
        ("café", "café"),
        ("<b>tent</b>", "<b>tent</b>"),
        ("920-004088", "920-004088"),
        ("usb 3.0 10 m", "usb 3.0 10 m"),
        ("@home", "@home"),
        ("iphone 12 2024 128gb", "iphone 12 2024 128gb"),
        ("4006381333931", "4006381333931"),
    ],
)
def test_a_search_is_kept_in_the_form_in_which_searches_are_the_same(typed: str, word: str) -> None:
    assert countable(typed) == word


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "   ",
        "x" * 101,
        "ﷺ" * 40,
        "tent\x00",
        "rain\ncoat",
        "\u202egnp.exe",
        "mia.moss@example.org",
        "order of mia@moss",
        "ｍｉａ＠ｍｏｓｓ.ｔｅｓｔ",
        "+44 7700 900123",
        "call 07700 900123 please",
        "(020) 7946-0958",
        "555-123-4567",
        "5551234567",
        "447700900123",
        "٠٧٧٠٠٩٠٠١٢٣",
        "4111 1111 1111 1111",
        "4111-1111-1111-1111",
        "card 378282246310005 amex",
        "4111.1111.1111.1111",
        "4111_1111_1111_1111",
        "4111 – 1111 * 1111 # 1111",
        "4111 1111 1111 1111 12/27",
        "card no. 3 4111\u31641111\u31641111\u31641111",
        "user%40example.com",
        "user%2540example.com",
        "4111%201111%201111%201111",
        "user @ example.com",
        "john@ example.com",
        "john @localhost",
        "4111111111111111 12/28 123",
        "4111111111111111 5500000000000004",
        "41111111111111115500000000000004",
        "999999994111111111111111",
        "12 4111111111111111",
        "2024 4111111111111111",
        "x_4111111111111111_y",
        "07700900123 07700900456",
        "0770090012307700900456",
        "07700,900123",
        "0_7_7_0_0_9_0_0_1_2_3",
        "\u3164",
        "\u200b\u200d",
        "\u2800 \u2800",
        "?!… –",
    ],
)
def test_what_may_name_a_person_or_a_card_or_is_no_search_is_not_kept(typed: str) -> None:
    assert countable(typed) is None


@given(st.text(alphabet="0123456789", min_size=12, max_size=18), st.sampled_from(["", " ", "-"]), st.text(max_size=20))
def test_no_card_number_is_kept_however_it_is_grouped_and_whatever_stands_around_it(
    digits: str, gap: str, around: str
) -> None:
    number = luhn(digits)
    grouped = gap.join(number[start : start + 4] for start in range(0, len(number), 4))
    assert countable(f"x {around}| {grouped} |") is None


@given(st.text(max_size=120))
def test_what_is_kept_is_short_and_names_the_same_search_as_a_rule(typed: str) -> None:
    word = countable(typed)
    assert word is None or (0 < len(word) <= LONGEST_WORD and word == normalized_term(typed) == countable(word))


def test_real_searches_are_kept() -> None:
    queries = DATA / "relevance" / "queries.csv"
    if not queries.exists():
        missing("the real searches are not beside the repository")
    with queries.open(newline="") as file:
        typed = [row["query"] for row in csv.DictReader(file)]
    assert [query for query in typed if countable(query) is None] == []
