"""How long passkeys to sign in with are kept."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select

from app.domain.sites import accounts
from app.domain.sites.accounts import Role
from app.domain.sites.models import SignInPasskey, User
from app.domain.sites.purge import RETENTIONS
from app.domain.sites.sign_in_sessions import DEVICE_KNOWN_FOR
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_site, make_user
from tests.fakes.clock import StoppedClock
from tests.purging import purged

pytestmark = pytest.mark.usefixtures("context")
RETENTION = next(one for one in RETENTIONS if one.model is SignInPasskey)


@pytest.fixture
def user(clock: StoppedClock) -> User:
    """Who used a passkey just now."""
    with transaction():
        made = make_user(make_site(), Role.MERCHANDISER)
        now = clock.now()
        passkey = SignInPasskey(
            id="passkey", user_id=made.id, session_version=made.session_version, host="shop.test",
            credential_id="credential", public_key=b"", sign_count=0, name="My phone", created_at=now, last_used_at=now,
        )  # fmt: skip
        db.session.add(passkey)
        return made


def count() -> int:
    return db.session.scalar(select(func.count()).select_from(SignInPasskey)) or 0


def test_an_unused_passkey_is_forgotten(user: User, clock: StoppedClock) -> None:
    clock.move(days=DEVICE_KNOWN_FOR.days)
    purged(clock, RETENTION)
    assert count() == 1
    clock.move(days=2)
    purged(clock, RETENTION)
    assert count() == 0


def test_a_new_password_removes_passkeys_whoever_sets_it(user: User) -> None:
    with transaction():
        accounts.set_password(8, user, "nine blue kettles")
    assert count() == 0
