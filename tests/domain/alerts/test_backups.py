from __future__ import annotations

from datetime import timedelta

import pytest

from app.domain.alerts.backups import backup_fault
from tests.factories import WHEN

TWO_DAYS = timedelta(days=2)


def fault(age: timedelta | None) -> str | None:
    return backup_fault("/srv/backups", None if age is None else WHEN - age, WHEN, TWO_DAYS)


@pytest.mark.parametrize("age", [timedelta(0), timedelta(hours=47), TWO_DAYS, timedelta(hours=-23)])
def test_a_recent_backup_is_no_fault(age: timedelta) -> None:
    assert fault(age) is None


def test_an_old_one_is_named_with_its_age_and_what_is_allowed() -> None:
    newest = WHEN - timedelta(days=3, hours=5)
    assert fault(WHEN - newest) == (
        f"The newest file in /srv/backups is of {newest:%Y-%m-%d %H:%M} (UTC), 3 days ago; at most 2 days are allowed."
    )
    assert "2 days ago; at most 1 day is allowed." in (backup_fault("/b", WHEN - TWO_DAYS, WHEN, TWO_DAYS / 2) or "")


def test_no_file_and_one_of_the_future_are_faults() -> None:
    assert fault(None) == "There is no file in /srv/backups or the folders in it; empty ones do not count."
    assert "which is in the future" in (fault(timedelta(days=-2)) or "")
