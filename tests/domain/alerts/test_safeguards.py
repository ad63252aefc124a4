"""The checks of backups and of the certificate."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.domain.alerts.safeguards import backup_fault, certificate_fault
from tests.factories import WHEN

TWO_DAYS = timedelta(days=2)


def fault_of_backup(age: timedelta | None) -> str | None:
    return backup_fault("/srv/backups", None if age is None else WHEN - age, WHEN, TWO_DAYS)


@pytest.mark.parametrize("age", [timedelta(0), timedelta(hours=47), TWO_DAYS, timedelta(hours=-23)])
def test_a_recent_backup_is_no_fault(age: timedelta) -> None:
    assert fault_of_backup(age) is None


def test_an_old_one_is_named_with_its_age_and_what_is_allowed() -> None:
    newest = WHEN - timedelta(days=3, hours=5)
    assert fault_of_backup(WHEN - newest) == (
        f"The newest file in /srv/backups is of {newest:%Y-%m-%d %H:%M} (UTC), 3 days ago; at most 2 days are allowed."
    )
    assert "2 days ago; at most 1 day is allowed." in (backup_fault("/b", WHEN - TWO_DAYS, WHEN, TWO_DAYS / 2) or "")


def test_no_file_and_one_of_the_future_are_faults() -> None:
    assert fault_of_backup(None) == "There is no file in /srv/backups or the folders in it; empty ones do not count."
    assert "which is in the future" in (fault_of_backup(timedelta(days=-2)) or "")


def fault_of_certificate(left: timedelta) -> str | None:
    return certificate_fault("shop.example", WHEN + left, WHEN)


def test_a_certificate_that_lasts_two_weeks_is_no_fault() -> None:
    assert fault_of_certificate(timedelta(days=14)) is None


@pytest.mark.parametrize(
    ("left", "words"),
    [
        (timedelta(days=14, seconds=-1), "in 13 days."),
        (timedelta(hours=30), "in 1 day."),
        (timedelta(hours=1), "in less than a day."),
    ],
)
def test_one_that_ends_before_is_named_with_its_end(left: timedelta, words: str) -> None:
    assert (
        fault_of_certificate(left)
        == f"The certificate of shop.example ends on {WHEN + left:%Y-%m-%d %H:%M} (UTC), {words}"
    )
