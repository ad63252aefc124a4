"""Throttle in the database, for all processes: sign-in attempts and their codes, refreshes of a session, its amounts
above the limit, orders and mails to customers.

An attempt to sign in counts for its device where the user signed in on it before, else for the account, for the network
that it comes from, and for both together. What others did to the account delays nobody by more than SHARED_DELAY; the
failures of the network itself do, up to LONGEST_DELAY (docs/adr/0026-a-known-browser-has-its-own-counter.md).

An attempt counts before its password is checked, and those of one account, network, device or session wait for each
other until they are counted, so that concurrent attempts cannot pass together; one that succeeds is removed.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from ipaddress import IPv4Address, IPv6Address, ip_address

from sqlalchemy import ColumnElement, and_, delete, func, or_, select

from app.domain.shared.clock import Clock
from app.domain.shared.problems import TooManyRequests
from app.domain.sites.models import SignInFailure
from app.extensions import db

ACCOUNT_WINDOW = timedelta(minutes=15)
FREE_FAILURES = 5
GROWTH_WINDOW = timedelta(hours=1)  # Longer than the longest delay, else a guesser who waits it out begins anew.
FIRST_DELAY = timedelta(seconds=1)
LONGEST_DELAY = timedelta(minutes=15)
SHARED_DELAY = timedelta(seconds=30)  # Shorter than AHEAD, since a turn is stored with its time.
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
    return f"address:{network(address)}"


def tries_key(email: str, address: str) -> str:
    """Return the key of the tries of one network at one account. Nothing can be read from it about the network."""
    return f"tries:{_digest(network(address))[:16]} {email[:254]}"


def device_key(device_id: str) -> str:
    return f"device:{device_id}"


def names_account(email: str) -> ColumnElement[bool]:
    """Return the condition of records that name the account."""
    kinds = SignInFailure.key.startswith("tries:"), SignInFailure.key.startswith("turn:")
    return or_(
        SignInFailure.key == account_key(email),
        and_(or_(*kinds), SignInFailure.key.endswith(f" {email[:254]}", autoescape=True)),
    )


def delay_after(
    failures: int,
    of_hour: int,
    longest: timedelta = LONGEST_DELAY,
    free: int = FREE_FAILURES,
    first: timedelta = FIRST_DELAY,
) -> timedelta:
    """Return the delay after so many failures in ACCOUNT_WINDOW: none after the free ones, then one that doubles with
    every failure in GROWTH_WINDOW, up to the longest."""
    if failures < free:
        return timedelta(0)
    doublings = min(of_hour - free, 10)
    return min(first * (1 << doublings), longest)


def note_attempt(clock: Clock, email: str, address: str) -> TooManyRequests | None:
    """Count an attempt to sign in from a device that is not known. Return the refusal, with the seconds to wait, of one
    that comes too early: it is to be raised after the commit, since a turn may have been stored for the network."""
    now = clock.now()
    account, at_network, tries = account_key(email), address_key(address), tries_key(email, address)
    _take_turns(account, at_network)
    attempts, last = _count(at_network, now, ADDRESS_WINDOW)
    of_network = last + ADDRESS_WINDOW - now if last and attempts >= TRIES_OF_ADDRESS else timedelta(0)
    wait = max(of_network, _wait_after_own(account, tries, now), _wait_after_others(account, tries, now))
    if wait > timedelta(0):
        return _refusal(wait)
    db.session.execute(delete(SignInFailure).where(SignInFailure.key == _turn_key(tries)))
    db.session.add_all(SignInFailure(key=key, at=now) for key in (account, at_network, tries))
    return None


def _wait_after_own(account: str, tries: str, now: datetime) -> timedelta:
    """Return the wait that the network's own failures at the account cause. While others guess at it, too, a network
    has one try instead of five before its delays begin, and these at SHARED_DELAY: many networks together would
    otherwise have many free tries."""
    own, last = _count(tries, now, ACCOUNT_WINDOW)
    of_hour, _ = _count(tries, now, GROWTH_WINDOW)
    in_all, _ = _count(account, now, ACCOUNT_WINDOW)
    if in_all - own >= FREE_FAILURES:
        delay = delay_after(own, of_hour, free=1, first=SHARED_DELAY)
    else:
        delay = delay_after(own, of_hour)
    return last + delay - now if last else timedelta(0)


def _wait_after_others(account: str, tries: str, now: datetime) -> timedelta:
    """Return the wait that all failures at the account cause. A network that has to wait gets its turn at the end of
    that wait, however many others guess until then; who guessed whenever a delay ends would else keep everybody out."""
    wait = _wait_after_failures(account, now, SHARED_DELAY)
    if wait <= timedelta(0):
        return wait
    _, turn = _count(_turn_key(tries), now, ACCOUNT_WINDOW)
    if turn is None:
        db.session.add(SignInFailure(key=_turn_key(tries), at=now + wait))
        return wait
    return min(wait, turn - now)


def _turn_key(tries: str) -> str:
    return tries.replace("tries:", "turn:", 1)


def note_device_attempt(clock: Clock, device_id: str) -> None:
    """Count an attempt of a device, in place of account and address, whose failures may all be another user's. Raises
    TooManyRequests, which counts nothing, with a few seconds to wait."""
    now = clock.now()
    _take_turns(device_key(device_id))
    wait = _wait_after_failures(device_key(device_id), now, LONGEST_DEVICE_DELAY)
    if wait > timedelta(0):
        raise _refusal(wait)
    db.session.add(SignInFailure(key=device_key(device_id), at=now))


def _wait_after_failures(key: str, now: datetime, longest: timedelta) -> timedelta:
    failures, last = _count(key, now, ACCOUNT_WINDOW)
    of_hour, _ = _count(key, now, GROWTH_WINDOW)
    return last + delay_after(failures, of_hour, longest) - now if last else timedelta(0)


def _refusal(wait: timedelta) -> TooManyRequests:
    seconds = int(wait.total_seconds()) + 1
    return TooManyRequests(f"Too many tries to sign in. Try again in {spoken(seconds)}.", seconds)


def note_refresh(clock: Clock, session_id: str) -> None:
    """Count a refresh of an API session. Raises TooManyRequests when it requests more than 30 tokens in an hour."""
    if seconds := count_within(clock, f"refresh:{session_id}", (REFRESHES, REFRESH_WINDOW)):
        raise TooManyRequests(f"Too many refreshes. Try again in {spoken(seconds)}.", seconds)


def note_order(clock: Clock, site_id: int, address: str, most: int, window: timedelta) -> None:
    """Count an order. Raises TooManyRequests when that many orders came from the network within the window, which is at
    most a day. No shopper's address is kept: only a hash is, until the row no longer counts."""
    if seconds := count_within(clock, order_key(site_id, address), (most, window)):
        raise TooManyRequests(
            f"There were very many orders from where you are. Please try again in {spoken(seconds)}, or come to the "
            "shop. Nothing was ordered now, and your basket stays as it is.",
            seconds,
        )


