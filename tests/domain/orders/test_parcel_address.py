"""Addresses as they stand on parcels."""

from __future__ import annotations

import pytest

from app.domain.delivery.addresses import NO_ADDRESS, Address
from app.domain.delivery.countries import NAMES
from app.domain.orders.parcel_address import POSTCODE_FIRST, parcel_lines


@pytest.mark.parametrize(
    ("city", "postcode", "country", "lines"),
    [
        ("Berlin", "10115", "DE", ["10115 Berlin", "Germany"]),
        ("Amsterdam", "1012 AB", "NL", ["1012 AB Amsterdam", "Netherlands"]),
        ("Reykjavik", "", "IS", ["Reykjavik", "Iceland"]),
        ("Kendal", "LA9 4TN", "GB", ["Kendal", "LA9 4TN", "United Kingdom"]),
        ("Dublin", "D02 AF30", "IE", ["Dublin", "D02 AF30", "Ireland"]),
        ("Springfield", "94105", "US", ["Springfield", "94105", "United States"]),
    ],
)
def test_the_postcode_stands_where_the_post_of_the_country_reads_it(
    city: str, postcode: str, country: str, lines: list[str]
) -> None:
    assert parcel_lines(Address("Mia Moss", "1 Long Lane", "", city, postcode, country)) == [
        "Mia Moss",
        "1 Long Lane",
        *lines,
    ]


def test_every_country_is_one_and_no_address_has_no_lines() -> None:
    assert set(NAMES) >= set(POSTCODE_FIRST.split()) and parcel_lines(NO_ADDRESS) == []
