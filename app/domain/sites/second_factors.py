"""The second factor of an account: after the password, sign-in takes a code of the user's authenticator app, or one of
the recovery codes that the user got when turning it on (docs/adr/0086-a-second-step-at-sign-in.md).

A new password leaves it on: whoever reads the user's mail has the link to a new password, and not the phone.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select

from app.domain.shared.author import Author, Origin
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Conflict, Invalid, NotFound, TooManyRequests
from app.domain.shared.records import flush_or_conflict
from app.domain.sites import accounts, activity, sign_in_sessions, throttle
from app.domain.sites.models import RecoveryCode, SecondFactor, User
from app.domain.sites.one_time_codes import (
    app_key,
    grouped_recovery_code,
    hash_recovery_code,
    is_from_app,
    new_recovery_codes,
    plain_code,
    step_of_code,
)
from app.extensions import db

WRONG_CODES = ((5, timedelta(minutes=5)), (30, timedelta(days=1)))  # Until the password is changed, as the next.
WRONG_RECOVERY_CODES = ((20, timedelta(hours=1)),)  # Nobody guesses one: who guesses codes of the app bars none here.
WRONG = "This code is not right, or was used before. Wait for the next one in your app."
WRONG_RECOVERY = "This is none of your recovery codes, or was used before."
NOT_YOU = (
    "If it was not you who tried, another person knows your password: set a new one by “Forgotten your password?”, "
    "which ends this wait, too."
)
WRONG_CLOCK = "This code is not right. Enter the one that your app shows now, and check the clock of your phone."
IS_ON = "Two-step sign-in is on already."
IS_OFF = "Two-step sign-in is off."


@dataclass(frozen=True, slots=True)
class SecondFactorStatus:
    """The second factor of a user: since when it is on, and how many recovery codes are left."""

    since: datetime
    codes_left: int


@dataclass(frozen=True, slots=True)
class SecondStep:
    """The outcome of a code at sign-in. `codes_left` is set where it was a recovery code."""

    is_right: bool
    codes_left: int | None = None


def is_on(user_id: int) -> bool:
    return db.session.get(SecondFactor, user_id) is not None


def users_with(user_ids: Collection[int]) -> frozenset[int]:
    """Return those of the users who have a second factor."""
    return frozenset(db.session.scalars(select(SecondFactor.user_id).where(SecondFactor.user_id.in_(user_ids))))


def status_of(user_id: int) -> SecondFactorStatus | None:
    """Return the second factor of a user; None where it is off."""
    factor = db.session.get(SecondFactor, user_id)
    return SecondFactorStatus(factor.created_at, _codes_left(user_id)) if factor else None


def turn_on(author: Author, shop_key: bytes, user_id: int, seed: str, code: str, session: str) -> list[str]:
    """Turn the second factor on once the user's app gave a code by this seed, and close the user's browser sessions, at
    which nobody gave one, except that of the token `session`. Return the recovery codes, which are stored as hashes
    alone. Raises Invalid, Conflict."""
    if is_on(user_id):
        raise Conflict(IS_ON)
    now = author.now()
    step = step_of_code(app_key(shop_key, user_id, seed), plain_code(code), now, last_step=0)
    if step is None:
        raise Invalid.one("wrong_code", WRONG_CLOCK, "#/code")
    db.session.add(SecondFactor(user_id=user_id, seed=seed, last_step=step, created_at=now))
    flush_or_conflict(IS_ON)
    sign_in_sessions.close_other_sessions(user_id, session)
    activity.record(author, "second_factor.on", ("user", str(user_id)), "Turned their two-step sign-in on")
    return _replace_codes(user_id)


def renew_codes(author: Author, user_id: int) -> list[str]:
    """Replace the recovery codes, of which none of the earlier ones works any more. Raises Conflict where the second
    factor is off."""
    _locked_factor(user_id)
    activity.record(author, "second_factor.codes", ("user", str(user_id)), "Made new recovery codes")
    return _replace_codes(user_id)


def turn_off(author: Author, user: User, by_themselves: bool = False) -> None:
    """Turn the second factor of a user off, with its recovery codes. Raises Conflict where it is off."""
    _locked_factor(user.id)
    db.session.execute(delete(RecoveryCode).where(RecoveryCode.user_id == user.id))
    db.session.execute(delete(SecondFactor).where(SecondFactor.user_id == user.id))
    whose = "their two-step sign-in" if by_themselves else f"the two-step sign-in of {user.display_name}"
    activity.record(author, "second_factor.off", ("user", str(user.id)), f"Turned {whose} off")


def user_at_second_step(user_id: int, session_version: int) -> User:
    """Return the user who gave the right password a moment ago. Raises NotFound where it was changed since then, or the
    user may not sign in any more, or no code is needed."""
    user = db.session.get(User, user_id)
    if user is None or not user.enabled or user.session_version != session_version or not is_on(user_id):
        raise NotFound("This sign-in is over.")
    return user


def check_code(clock: Clock, shop_key: bytes, site_id: int, user: User, typed: str) -> SecondStep:
    """Check the code of a user at sign-in, which works once. Call it in a transaction, and commit it for a wrong code,
    too, which is counted. Raises TooManyRequests after many wrong ones."""
    code, author = plain_code(typed), _author(clock, site_id, user)
    tries = _note_try(clock, user, is_recovery=not is_from_app(code))
    step = _use_app_code(clock, shop_key, user.id, code) if is_from_app(code) else _use_recovery_code(user.id, code)
    if not step.is_right:
        activity.record(author, "second_factor.refused", ("user", str(user.id)), "A wrong code at sign-in was refused")
        return step
    throttle.forget(tries)
    if step.codes_left is not None:
        summary = f"Signed in with a recovery code; {step.codes_left} left"
        activity.record(author, "second_factor.recovery", ("user", str(user.id)), summary)
    return step


def _note_try(clock: Clock, user: User, is_recovery: bool) -> str:
    """Count a try with a code, those of apps and recovery codes apart, and return the key under which it counts. Raises
    TooManyRequests. A new password ends the wait, since the key names the user's session version."""
    kind, limits = ("recovery-code", WRONG_RECOVERY_CODES) if is_recovery else ("second-step", WRONG_CODES)
    tries = f"{kind}:{user.id}:{user.session_version}"
    if seconds := throttle.count_within(clock, tries, *limits):
        other = "" if is_recovery else ", or use a recovery code"
        raise TooManyRequests(
            f"Too many wrong codes. Try again in {throttle.spoken(seconds)}{other}. {NOT_YOU}", seconds
        )
    return tries


