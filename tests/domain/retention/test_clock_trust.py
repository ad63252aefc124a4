"""Whether the clock is believed: what is a jump, what a pause, and how long a doubt lasts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from app.domain.retention.clock_trust import PROBATION, ClockReading, next_reading

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
TRUSTED = ClockReading.trusted(NOON)


def read(last: ClockReading, now: datetime, elapsed: timedelta | None = MINUTE) -> ClockReading:
    return next_reading(last, now, elapsed, tolerance=DAY)


def jumped(days: float, elapsed: timedelta | None = MINUTE) -> ClockReading:
    return read(TRUSTED, NOON + (elapsed or timedelta(0)) + timedelta(days=days), elapsed)


def run(reading: ClockReading, days: float, a_look_every: timedelta = timedelta(hours=6)) -> ClockReading:
    """Time passes as fast on the clock as by measure."""
    for _ in range(int(timedelta(days=days) / a_look_every)):
        reading = read(reading, reading.wall_at + a_look_every, a_look_every)
    return reading


@pytest.mark.parametrize("elapsed", [None, MINUTE], ids=["at a start", "while running"])
@pytest.mark.parametrize("days", [1 / 24, -1 / 24, 1, -1])
def test_a_clock_that_moves_by_at_most_a_day_is_believed(days: float, elapsed: timedelta | None) -> None:
    reading = jumped(days, elapsed)
    assert reading == ClockReading.trusted(reading.wall_at)


@pytest.mark.parametrize("elapsed", [None, MINUTE], ids=["at a start", "while running"])
@pytest.mark.parametrize("days", [1.1, -1.1, 400, -400])
def test_a_clock_that_moves_by_more_is_in_doubt(days: float, elapsed: timedelta | None) -> None:
    assert not jumped(days, elapsed).is_trusted


def test_days_that_were_measured_are_no_jump() -> None:
    """The scheduler stood still, the machine did not."""
    assert read(TRUSTED, NOON + 30 * DAY, elapsed=30 * DAY).is_trusted


@pytest.mark.parametrize("days", [400, -400])
def test_a_clock_that_is_set_right_is_believed_at_once(days: float) -> None:
    doubted = run(jumped(days), days=2)
    assert read(doubted, NOON + 2 * DAY).is_trusted


@pytest.mark.parametrize("days", [400, -400])
def test_a_restart_does_not_end_a_doubt(days: float) -> None:
    doubted = jumped(days)
    assert not read(doubted, doubted.wall_at, elapsed=None).is_trusted


def test_after_a_long_pause_the_clock_is_believed_again_once_the_shop_has_run_for_a_week() -> None:
    back = jumped(days=40, elapsed=None)
    assert not run(back, days=PROBATION.days - 1).is_trusted
    assert run(back, days=PROBATION.days).is_trusted


def test_nights_without_power_do_not_count_as_running_and_do_not_begin_the_week_anew() -> None:
    reading = jumped(days=40, elapsed=None)
    for _ in range(13):
        evening = run(reading, days=0.5)
        reading = read(evening, evening.wall_at + timedelta(days=2), elapsed=None)
    assert not reading.is_trusted
    assert run(reading, days=0.5).is_trusted


def test_another_jump_begins_the_week_anew() -> None:
    reading = run(jumped(days=40, elapsed=None), days=6)
    reading = read(reading, reading.wall_at + 300 * DAY)
    assert not run(reading, days=6).is_trusted
    assert run(reading, days=7).is_trusted


def test_a_shop_that_is_off_on_weekends_may_set_how_long_it_pauses() -> None:
    monday = NOON + timedelta(days=2.8)
    assert not next_reading(TRUSTED, monday, None, tolerance=DAY).is_trusted
    assert next_reading(TRUSTED, monday, None, tolerance=4 * DAY).is_trusted


def test_a_doubt_is_described_with_both_times() -> None:
    assert jumped(days=400, elapsed=None).description.startswith(
        "The clock says 2027-12-25 12:00 (UTC); by the time that the shop has run it is 2026-11-20 12:00."
    )
