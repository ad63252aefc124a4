"""How soon a lost index is rebuilt again without a person."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from app.domain.search.index.rebuild_outcomes import WORTH_REMEMBERING, PastRebuild, may_rebuild, pause_after

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def ended(seconds_ago: float, has_failed: bool = True) -> PastRebuild:
    return PastRebuild(has_failed, NOW - timedelta(seconds=seconds_ago))


def test_the_first_time_at_once() -> None:
    assert may_rebuild(NOW, [])


def test_never_while_one_is_unfinished() -> None:
    assert not may_rebuild(NOW, [PastRebuild(False, None), ended(9999)])


@pytest.mark.parametrize(("seconds", "may"), [(29, False), (30, True), (9999, True)])
def test_half_a_minute_after_one_that_succeeded(seconds: float, may: bool) -> None:
    assert may_rebuild(NOW, [ended(seconds, has_failed=False), ended(9999), ended(9999)]) == may


@pytest.mark.parametrize(
    ("failures", "minutes"), [(1, 1), (2, 2), (3, 4), (4, 8), (5, 16), (6, 32), (7, 60), (WORTH_REMEMBERING, 60)]
)
def test_after_failures_the_pause_doubles_up_to_an_hour(failures: int, minutes: int) -> None:
    assert pause_after(failures) == timedelta(minutes=minutes)
    earlier = [ended(9999)] * (failures - 1) + [ended(9999, has_failed=False)]
    assert not may_rebuild(NOW, [ended(60 * minutes - 1), *earlier])
    assert may_rebuild(NOW, [ended(60 * minutes), *earlier])


def test_a_clock_that_was_set_back_stops_nothing_for_longer_than_the_pause() -> None:
    assert may_rebuild(NOW, [ended(-400 * 24 * 3600)])