def _use_app_code(clock: Clock, shop_key: bytes, user_id: int, code: str) -> SecondStep:
    factor = _locked_factor(user_id)
    step = step_of_code(app_key(shop_key, user_id, factor.seed), code, clock.now(), factor.last_step)
    if step is None:
        return SecondStep(is_right=False)
    factor.last_step = step
    return SecondStep(is_right=True)


def _use_recovery_code(user_id: int, code: str) -> SecondStep:
    """Use a recovery code, which only one of several requests at the same moment removes."""
    named = RecoveryCode.user_id == user_id, RecoveryCode.code_hash == hash_recovery_code(user_id, code)
    used = db.session.scalar(delete(RecoveryCode).where(*named).returning(RecoveryCode.id))
    return SecondStep(is_right=used is not None, codes_left=None if used is None else _codes_left(user_id))


def _replace_codes(user_id: int) -> list[str]:
    db.session.execute(delete(RecoveryCode).where(RecoveryCode.user_id == user_id))
    codes = new_recovery_codes()
    db.session.add_all(RecoveryCode(user_id=user_id, code_hash=hash_recovery_code(user_id, code)) for code in codes)
    return [grouped_recovery_code(code) for code in codes]


def _locked_factor(user_id: int) -> SecondFactor:
    """Return the second factor of a user, locked until the end of the transaction. Raises Conflict."""
    found = select(SecondFactor).where(SecondFactor.user_id == user_id).execution_options(populate_existing=True)
    factor = db.session.scalar(found.with_for_update())
    if factor is None:
        raise Conflict(IS_OFF)
    return factor


def _codes_left(user_id: int) -> int:
    counted = select(func.count()).select_from(RecoveryCode).where(RecoveryCode.user_id == user_id)
    return db.session.scalar(counted) or 0


def _author(clock: Clock, site_id: int, user: User) -> Author:
    """Return the user as an author on the site of the sign-in, or on the first of their own."""
    own = [site.id for site in accounts.reachable_sites(user.id)]
    return Author(site_id if site_id in own or not own else own[0], user.display_name, clock, Origin.ADMIN)
