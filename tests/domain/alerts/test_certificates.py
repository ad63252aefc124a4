from __future__ import annotations

from datetime import timedelta

import pytest

from app.domain.alerts.certificates import certificate_fault
from tests.factories import WHEN


def fault(left: timedelta) -> str | None:
    return certificate_fault("shop.example", WHEN + left, WHEN)


def test_a_certificate_that_lasts_two_weeks_is_no_fault() -> None:
    assert fault(timedelta(days=14)) is None


@pytest.mark.parametrize(
    ("left", "words"),
    [
        (timedelta(days=14, seconds=-1), "in 13 days."),
        (timedelta(hours=30), "in 1 day."),
        (timedelta(hours=1), "in less than a day."),
    ],
)
def test_one_that_ends_before_is_named_with_its_end(left: timedelta, words: str) -> None:
    assert fault(left) == f"The certificate of shop.example ends on {WHEN + left:%Y-%m-%d %H:%M} (UTC), {words}"
