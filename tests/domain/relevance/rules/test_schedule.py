"""Times that people type in the zone of their shop."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from app.domain.shared.problems import Problem
from app.domain.shared.typed_times import local_text, moment_of

LONDON = ZoneInfo("Europe/London")


def read(text: str, stored: datetime | None = None) -> tuple[datetime | None, list[str]]:
    problems: list[Problem] = []
    moment = moment_of(text, LONDON, "#/startsAt", problems, stored)
    return moment, [problem.message for problem in problems]


def test_a_time_is_of_the_zone_of_the_shop():
    assert read("2026-07-01T09:00") == (datetime(2026, 7, 1, 8, tzinfo=UTC), [])
    assert read("2026-12-01T09:00:30") == (datetime(2026, 12, 1, 9, 0, 30, tzinfo=UTC), [])
    assert read("  ") == (None, [])


def test_an_hour_that_there_is_not_is_told():
    assert read("2027-03-28T01:30") == (None, ["There is no 01:30 on 28 March 2027: the clocks go forward then."])


def test_of_an_hour_that_comes_twice_the_first_is_meant_unless_the_second_is_stored():
    first, second = datetime(2026, 10, 25, 0, 30, tzinfo=UTC), datetime(2026, 10, 25, 1, 30, tzinfo=UTC)
    assert read("2026-10-25T01:30") == (first, [])
    assert read("2026-10-25T01:30", stored=second) == (second, [])


def test_what_is_no_time_is_told():
    for text in ("soon", "2026-13-01T00:00", "2026-11-20T09:00+02:00", "0001-01-01T00:00", "9999-12-31T23:59"):
        moment, result = read(text)
        assert moment is None and result == [f"“{text}” is not a date and time."]


@given(
    st.datetimes(datetime(2000, 1, 2), datetime(2199, 12, 30), timezones=st.just(UTC)),
    st.sampled_from(["Europe/London", "America/St_Johns", "Pacific/Apia", "Asia/Kathmandu", "Africa/Casablanca"]),
)
def test_a_form_that_is_saved_as_it_was_moves_nothing(moment: datetime, zone: str):
    problems: list[Problem] = []
    where = ZoneInfo(zone)
    assert moment_of(local_text(moment, where), where, "#/endsAt", problems, moment) == moment
    assert problems == []
