"""The devices on which a user signs in at /v1, by the id that the app gives each of them: listed for the user and for
admins, and removed together with their sessions."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, and_, delete, exists, false, select, update

from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import NotFound
from app.domain.shared.records import upsert
from app.domain.sites import activity, api_sessions
from app.domain.sites.api_sessions import ApiCaller, Device
from app.domain.sites.models import ApiSession, User, UserDevice, UserPasskey
from app.domain.sites.sign_in_sessions import listed_device
from app.extensions import db

MISSING = "There is no such device."
MOST_LISTED = 100  # The latest: an app that invents an id for each sign-in has no end of them.


@dataclass(frozen=True, slots=True)
class ListedDevice:
    """A device of a user. `name` None: the app gave it none. `is_current`: the session that reads the list is there."""

    id: str
    name: str | None
    first_seen_at: datetime
    last_seen_at: datetime
    is_current: bool


def note_sign_in(clock: Clock, caller: ApiCaller, device: Device) -> str:
    """List the device of a user who just signed in, or note that it was seen; return its id in the list, empty where
    the app named no device. A name that is not given again stays."""
    if device.id is None:
        return ""
    now = clock.now()
    listed = upsert(UserDevice).values(
        id=secrets.token_urlsafe(12),
        site_id=caller.site_id,
        user_id=caller.user_id,
        device_id=device.id,
        name=device.name,
        first_seen_at=now,
        last_seen_at=now,
    )
    seen = {"last_seen_at": now} | ({} if device.name is None else {"name": device.name})
    key = ("site_id", "user_id", "device_id")
    listed = listed.on_conflict_do_update(index_elements=key, set_=seen).returning(UserDevice.id)
    device_id: str = db.session.scalars(listed).one()
    return device_id


def note_use(clock: Clock, session_id: str) -> None:
    """Note that the device of a session was seen just now."""
    seen = update(UserDevice).where(_is_of_session(session_id)).values(last_seen_at=clock.now())
    db.session.execute(seen.execution_options(synchronize_session=False))


def devices_of(site_id: int, user_id: int, session_id: str | None = None) -> list[ListedDevice]:
    """Return the user's devices on the site, the one seen last first. `session_id` is that of the reader."""
    is_current = false() if session_id is None else _is_of_session(session_id)
    rows = db.session.execute(
        select(UserDevice, is_current)
        .where(UserDevice.site_id == site_id, UserDevice.user_id == user_id)
        .order_by(UserDevice.last_seen_at.desc(), UserDevice.id)
        .limit(MOST_LISTED)
    )
    return [
        ListedDevice(device.id, device.name, device.first_seen_at, device.last_seen_at, bool(current))
        for device, current in rows
    ]


def remove_device(author: Author, user_id: int, device_id: str) -> str | None:
    """Remove a device of the user on the author's site with its passkeys, and end its sessions; return its name. Raises
    NotFound."""
    row = db.session.execute(
        select(UserDevice, User)
        .join(User, User.id == UserDevice.user_id)
        .where(UserDevice.site_id == author.site_id, UserDevice.user_id == user_id, UserDevice.id == device_id)
    ).one_or_none()
    if row is None:
        raise NotFound(MISSING, "device_not_found")
    device, user = row
    api_sessions.end_of_device(author.clock, device.site_id, device.user_id, device.device_id)
    of_device = UserPasskey.site_id == device.site_id, UserPasskey.user_id == device.user_id
    db.session.execute(delete(UserPasskey).where(*of_device, UserPasskey.device_id == device.device_id))
    db.session.delete(device)
    # Without its name, which may be that of a person.
    activity.record(author, "device.remove", ("user", str(user.id)), f"Removed a device of {user.display_name}")
    name: str | None = device.name
    return name


def was_removed(user_id: int, known_id: str) -> bool:
    """Whether the device that is known under this id was listed for the user once, and is no more."""
    listed = listed_device(known_id)
    mine = UserDevice.id == listed, UserDevice.user_id == user_id
    return bool(listed) and not db.session.scalar(select(exists().where(*mine)))


def _is_of_session(session_id: str) -> ColumnElement[bool]:
    """Return the condition of the device on which a session was opened."""
    return exists().where(
        and_(
            ApiSession.id == session_id,
            ApiSession.site_id == UserDevice.site_id,
            ApiSession.user_id == UserDevice.user_id,
            ApiSession.device_id == UserDevice.device_id,
        )
    )
