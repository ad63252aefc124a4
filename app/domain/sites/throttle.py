"""Throttle in the database, for all processes: sign-in attempts by account and by address, or by device where the user
signed in before, refreshes of a session, orders by address.

An attempt counts before its password is checked, and those of one account, address, device or session wait for each
other until they are counted, so that concurrent attempts cannot pass together; one that succeeds is removed.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from ipaddress import IPv4Address, IPv6Address, ip_address

from sqlalchemy import ColumnElement, and_, delete, func, select

from app.domain.shared.clock import Clock
from app.domain.shared.problems import TooManyRequests
from app.domain.sites.models import SignInFailure
from app.extensions import db

ACCOUNT_WINDOW = timedelta(minutes=15)
FREE_FAILURES = 5
GROWTH_WINDOW = timedelta(hours=1)  # Longer than the longest delay, else a guesser who waits it out begins anew.
FIRST_DELAY = timedelta(seconds=1)
LONGEST_DELAY = timedelta(minutes=15)
LONGEST_DEVICE_DELAY = timedelta(minutes=1)
ADDRESS_WINDOW = timedelta(minutes=1)
TRIES_OF_ADDRESS = 20
REFRESH_WINDOW = timedelta(hours=1)
REFRESHES = 30
OVER_LIMIT_WINDOW = timedelta(minutes=10)
AHEAD = timedelta(minutes=1)  # Of other processes; what is later was dated by a clock that was wrong.


def account_key(email: str) -> str:
    return f"account:{email[:254]}"


def address_key(address: str) -> str:
    return f"address:{address[:64]}"


def device_key(device_id: str) -> str:
    return f"device:{device_id}"


def delay_after(failures: int, of_hour: int, longest: timedelta = LONGEST_DELAY) -> timedelta:
    """Return the delay after so many failures in ACCOUNT_WINDOW: none after the free ones, then one that doubles with
    every failure in GROWTH_WINDOW, up to the longest."""
    if failures < FREE_FAILURES:
        return timedelta(0)
    doublings = min(of_hour - FREE_FAILURES, 10)
    return min(FIRST_DELAY * (1 << doublings), longest)


def note_attempt(clock: Clock, email: str, address: str) -> None:
    """Count an attempt to sign in. Raises TooManyRequests, which counts nothing, with the seconds to wait."""
    now = clock.now()
    _take_turns(account_key(email), address_key(address))
    wait = _wait_after_failures(account_key(email), now, LONGEST_DELAY)
    attempts, last = _count(address_key(address), now, ADDRESS_WINDOW)
    if last and attempts >= TRIES_OF_ADDRESS:
        wait = max(wait, last + ADDRESS_WINDOW - now)
    _refuse_before(wait)
    db.session.add_all(SignInFailure(key=key, at=now) for key in (account_key(email), address_key(address)))


def note_device_attempt(clock: Clock, device_id: str) -> None:
    """Count an attempt of a device, in place of account and address, whose failures may all be another user's. Raises
    TooManyRequests, which counts nothing, with a few seconds to wait."""
    now = clock.now()
    _take_turns(device_key(device_id))
    _refuse_before(_wait_after_failures(device_key(device_id), now, LONGEST_DEVICE_DELAY))
    db.session.add(SignInFailure(key=device_key(device_id), at=now))


def _wait_after_failures(key: str, now: datetime, longest: timedelta) -> timedelta:
    failures, last = _count(key, now, ACCOUNT_WINDOW)
    of_hour, _ = _count(key, now, GROWTH_WINDOW)
    return last + delay_after(failures, of_hour, longest) - now if last else timedelta(0)


def _refuse_before(wait: timedelta) -> None:
    if wait > timedelta(0):
        seconds = int(wait.total_seconds()) + 1
        raise TooManyRequests(f"Too many tries to sign in. Try again in {_spoken(seconds)}.", seconds)


def note_refresh(clock: Clock, session_id: str) -> None:
    """Count a refresh of an API session. Raises TooManyRequests when it requests more than 30 tokens in an hour."""
    now = clock.now()
    key = f"refresh:{session_id}"
    _take_turns(key)
    counted = select(func.count(), func.min(SignInFailure.at)).where(_counts(key, now, REFRESH_WINDOW))
    number, first = db.session.execute(counted).one()
    if number >= REFRESHES:
        seconds = int((first + REFRESH_WINDOW - now).total_seconds()) + 1
        raise TooManyRequests(f"Too many refreshes. Try again in {_spoken(seconds)}.", seconds)
    db.session.add(SignInFailure(key=key, at=now))


def note_order(clock: Clock, site_id: int, address: str, most: int, window: timedelta) -> None:
    """Count an order. Raises TooManyRequests when that many orders came from the address within the window, which is at
    most a day. No shopper's address is kept: only a hash is, until the row no longer counts."""
    now, key = clock.now(), order_key(site_id, address)
    _take_turns(key)
    counted = select(func.count(), func.min(SignInFailure.at)).where(_counts(key, now, window))
    number, first = db.session.execute(counted).one()
    if number >= most:
        seconds = int((first + window - now).total_seconds()) + 1
        raise TooManyRequests(
            f"There were very many orders from where you are. Please try again in {_spoken(seconds)}, or come to the "
            "shop. Nothing was ordered now, and your basket stays as it is.",
            seconds,
        )
    db.session.add(SignInFailure(key=key, at=now))


