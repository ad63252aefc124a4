"""A device remembers who signed in there, and for how long that means something."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from app.domain.sites.models import User
from app.domain.sites.sign_in_sessions import DEVICE_KNOWN_FOR, MOST_USERS_OF_DEVICE, device_of, device_with_user

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def user(user_id: int, session_version: int = 1) -> User:
    return User(id=user_id, session_version=session_version)


def test_a_device_is_known_for_who_signed_in_there_and_for_nobody_else() -> None:
    known = device_with_user([], user(1), NOW)
    assert device_of(known, user(1), NOW) == known[0].id
    assert device_of(known, user(2), NOW) is None
    assert device_of([], user(1), NOW) is None


def test_several_people_share_a_device_each_under_another_id() -> None:
    known = device_with_user(device_with_user([], user(1), NOW), user(2), NOW)
    ids = {device_of(known, user(number), NOW) for number in (1, 2)}
    assert len(ids) == 2 and None not in ids


def test_a_device_remembers_the_latest_few() -> None:
    known = []
    for number in range(MOST_USERS_OF_DEVICE + 2):
        known = device_with_user(known, user(number), NOW)
    assert [device.user_id for device in known] == list(range(MOST_USERS_OF_DEVICE + 1, 1, -1))


def test_another_password_makes_a_device_unknown_until_the_next_sign_in() -> None:
    known = device_with_user([], user(1), NOW)
    assert device_of(known, user(1, session_version=2), NOW) is None
    assert device_of(device_with_user(known, user(1, session_version=2), NOW), user(1, session_version=2), NOW)


def test_a_device_is_forgotten_in_the_end_and_renewed_by_signing_in() -> None:
    known = device_with_user([], user(1), NOW)
    shortly_before = NOW + DEVICE_KNOWN_FOR - timedelta(seconds=1)
    assert device_of(known, user(1), shortly_before)
    assert device_of(known, user(1), NOW + DEVICE_KNOWN_FOR) is None
    renewed = device_with_user(known, user(1), shortly_before)
    assert len(renewed) == 1
    assert device_of(renewed, user(1), NOW + DEVICE_KNOWN_FOR)
