"""Whatever clocks do, every search belongs to exactly one day."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.search_statistics.counting.days import day_at, today
from tests.fakes.clock import StoppedClock

ZONES = ("Europe/London", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia", "UTC")
moments = st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31), timezones=st.just(UTC))


@given(st.lists(moments, max_size=50), st.sampled_from(ZONES))
def test_days_keep_the_sum_and_the_order_of_what_happened(when: list[datetime], zone: str) -> None:
    days = [day_at(moment, zone) for moment in sorted(when)]
    assert sum(Counter(days).values()) == len(when)
    assert days == sorted(days)


@pytest.mark.parametrize(
    ("day", "hours"), [(date(2026, 3, 29), 23), (date(2026, 10, 25), 25), (date(2026, 11, 20), 24)]
)
def test_a_day_on_which_clocks_are_turned_is_shorter_or_longer(day: date, hours: int) -> None:
    start = datetime(day.year, day.month, day.day, tzinfo=UTC) - timedelta(hours=3)
    minutes = (start + timedelta(minutes=minute) for minute in range(30 * 60))
    assert sum(day_at(minute, "Europe/London") == day for minute in minutes) == hours * 60


def test_today_is_that_of_the_shop() -> None:
    clock = StoppedClock(datetime(2026, 7, 1, 23, 30, tzinfo=UTC))
    assert today(clock, "Europe/London") == date(2026, 7, 2)
    assert today(clock, "America/New_York") == date(2026, 7, 1)


def test_a_time_zone_that_this_machine_does_not_know_counts_by_utc() -> None:
    clock = StoppedClock(datetime(2026, 7, 1, 23, 30, tzinfo=UTC))
    assert [today(clock, zone) for zone in ("Mars/Olympus", "../etc/passwd", "")] == [date(2026, 7, 1)] * 3
