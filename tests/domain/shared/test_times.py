"""Moments as people read them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.domain.shared.times import format_moment


@pytest.mark.parametrize(
    ("time_zone", "text"),
    [
        ("Europe/London", "1 July 2026, 12:30 BST"),
        ("America/New_York", "1 July 2026, 07:30 EDT"),
        ("UTC", "1 July 2026, 11:30 UTC"),
    ],
)
def test_a_moment_is_of_the_time_zone_that_it_names(time_zone: str, text: str) -> None:
    assert format_moment(datetime(2026, 7, 1, 11, 30, tzinfo=UTC), time_zone) == text
