"""Guessing passwords gets slow, and costs those who do not guess little."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import func, select

from app.domain.shared.problems import TooManyRequests
from app.domain.sites import throttle
from app.domain.sites.models import SignInFailure
from app.extensions import db
from tests.fakes.clock import StoppedClock

EMAIL, ADDRESS = "mia@shop.test", "203.0.113.9"

pytestmark = pytest.mark.usefixtures("context")


@pytest.mark.parametrize(
    ("failures", "seconds"), [(0, 0), (4, 0), (5, 1), (6, 2), (7, 4), (8, 8), (14, 512), (15, 900), (10_000, 900)]
)
def test_the_delay_doubles_after_five_failures_up_to_a_quarter_of_an_hour(failures: int, seconds: int) -> None:
    assert throttle.delay_after(failures, of_hour=failures) == timedelta(seconds=seconds)


@pytest.mark.parametrize(("failures", "of_hour", "seconds"), [(4, 20, 0), (5, 8, 8), (5, 20, 900)])
def test_the_delay_goes_on_growing_within_an_hour(failures: int, of_hour: int, seconds: int) -> None:
    assert throttle.delay_after(failures, of_hour) == timedelta(seconds=seconds)


def test_the_sixth_try_waits(clock: StoppedClock) -> None:
    _try(clock, times=5)
    with pytest.raises(TooManyRequests) as refused:
        _try(clock)
    assert refused.value.retry_after == 2
    assert "2 seconds" in refused.value.message


def test_a_guesser_who_waits_each_time_has_twenty_tries_an_hour(clock: StoppedClock) -> None:
    assert [_tries_of_an_hour(clock) for _ in range(3)] == [26, 20, 20]


def test_a_try_that_had_to_wait_does_not_count(clock: StoppedClock) -> None:
    _try(clock, times=5)
    before = _rows()
    for _ in range(3):
        with pytest.raises(TooManyRequests):
            _try(clock)
    assert _rows() == before


def test_after_the_wait_there_is_one_try_and_then_a_longer_wait(clock: StoppedClock) -> None:
    _try(clock, times=5)
    clock.move(seconds=2)
    _try(clock)
    with pytest.raises(TooManyRequests) as refused:
        _try(clock)
    assert refused.value.retry_after == 3


def test_failures_are_forgotten_after_fifteen_minutes(clock: StoppedClock) -> None:
    _try(clock, times=5)
    clock.move(minutes=15, seconds=1)
    _try(clock, times=5)


def test_another_account_is_not_held_up(clock: StoppedClock) -> None:
    _try(clock, times=5)
    _try(clock, email="other@shop.test")


def test_a_success_clears_the_account(clock: StoppedClock) -> None:
    _try(clock, times=5)
    throttle.forget_attempt(EMAIL, ADDRESS)
    _try(clock, times=5)


def test_an_address_has_twenty_tries_a_minute_whatever_the_accounts(clock: StoppedClock) -> None:
    for number in range(20):
        _try(clock, email=f"user{number}@shop.test")
    with pytest.raises(TooManyRequests):
        _try(clock, email="one.more@shop.test")
    _try(clock, email="one.more@shop.test", address="203.0.113.10")
    clock.move(seconds=60)
    _try(clock, email="one.more@shop.test")


@pytest.mark.parametrize(("failures", "seconds"), [(4, 0), (5, 1), (6, 2), (7, 4), (10, 32), (11, 60), (10_000, 60)])
def test_the_delay_of_a_known_device_grows_from_a_second_to_a_minute(
    clock: StoppedClock, failures: int, seconds: int
) -> None:
    delay = throttle.delay_after(failures, failures, throttle.LONGEST_DEVICE_DELAY)
    assert delay == timedelta(seconds=seconds)


def test_a_known_device_is_asked_to_wait_for_its_own_failures_only(clock: StoppedClock) -> None:
    _try(clock, times=5)
    for _ in range(5):
        throttle.note_device_attempt(clock, "a laptop")
    with pytest.raises(TooManyRequests) as refused:
        throttle.note_device_attempt(clock, "a laptop")
    assert refused.value.retry_after == 2
    throttle.note_device_attempt(clock, "a telephone")
    clock.move(seconds=2)
    throttle.note_device_attempt(clock, "a laptop")


def test_a_success_on_a_known_device_gives_nobody_elsewhere_more_tries(clock: StoppedClock) -> None:
    _try(clock, times=5)
    throttle.note_device_attempt(clock, "a laptop")
    throttle.forget_device_attempts("a laptop")
    with pytest.raises(TooManyRequests):
        _try(clock)


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("2001:db8:1:2:3:4:5:6", "2001:0db8:0001:0002"),
        ("no address", "no address"),
    ],
)
def test_the_network_is_an_ipv4_address_or_the_first_half_of_an_ipv6_address(address: str, network: str) -> None:
    assert throttle.network(address) == network


def test_a_line_has_an_ipv4_address_or_many_networks_of_ipv6() -> None:
    assert throttle.subscriber("2001:db8:1:2:3:4:5:6") == throttle.subscriber("2001:db8:1:ffff::1") == "2001:0db8:0001"
    assert throttle.subscriber("2001:db8:2::1") != throttle.subscriber("2001:db8:1::1")
    assert throttle.subscriber("::ffff:203.0.113.9") == "203.0.113.9" and throttle.subscriber("unknown") == "unknown"


@pytest.mark.parametrize("address", ["127.0.0.1", "::ffff:127.0.0.1", "::1"])
def test_loopback_addresses_are_this_machine(address: str) -> None:
    assert throttle.is_this_machine(address)
    assert not throttle.is_this_machine(ADDRESS)


def _try(clock: StoppedClock, times: int = 1, email: str = EMAIL, address: str = ADDRESS) -> None:
    for _ in range(times):
        throttle.note_attempt(clock, email, address)
        db.session.flush()


def _tries_of_an_hour(clock: StoppedClock) -> int:
    tries, end = 0, clock.now() + timedelta(hours=1)
    while clock.now() < end:
        try:
            _try(clock)
            tries += 1
        except TooManyRequests as refused:
            clock.move(seconds=refused.retry_after)
    return tries


def _rows() -> int:
    return db.session.scalar(select(func.count()).select_from(SignInFailure)) or 0