def count_within(clock: Clock, key: str, *limits: tuple[int, timedelta]) -> int:
    """Count an event and return 0. Where one of the limits, each a number within a window of a day at most, is reached,
    count nothing and return the seconds until an event is allowed again."""
    now = clock.now()
    _take_turns(key)
    wait = max(_wait_below(key, now, most, window) for most, window in limits)
    if wait > timedelta(0):
        return int(wait.total_seconds()) + 1
    db.session.add(SignInFailure(key=key, at=now))
    return 0


def _wait_below(key: str, now: datetime, most: int, window: timedelta) -> timedelta:
    counted = select(func.count(), func.min(SignInFailure.at)).where(_counts(key, now, window))
    number, first = db.session.execute(counted).one()
    return first + window - now if number >= most else timedelta(0)


def note_over_limit(clock: Clock, session_id: str, amount: int, limit: int) -> list[tuple[int, int]]:
    """Note an amount that a session tried above the limit, both in minor units. Return every such amount and limit
    within OVER_LIMIT_WINDOW, the oldest first."""
    key, now = f"over-limit:{session_id}:", clock.now()
    _take_turns(key)
    db.session.add(SignInFailure(key=f"{key}{amount}:{limit}", at=now))
    noted = select(SignInFailure.key).where(SignInFailure.key.startswith(key), _counts_at(now, OVER_LIMIT_WINDOW))
    pairs = (text.removeprefix(key).split(":") for text in db.session.scalars(noted.order_by(SignInFailure.id)))
    return [(int(tried), int(allowed)) for tried, allowed in pairs]


def order_key(site_id: int, address: str) -> str:
    return f"order:{site_id}:{_digest(network(address))}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def network(address: str) -> str:
    """Return the network of an address, which stands for the address wherever that is a key: of IPv6 the first half (a
    /64), since one household has all of the other. An IPv4 address counts as such in either notation."""
    try:
        known = _parse_address(address)
    except ValueError:
        return address[:64]
    return known.exploded[:19] if isinstance(known, IPv6Address) else str(known)


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
    """Remove, after a success, the attempts of this network at the account and its latest attempt at any. Guesses from
    elsewhere still count, since each sign-in of the owner would otherwise allow five more."""
    own = SignInFailure.key == tries_key(email, address)
    number = db.session.scalar(select(func.count()).select_from(SignInFailure).where(own))
    same = SignInFailure.key == account_key(email), SignInFailure.at.in_(select(SignInFailure.at).where(own))
    counted = select(SignInFailure.id).where(*same).order_by(SignInFailure.id.desc()).limit(number)
    latest = select(func.max(SignInFailure.id)).where(SignInFailure.key == address_key(address))
    for ids in (counted, latest):
        db.session.execute(delete(SignInFailure).where(SignInFailure.id.in_(ids.scalar_subquery())))
    db.session.execute(delete(SignInFailure).where(own))


def forget_device_attempts(device_id: str) -> None:
    """Remove the attempts of a device after a success there. Guesses from elsewhere at the account still count."""
    forget(device_key(device_id))


def forget(key: str) -> None:
    """Remove what `count_within` counted under the key."""
    db.session.execute(delete(SignInFailure).where(SignInFailure.key == key))


def _take_turns(*keys: str) -> None:
    """Let the transactions that count the same keys follow each other. SQLite has one writer at a time as it is."""
    if db.session.get_bind().dialect.name == "postgresql":
        for key in sorted(keys):
            db.session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(key, 0))))


def _counts(key: str, now: datetime, window: timedelta) -> ColumnElement[bool]:
    return and_(SignInFailure.key == key, _counts_at(now, window))


def _counts_at(now: datetime, window: timedelta) -> ColumnElement[bool]:
    return and_(SignInFailure.at > now - window, SignInFailure.at < now + AHEAD)


def _count(key: str, now: datetime, window: timedelta) -> tuple[int, datetime | None]:
    counted = select(func.count(), func.max(SignInFailure.at)).where(_counts(key, now, window))
    number, last = db.session.execute(counted).one()
    return number, last


def spoken(seconds: int) -> str:
    if seconds < 60:
        return "1 second" if seconds == 1 else f"{seconds} seconds"
    minutes = -(-seconds // 60)
    if minutes > 120:
        return f"{-(-minutes // 60)} hours"
    return "1 minute" if minutes == 1 else f"{minutes} minutes"
