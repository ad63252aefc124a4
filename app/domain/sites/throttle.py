"""How often somebody may try to sign in, by account and by address, a program may ask for tokens, and orders may come
from one address.

A try counts from before its password is looked at, so that tries side by side cannot slip through together;
one that succeeds is taken back.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from ipaddress import IPv6Address, ip_address

from sqlalchemy import delete, func, select

from app.domain.shared.clock import Clock
from app.domain.shared.problems import TooManyRequests
from app.domain.sites.models import SignInFailure
from app.extensions import db

ACCOUNT_WINDOW = timedelta(minutes=15)
FREE_FAILURES = 5
FIRST_DELAY = timedelta(minutes=1)
ADDRESS_WINDOW = timedelta(minutes=1)
TRIES_OF_ADDRESS = 20
REFRESH_WINDOW = timedelta(hours=1)
REFRESHES = 30


def account_key(email: str) -> str:
    return f"account:{email[:254]}"


def address_key(address: str) -> str:
    return f"address:{address[:64]}"


def delay_after(failures: int) -> timedelta:
    """Doubles with every failure after the free ones, up to the window itself."""
    if failures < FREE_FAILURES:
        return timedelta(0)
    doublings = min(failures - FREE_FAILURES, 10)
    return min(FIRST_DELAY * (1 << doublings), ACCOUNT_WINDOW)


def note_try(clock: Clock, email: str, address: str) -> None:
    """Raises TooManyRequests, which counts nothing, with the seconds to wait."""
    now = clock.now()
    wait = max(_wait_of_account(email, now), _wait_of_address(address, now))
    if wait > timedelta(0):
        seconds = int(wait.total_seconds()) + 1
        raise TooManyRequests(f"Too many tries to sign in. Try again in {_spoken(seconds)}.", seconds)
    db.session.add_all(SignInFailure(key=key, at=now) for key in (account_key(email), address_key(address)))


def note_refresh(clock: Clock, session_id: str) -> None:
    """Raises TooManyRequests when an API session asks for more than 30 tokens in an hour."""
    now = clock.now()
    key = f"refresh:{session_id}"
    since = SignInFailure.at > now - REFRESH_WINDOW
    number, first = db.session.execute(
        select(func.count(), func.min(SignInFailure.at)).where(SignInFailure.key == key, since)
    ).one()
    if number >= REFRESHES:
        seconds = int((first + REFRESH_WINDOW - now).total_seconds()) + 1
        raise TooManyRequests(f"Too many refreshes. Try again in {_spoken(seconds)}.", seconds)
    db.session.add(SignInFailure(key=key, at=now))


def note_order(clock: Clock, site_id: int, address: str, most: int, window: timedelta) -> None:
    """Raises TooManyRequests when that many orders came from the address within the window, which is at most a day.
    Who shops is nobody whose address is kept: only a hash is, until the row no longer counts."""
    now, key = clock.now(), order_key(site_id, address)
    since = SignInFailure.at > now - window
    counted = select(func.count(), func.min(SignInFailure.at)).where(SignInFailure.key == key, since)
    number, first = db.session.execute(counted).one()
    if number >= most:
        seconds = int((first + window - now).total_seconds()) + 1
        raise TooManyRequests(
            f"There were very many orders from where you are. Please try again in {_spoken(seconds)}, or come to the "
            "shop. Nothing was ordered now, and your basket stays as it is.",
            seconds,
        )
    db.session.add(SignInFailure(key=key, at=now))


def order_key(site_id: int, address: str) -> str:
    return f"order:{site_id}:{hashlib.sha256(network(address).encode()).hexdigest()}"


def network(address: str) -> str:
    """Of IPv6 the first half: one household has all of the other."""
    try:
        known = ip_address(address)
    except ValueError:
        return address[:64]
    return known.exploded[:19] if isinstance(known, IPv6Address) else str(known)


def is_this_machine(address: str) -> bool:
    """Such an address says nothing of who asks: a proxy that TRUSTED_PROXIES does not tell of has it for everybody."""
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


def take_back(email: str, address: str) -> None:
    """After a success: the account's failures count no more, and the address had one try fewer."""
    db.session.execute(delete(SignInFailure).where(SignInFailure.key == account_key(email)))
    latest = select(func.max(SignInFailure.id)).where(SignInFailure.key == address_key(address)).scalar_subquery()
    db.session.execute(delete(SignInFailure).where(SignInFailure.id == latest))


def _wait_of_account(email: str, now: datetime) -> timedelta:
    failures, last = _count(account_key(email), now - ACCOUNT_WINDOW)
    return last + delay_after(failures) - now if last else timedelta(0)


def _wait_of_address(address: str, now: datetime) -> timedelta:
    tries, last = _count(address_key(address), now - ADDRESS_WINDOW)
    return last + ADDRESS_WINDOW - now if last and tries >= TRIES_OF_ADDRESS else timedelta(0)


def _count(key: str, since: datetime) -> tuple[int, datetime | None]:
    counted = select(func.count(), func.max(SignInFailure.at)).where(SignInFailure.key == key, SignInFailure.at > since)
    number, last = db.session.execute(counted).one()
    return number, last


def _spoken(seconds: int) -> str:
    if seconds < 60:
        return f"{seconds} seconds"
    minutes = -(-seconds // 60)
    return "1 minute" if minutes == 1 else f"{minutes} minutes"
