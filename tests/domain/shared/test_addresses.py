"""Names in URLs, URLs to other places, and ids and days as anybody may send them."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.shared.addresses import (
    LARGEST_ID,
    LONGEST_SLUG,
    canonical_problems,
    day_in,
    free_slug,
    id_in,
    lookup_id,
    reversed_days,
    slug,
    slug_problems,
    url_problems,
)


@given(st.text(max_size=500))
def test_every_text_becomes_a_part_of_a_url_that_is_allowed(text: str) -> None:
    made = slug(text, "product")
    assert slug_problems(made, "It", "#") == []
    assert len(f"{made}-12345678") <= LONGEST_SLUG


@given(st.sets(st.from_regex(r"tent(-[2-9])?", fullmatch=True)))
def test_a_free_slug_is_never_a_taken_one(taken: set[str]) -> None:
    free = free_slug("tent", taken)
    assert free not in taken
    assert free == "tent" or "tent" in taken


def test_a_name_without_letters_falls_back() -> None:
    assert slug("!!!", "product") == "product"


@pytest.mark.parametrize("text", ["Tent", "a--b", "-a", "a-", "a/b", "é", "a b", "", ".."])
def test_other_forms_of_seo_names_are_refused(text: str) -> None:
    assert slug_problems(text, "The SEO name", "#/seoName")


@pytest.mark.parametrize("text", ["/", "/p/tent", "/c/x?p=2", "https://example.org/a", "http://example.org:8080/"])
def test_paths_and_web_addresses_are_canonical_urls(text: str) -> None:
    assert url_problems(text, "The canonical URL", "#") == []


@pytest.mark.parametrize(
    "text",
    [
        "//evil.test",
        "/\\evil.test",
        "javascript:alert(1)",
        "https:evil.test",
        "https://",
        "https://user@host/",
        "https://u:p@host/",
        "ftp://host/",
        "/a\r\nb",
        "/a b",
        '/a"b',
        "https://host:99999/",
        "https://[bad/",
        "p/tent",
        "/" + "a" * 600,
        "data:text/html,x",
    ],
)
def test_anything_else_is_no_canonical_url(text: str) -> None:
    assert url_problems(text, "The canonical URL", "#/canonicalUrl")[0].pointer == "#/canonicalUrl"


@pytest.mark.parametrize("text", [None, "", "/p/tent", "http://example.org/a", "//example.org/a"])
def test_a_canonical_may_be_relative_to_the_protocol(text: str | None) -> None:
    assert canonical_problems(text) == []


@pytest.mark.parametrize("text", ["//", "//user@host/", "//host/a b", "///host", "//[bad/"])
def test_but_nothing_else(text: str) -> None:
    assert canonical_problems(text)[0].pointer == "#/canonicalUrl"


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
