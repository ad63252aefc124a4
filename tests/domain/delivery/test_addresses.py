"""Addresses to which orders are delivered: tidied, and every problem at its field."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.domain.delivery.addresses import Address, address_problems, tidy_address
from app.domain.delivery.countries import EUROPEAN_UNION, NAMES, describe_countries, in_order

HOME = Address("Mia Moss", "1 Long Lane", "", "Kendal", "LA9 4TN", "GB")


def problems(address: Address, *countries: str) -> list[tuple[str, str]]:
    found = address_problems(tidy_address(address), "Post", countries or tuple(NAMES))
    return [(problem.code, problem.pointer) for problem in found]


def test_an_address_is_trimmed_and_its_postcode_written_as_the_post_writes_it() -> None:
    typed = Address(" Mia  Moss", "1  Long Lane ", "", "Kendal", "la94tn", "gb")
    assert tidy_address(typed) == HOME and problems(typed) == []
    assert HOME.lines == ["Mia Moss", "1 Long Lane", "Kendal", "LA9 4TN", "United Kingdom"]


@pytest.mark.parametrize(
    ("country", "good", "bad"),
    [
        ("GB", ("SW1A 1AA", "m1 1ae", "EC1A1BB", "GIR 0AA"), ("SW1A", "12345", "LA9 4T")),
        ("US", ("94105", "94105-1234"), ("9410", "94105-12", "K1A 0B1")),
        ("CA", ("K1A 0B1", "k1a0b1"), ("K1A", "11A 0B1")),
        ("DE", ("10115",), ("1011", "101155", "AB123")),
        ("FR", ("75001",), ("7500",)),
        ("NL", ("1012 AB", "1012ab"), ("1012", "AB 1012")),
        ("IE", ("D02 AF30", "d6wxy00"), ("D02",)),
        ("AT", ("1010",), ("10100",)),
        ("IS", ("101", "", "AB-1"), ("10!", "1234567890123")),
    ],
)
def test_postcodes_are_those_of_the_country(country: str, good: tuple[str, ...], bad: tuple[str, ...]) -> None:
    for postcode in good:
        assert problems(replace(HOME, postcode=postcode, country=country)) == [], postcode
    for postcode in bad:
        found = problems(replace(HOME, postcode=postcode, country=country))
        assert found == [("invalid_postcode", "#/postcode")], postcode


def test_all_problems_are_named_at_once() -> None:
    wrong = Address("x" * 101, "", "y" * 101, "", "", "FR")
    assert problems(wrong, "GB") == [
        ("too_long", "#/recipient"),
        ("required", "#/line1"),
        ("too_long", "#/line2"),
        ("required", "#/city"),
        ("country_not_served", "#/country"),
        ("required", "#/postcode"),
    ]
    assert ("required", "#/country") in problems(replace(HOME, country=""))
    assert problems(replace(HOME, line1="\u200b")) == [("required", "#/line1")]
    assert problems(replace(HOME, line2="4242 4242 4242 4242")) == [("card_number", "#/line2")]


def test_countries_are_listed_by_their_names() -> None:
    assert len(NAMES) == 249 and all(len(code) == 2 and code.isupper() for code in NAMES)
    assert in_order(["GB", "AT", "XX", "GB"]) == ("AT", "GB")
    assert describe_countries(["GB"]) == "the United Kingdom"
    assert describe_countries(["GB", "FR", "DE"]) == "France, Germany and the United Kingdom"
    assert describe_countries(EUROPEAN_UNION) == "the European Union"
    assert describe_countries(["GB", "FR", "DE", "AT"]) == "4 countries"
    assert describe_countries(NAMES) == "all countries" and describe_countries([]) == ""
