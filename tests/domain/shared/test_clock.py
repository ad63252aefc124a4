"""Moments as people read them, and days as spans of moments."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.shared.clock import ends_at, format_moment, starts_at

LONDON = ZoneInfo("Europe/London")
zones = st.sampled_from(["Europe/London", "Asia/Tokyo", "America/New_York", "Pacific/Kiritimati"]).map(ZoneInfo)


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


@pytest.mark.parametrize(("day", "hours"), [((2026, 3, 29), 23), ((2026, 7, 1), 24), ((2026, 10, 25), 25)])
def test_a_day_is_as_long_as_its_clocks_say(day: tuple[int, int, int], hours: int) -> None:
    assert ends_at(date(*day), LONDON) - starts_at(date(*day), LONDON) == timedelta(hours=hours)


def test_a_summer_day_begins_on_the_evening_before_in_utc() -> None:
    assert starts_at(date(2026, 7, 1), LONDON) == datetime(2026, 6, 30, 23, tzinfo=UTC)


@given(st.dates(), zones)
def test_every_day_of_the_calendar_begins_before_it_ends(day: date, zone: ZoneInfo) -> None:
    assert starts_at(day, zone) < ends_at(day, zone)


@pytest.mark.parametrize("day", [date.min, date.max])
@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York"])
def test_the_ends_of_the_calendar_are_no_errors(day: date, zone: str) -> None:
    assert starts_at(day, ZoneInfo(zone)) < ends_at(day, ZoneInfo(zone))
