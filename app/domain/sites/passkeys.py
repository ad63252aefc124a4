"""The passkeys by which a user unlocks a till: registered in a session, which is bound to its passkey from then on,
listed, and removed together with the sessions that they unlock. A passkey opens no session: that takes the password."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, delete, select

from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Invalid, NotFound
from app.domain.shared.records import flush_or_conflict
from app.domain.sites import activity, api_sessions
from app.domain.sites.api_sessions import ApiCaller
from app.domain.sites.models import ApiSession, Site, UserPasskey
from app.domain.sites.passkey_ceremonies import (
    PasskeyOwner,
    RelyingParty,
    Unverified,
    creation_options,
    owner_handle,
    verify_registration,
)
from app.extensions import db

MISSING = "There is no such passkey."
KNOWN = "This passkey is registered already."
MOST_KEPT = 20  # Of a user on a site: an app that names no device has no end of them.


@dataclass(frozen=True, slots=True)
class ListedPasskey:
    """A passkey of a user. `name` None: the app gave it none. `is_current`: the session that reads the list is bound to
    it."""

    id: str
    name: str | None
    created_at: datetime
    is_current: bool


def registration_options(caller: ApiCaller, party: RelyingParty, challenge: bytes) -> dict[str, Any]:
    """Return the options with which the caller's browser makes a passkey. Each device has a handle of its own, so that
    it replaces none of another."""
    device_id, shop_name = db.session.execute(
        select(ApiSession.device_id, Site.name)
        .join(Site, Site.id == ApiSession.site_id)
        .where(ApiSession.id == caller.session_id)
    ).one()
    handle = owner_handle(caller.site_id, caller.user_id, device_id or caller.session_id)
    return creation_options(party, shop_name, PasskeyOwner(handle, caller.email, caller.display_name), challenge)


def register(
    author: Author,
    caller: ApiCaller,
    party: RelyingParty,
    challenge: bytes,
    answer: Mapping[str, Any],
    name: str | None = None,
) -> ListedPasskey:
    """Store the passkey of a browser's answer (RegistrationResponseJSON), and bind the caller's session to it. What the
    same device had before is removed. Raises Invalid for an answer that is not verified, and Conflict for a passkey
    that is registered already."""
    try:
        credential = verify_registration(party, challenge, answer)
    except Unverified:
        message = "This is no answer of a passkey to this challenge, at this address, with its user verified."
        raise Invalid.one("passkey_invalid", message, "#/credential") from None
    known = UserPasskey.site_id == caller.site_id, UserPasskey.credential_id == credential.id
    if db.session.scalar(select(UserPasskey.id).where(*known)):
        raise Conflict(KNOWN, "passkey_exists")
    session = db.session.scalars(select(ApiSession).where(ApiSession.id == caller.session_id).with_for_update()).one()
    now = author.clock.now()
    passkey = UserPasskey(
        id=str(uuid.uuid4()),
        site_id=caller.site_id,
        user_id=caller.user_id,
        credential_id=credential.id,
        public_key=credential.public_key,
        sign_count=credential.sign_count,
        device_id=session.device_id,
        name=name or session.device_name,
        created_at=now,
        last_used_at=now,
    )
    session.passkey_id = passkey.id
    db.session.add(passkey)
    flush_or_conflict(KNOWN)
    _remove_replaced(author, passkey)
    summary = f"Registered a passkey of {caller.display_name}"
    activity.record(author, "passkey.add", ("user", str(caller.user_id)), summary)
    return ListedPasskey(passkey.id, passkey.name, passkey.created_at, is_current=True)


def _remove_replaced(author: Author, passkey: UserPasskey) -> None:
    """Remove what the device of a new passkey had before, and those beyond MOST_KEPT that were used longest ago."""
    others = _passkeys_of(passkey.site_id, passkey.user_id, UserPasskey.id != passkey.id)
    beyond = others[MOST_KEPT - 1 :]
    for other in others:
        if other in beyond or (passkey.device_id is not None and other.device_id == passkey.device_id):
            _remove(author, other)


def passkeys_of(site_id: int, user_id: int, session_id: str | None = None) -> list[ListedPasskey]:
    """Return the user's passkeys on the site, the one used last first. `session_id` is that of the reader."""
    current = db.session.scalar(select(ApiSession.passkey_id).where(ApiSession.id == session_id))
    return [
        ListedPasskey(each.id, each.name, each.created_at, each.id == current)
        for each in _passkeys_of(site_id, user_id)
    ]


def remove_passkey(author: Author, user_id: int, passkey_id: str) -> None:
    """Remove a passkey of the user on the author's site, and end the sessions that are bound to it. Raises NotFound."""
    found = _passkeys_of(author.site_id, user_id, UserPasskey.id == passkey_id)
    if not found:
        raise NotFound(MISSING, "passkey_not_found")
    _remove(author, found[0])
    # Without its name, which may be that of a person.
    activity.record(author, "passkey.remove", ("user", str(user_id)), "Removed a passkey")


def _passkeys_of(site_id: int, user_id: int, *which: ColumnElement[bool]) -> list[UserPasskey]:
    of_user = UserPasskey.site_id == site_id, UserPasskey.user_id == user_id
    latest = UserPasskey.last_used_at.desc(), UserPasskey.created_at.desc(), UserPasskey.id
    return list(db.session.scalars(select(UserPasskey).where(*of_user, *which).order_by(*latest)))


def _remove(author: Author, passkey: UserPasskey) -> None:
    api_sessions.end_of_passkey(author.clock, passkey.user_id, passkey.id)
    db.session.execute(delete(UserPasskey).where(UserPasskey.id == passkey.id))  # At most once: others may do the same.
