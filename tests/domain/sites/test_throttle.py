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
    waits = [_seconds_to_wait(clock) for _ in range(20)]
    assert set(waits) == {2}
    assert _rows() == 16, "three for each of five tries, and one for the turn of the network"


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


def test_a_success_forgets_what_happened_there_and_not_what_others_did(clock: StoppedClock) -> None:
    for number in range(4):
        _try(clock, address=f"198.51.100.{number}")
    clock.move(seconds=1)
    _try(clock)
    throttle.forget_attempt(EMAIL, ADDRESS)
    _try(clock)
    assert _seconds_to_wait(clock, "203.0.113.10") == 2, "four failures of others, and one"


def test_the_sixth_try_waits_from_wherever_the_five_before_it_came(clock: StoppedClock) -> None:
    for number in range(5):
        _try(clock, address=f"198.51.100.{number}")
    assert _seconds_to_wait(clock) == 2


def test_who_comes_while_others_guess_waits_for_half_a_minute_at_most(clock: StoppedClock) -> None:
    """However the guesses of others lie: they never stop, and the wait that was announced is the wait."""
    _guess_whenever_allowed(clock, 1_800)
    waits = []
    for number in range(20):
        newcomer = f"203.0.113.{number}"
        waits.append(_seconds_to_wait(clock, newcomer))
        _guess_whenever_allowed(clock, waits[-1])
        assert _seconds_to_wait(clock, newcomer) == 0
    assert 10 < max(waits) <= 31


def test_a_network_that_fails_while_others_guess_waits_for_itself_and_longer_each_time(clock: StoppedClock) -> None:
    _guess_whenever_allowed(clock, 300)
    waits = []
    for _ in range(7):
        while wait := _seconds_to_wait(clock):
            waits.append(wait)
            _guess_whenever_allowed(clock, wait, addresses=200)
    assert waits[1:] == [31, 61, 121, 241, 481, 901]


def test_each_of_many_networks_has_few_guesses_an_hour(clock: StoppedClock) -> None:
    """As docs/adr/0026-a-known-browser-has-its-own-counter.md says."""
    networks = [f"198.51.100.{number}" for number in range(10)]
    tries = [_tries_of_networks(clock, networks) / len(networks) for _ in range(3)]
    assert tries[0] < 9
    assert max(tries[1:]) < 6


def test_a_turn_is_of_one_network_and_for_one_try(clock: StoppedClock) -> None:
    _guess_whenever_allowed(clock, 300)
    assert _seconds_to_wait(clock) > 0
    clock.move(seconds=31)
    _try(clock, address="203.0.113.99")
    assert _seconds_to_wait(clock, "203.0.113.100") > 0
    assert [_seconds_to_wait(clock), _seconds_to_wait(clock)] == [0, 31]


def test_no_email_address_counts_as_another_with_a_network(clock: StoppedClock) -> None:
    _try(clock, times=5)
    keys = set(db.session.scalars(select(SignInFailure.key)))
    assert all(throttle.account_key(key) not in keys for key in keys)
    assert not any(ADDRESS in key for key in keys if EMAIL in key)


def test_all_that_names_an_account_is_found(clock: StoppedClock) -> None:
    _try(clock, times=5)
    _seconds_to_wait(clock)
    _try(clock, email="other_mia@shop.test", address="203.0.113.10")
    found = db.session.scalars(select(SignInFailure.key).where(throttle.names_account(EMAIL))).all()
    assert {key.partition(":")[0] for key in found} == {"account", "tries", "turn"}
    assert len(found) == 11


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


def test_tries_count_for_a_network_of_ipv6(clock: StoppedClock) -> None:
    for number in range(20):
        _try(clock, email=f"user{number}@shop.test", address=f"2001:db8:1:2::{number:x}")
    with pytest.raises(TooManyRequests):
        _try(clock, email="one.more@shop.test", address="2001:db8:1:2:ffff::1")
    _try(clock, email="one.more@shop.test", address="2001:db8:1:3::1")


@pytest.mark.parametrize("address", ["127.0.0.1", "::ffff:127.0.0.1", "::1"])
def test_loopback_addresses_are_this_machine(address: str) -> None:
    assert throttle.is_this_machine(address)
    assert not throttle.is_this_machine(ADDRESS)


def _try(clock: StoppedClock, times: int = 1, email: str = EMAIL, address: str = ADDRESS) -> None:
    for _ in range(times):
        refusal = throttle.note_attempt(clock, email, address)
        db.session.flush()
        if refusal:
            raise refusal


def _seconds_to_wait(clock: StoppedClock, address: str = ADDRESS) -> int:
    """The seconds that a try from the address has to wait; 0 after one that was let through."""
    try:
        _try(clock, address=address)
    except TooManyRequests as refused:
        return refused.retry_after
    return 0


def _guess_whenever_allowed(clock: StoppedClock, seconds: int, addresses: int = 40) -> None:
    """Guess from many addresses, none of which has reached its own delays, until so many seconds are over."""
    end = clock.now() + timedelta(seconds=seconds)
    number = 0
    while clock.now() < end:
        if wait := _seconds_to_wait(clock, f"198.51.100.{number % addresses}"):
            clock.move(seconds=min(wait, (end - clock.now()).total_seconds()))
        number += 1


def _tries_of_an_hour(clock: StoppedClock) -> int:
    tries, end = 0, clock.now() + timedelta(hours=1)
    while clock.now() < end:
        try:
            _try(clock)
            tries += 1
        except TooManyRequests as refused:
            clock.move(seconds=refused.retry_after)
    return tries


def _tries_of_networks(clock: StoppedClock, networks: list[str]) -> int:
    """The tries that networks together have within an hour when each tries as soon as it may."""
    tries, end = 0, clock.now() + timedelta(hours=1)
    due = dict.fromkeys(networks, clock.now())
    while (at := min(due.values())) < end:
        clock.move(seconds=max(0.0, (at - clock.now()).total_seconds()))
        network = min(due, key=lambda one: due[one])
        wait = _seconds_to_wait(clock, network)
        tries += wait == 0
        due[network] = clock.now() + timedelta(seconds=wait)
    return tries


def _rows() -> int:
    return db.session.scalar(select(func.count()).select_from(SignInFailure)) or 0
