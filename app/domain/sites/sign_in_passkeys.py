"""The passkeys by which a user signs in to the admin, in the place of password and code: the device verifies its user
by finger, face or its own code, and the passkey works at the host where it was made alone. Those that unlock tills
(passkeys.py) are others. A new password removes them, since it may be set because others got in. Those that a process
of an older release leaves, which knows none of them, end by the user's session version, as sessions do."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, func, select

from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Conflict, Invalid, Problem
from app.domain.shared.records import existing, flush_or_conflict
from app.domain.shared.text import line_problems, one_line
from app.domain.sites import activity, throttle
from app.domain.sites.models import SignInPasskey, User
from app.domain.sites.passkey_ceremonies import (
    Credential,
    PasskeyOwner,
    RelyingParty,
    Unverified,
    creation_options,
    owner_handle,
    request_options,
    verify_assertion,
    verify_registration,
)
from app.extensions import db

MISSING = "There is no such passkey."
KNOWN = "This passkey is registered already."
NOT_MADE = "This is no new passkey of your device. Try again."
WRONG = "This passkey does not sign in here. It may have been removed: sign in with your password."
OVER = "This page was open for too long, or was used already. Try again."
MOST_KEPT = 20  # Of a user.
LONGEST_NAME = 60
CHALLENGE_TAKEN_FOR = timedelta(minutes=10)  # Longer than any challenge holds.
ANY_SITE = 0  # In the handle of an owner: passkeys of tills have the id of a site there.


@dataclass(frozen=True, slots=True)
class ListedPasskey:
    """A passkey as its user sees it."""

    id: str
    name: str
    host: str
    created_at: datetime
    last_used_at: datetime


def name_problems(name: str) -> list[Problem]:
    return line_problems(name, "The name", LONGEST_NAME, "#/name", required=True)


def passkeys_of(user_id: int) -> list[ListedPasskey]:
    """Return the passkeys of a user at all hosts, the one used last first."""
    valid = SignInPasskey.user_id == user_id, SignInPasskey.session_version == User.session_version
    own = select(SignInPasskey).join(User, User.id == SignInPasskey.user_id).where(*valid)
    found = db.session.scalars(own.order_by(SignInPasskey.last_used_at.desc(), SignInPasskey.id))
    return [ListedPasskey(each.id, each.name, each.host, each.created_at, each.last_used_at) for each in found]


def options_to_make(user: User, party: RelyingParty, shop_name: str, challenge: bytes) -> dict[str, Any]:
    """Return the options with which a browser makes a passkey of the user at this host."""
    owner = PasskeyOwner(owner_handle(ANY_SITE, user.id, "admin"), user.email, user.display_name)
    valid = SignInPasskey.user_id == user.id, SignInPasskey.session_version == user.session_version
    here = select(SignInPasskey.credential_id).where(*valid, SignInPasskey.host == party.id)
    known = db.session.scalars(here)
    return creation_options(party, shop_name, owner, challenge, for_sign_in=True, known=tuple(known))


def options_to_sign_in(party: RelyingParty, challenge: bytes) -> dict[str, Any]:
    """Return the options with which a browser offers the passkeys that it has for this host."""
    return request_options(party.id, None, challenge)


def add(
    author: Author, user: User, party: RelyingParty, challenge: bytes | None, answer: Mapping[str, Any], name: str
) -> None:
    """Store the passkey of a browser's answer (RegistrationResponseJSON). `challenge` None: it is over. Raises Invalid,
    Conflict."""
    if problems := name_problems(name):
        raise Invalid(problems)
    if challenge is None:
        raise Conflict(OVER)
    try:
        credential = verify_registration(party, challenge, answer)
    except Unverified:
        raise Conflict(NOT_MADE) from None
    of_user = SignInPasskey.user_id == user.id
    db.session.execute(delete(SignInPasskey).where(of_user, SignInPasskey.session_version != user.session_version))
    counted = select(func.count()).select_from(SignInPasskey).where(of_user)
    if (db.session.scalar(counted) or 0) >= MOST_KEPT:
        raise Conflict(f"You have {MOST_KEPT} passkeys, which is the most. Remove one first.")
    now = author.now()
    db.session.add(
        SignInPasskey(
            id=str(uuid.uuid4()),
            user_id=user.id,
            session_version=user.session_version,
            host=party.id,
            credential_id=credential.id,
            public_key=credential.public_key,
            sign_count=credential.sign_count,
            name=one_line(name),
            created_at=now,
            last_used_at=now,
        )
    )
    flush_or_conflict(KNOWN)
    # Without its name, which may be that of a person.
    activity.record(author, "sign_in_passkey.add", ("user", str(user.id)), "Added a passkey to sign in with")


def remove(author: Author, user_id: int, passkey_id: str) -> str:
    """Remove a passkey of the user; return its name. Raises NotFound."""
    own = SignInPasskey.user_id == user_id, SignInPasskey.id == passkey_id
    passkey = existing(db.session.scalar(select(SignInPasskey).where(*own)), MISSING)
    name = passkey.name
    db.session.delete(passkey)
    activity.record(author, "sign_in_passkey.remove", ("user", str(user_id)), "Removed a passkey to sign in with")
    return name


def user_by_passkey(clock: Clock, party: RelyingParty, challenge: bytes | None, answer: Mapping[str, Any]) -> User:
    """Return the user of a browser's answer (AuthenticationResponseJSON), whom the device has verified. Each challenge
    is taken once, since passkeys that lie on several devices count no signatures. Call it in a transaction. Raises
    Invalid with the same words whatever is wrong with the answer, and where its challenge is over or was taken."""
    if challenge is None:
        raise Invalid.one("challenge_over", OVER)
    named = SignInPasskey.host == party.id, SignInPasskey.credential_id == str(answer.get("id"))
    passkey = db.session.scalar(select(SignInPasskey).where(*named).with_for_update())
    user = db.session.get(User, passkey.user_id) if passkey else None
    if passkey is None or user is None or not user.enabled or passkey.session_version != user.session_version:
        raise Invalid.one("wrong_passkey", WRONG)
    known = Credential(passkey.credential_id, passkey.public_key, passkey.sign_count)
    try:
        passkey.sign_count = verify_assertion(party, challenge, answer, known)
    except Unverified:
        raise Invalid.one("wrong_passkey", WRONG) from None
    if throttle.count_within(clock, f"sign-in-challenge:{challenge.hex()}", (1, CHALLENGE_TAKEN_FOR)):
        raise Invalid.one("challenge_over", OVER)
    passkey.last_used_at = clock.now()
    return user