def count_over_limit(clock: Clock, session_id: str) -> int:
    """Count a payment above the limit that was tried in a session; return how many there were within
    OVER_LIMIT_WINDOW."""
    key, now = f"over-limit:{session_id}", clock.now()
    _take_turns(key)
    number, _ = _count(key, now, OVER_LIMIT_WINDOW)
    db.session.add(SignInFailure(key=key, at=now))
    return number + 1


def order_key(site_id: int, address: str) -> str:
    return f"order:{site_id}:{hashlib.sha256(network(address).encode()).hexdigest()}"


def network(address: str) -> str:
    """Return the network of an address: of IPv6 the first half, since one household has all of the other. An IPv4
    address counts as such in either notation."""
    try:
        known = _parse_address(address)
    except ValueError:
        return address[:64]
    return known.exploded[:19] if isinstance(known, IPv6Address) else str(known)


def subscriber(address: str) -> str:
    """Return the largest network that one line has: of IPv6 the first 48 bits, among whose networks a subscriber may
    move for as long as a day or more; of IPv4 the address."""
    found = network(address)
    return found[:14] if ":" in found else found


def is_this_machine(address: str) -> bool:
    """Whether an address is a loopback one, which a proxy that TRUSTED_PROXIES does not name gives to every client."""
    try:
        return _parse_address(address).is_loopback
    except ValueError:
        return False


def _parse_address(address: str) -> IPv4Address | IPv6Address:
    """Parse an address. Raises ValueError. A server that listens at `::` sees IPv4 clients at `::ffff:a.b.c.d`."""
    known = ip_address(address)
    return known.ipv4_mapped or known if isinstance(known, IPv6Address) else known


def forget_attempt(email: str, address: str) -> None:
    """Remove, after a success, the attempts of the account and the latest of the address."""
    db.session.execute(delete(SignInFailure).where(SignInFailure.key == account_key(email)))
    latest = select(func.max(SignInFailure.id)).where(SignInFailure.key == address_key(address)).scalar_subquery()
    db.session.execute(delete(SignInFailure).where(SignInFailure.id == latest))


def forget_device_attempts(device_id: str) -> None:
    """Remove the attempts of a device after a success there. Guesses from elsewhere at the account still count."""
    db.session.execute(delete(SignInFailure).where(SignInFailure.key == device_key(device_id)))


def _take_turns(*keys: str) -> None:
    """Let the transactions that count the same keys follow each other. SQLite has one writer at a time as it is."""
    if db.session.get_bind().dialect.name == "postgresql":
        for key in sorted(keys):
            db.session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(key, 0))))


def _counts(key: str, now: datetime, window: timedelta) -> ColumnElement[bool]:
    return and_(SignInFailure.key == key, SignInFailure.at > now - window, SignInFailure.at < now + AHEAD)


def _count(key: str, now: datetime, window: timedelta) -> tuple[int, datetime | None]:
    counted = select(func.count(), func.max(SignInFailure.at)).where(_counts(key, now, window))
    number, last = db.session.execute(counted).one()
    return number, last


def _spoken(seconds: int) -> str:
    if seconds < 60:
        return "1 second" if seconds == 1 else f"{seconds} seconds"
    minutes = -(-seconds // 60)
    return "1 minute" if minutes == 1 else f"{minutes} minutes"
