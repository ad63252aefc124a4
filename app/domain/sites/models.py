"""Sites, users, their sessions, devices and tokens, settings, stored events and the activity log."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, LargeBinary, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.domain.shared.records import JsonValue, UtcDateTime
from app.domain.work.mailing import MailToSend
from app.domain.work.models import state_known
from app.extensions import Base


class ShopConfiguration:
    """Mark of the records that decide how a site's shop looks. Saving one raises the site's `config_version`
    (app/domain/sites/versioning.py), by which every process sees that its copy is stale. Such a record has a
    `site_id`."""


class Site(Base, ShopConfiguration):
    """One shop. Every other record belongs to exactly one."""

    __tablename__ = "sites"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(200))
    currency: Mapped[str] = mapped_column(String(3), default="gbp")
    time_zone: Mapped[str] = mapped_column(String(64), default="Europe/London")
    staging: Mapped[bool] = mapped_column(default=False)
    capabilities: Mapped[list[str]] = mapped_column(JsonValue, default=list)
    config_version: Mapped[int] = mapped_column(default=1)
    index_version: Mapped[int] = mapped_column(default=0, server_default="0")
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)

    domains: Mapped[list[Domain]] = relationship(order_by="Domain.host", cascade="all, delete-orphan")

    @property
    def site_id(self) -> int:
        return self.id

    @property
    def primary_host(self) -> str:
        return next((domain.host for domain in self.domains if domain.primary), self.domains[0].host)


class Domain(Base, ShopConfiguration):
    """A host that answers with a site. Hosts are lower-case, without port or final dot."""

    __tablename__ = "domains"
    __table_args__ = (
        Index(
            "uq_domains_primary",
            "site_id",
            unique=True,
            sqlite_where=text('"primary" = 1'),
            postgresql_where=text('"primary"'),
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), index=True)
    host: Mapped[str] = mapped_column(String(253), unique=True)
    primary: Mapped[bool] = mapped_column(default=False)


class User(Base):
    """A user who can sign in. Raising `session_version` ends all sessions; no password means none can start."""

    __tablename__ = "users"

    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(String(254), unique=True)
    display_name: Mapped[str] = mapped_column(String(100))
    password_hash: Mapped[str | None] = mapped_column(String(200))
    enabled: Mapped[bool] = mapped_column(default=True)
    session_version: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)

    grants: Mapped[list[RoleGrant]] = relationship(cascade="all, delete-orphan")


class AccountMail(MailToSend, Base):
    """A mail with a link by which a user sets a password. The link works while the user has this `session_version`,
    which every change of the password raises."""

    __tablename__ = "account_mails"
    __table_args__ = (
        Index(None, "state", "next_try_at"),
        CheckConstraint("kind in ('reset', 'invitation')", name="kind_known"),
        state_known(),
    )

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    kind: Mapped[str] = mapped_column(String(16))
    session_version: Mapped[int]


class SecondFactor(Base):
    """The second factor of a user's sign-in (app/domain/sites/second_factors.py). `seed` is what the key of the user's
    app is derived from, `last_step` the step of the latest code, so that none works twice."""

    __tablename__ = "second_factors"

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    seed: Mapped[str] = mapped_column(String(40))
    last_step: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)


class RecoveryCode(Base):
    """A code that stands in for the app once: the row goes when it is used."""

    __tablename__ = "recovery_codes"
    __table_args__ = (UniqueConstraint("user_id", "code_hash"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    code_hash: Mapped[str] = mapped_column(String(64))


class SignInPasskey(Base):
    """A passkey by which a user signs in to the admin at a host (app/domain/sites/sign_in_passkeys.py), while the user
    has this `session_version`; other columns as in UserPasskey."""

    __tablename__ = "sign_in_passkeys"
    __table_args__ = (UniqueConstraint("host", "credential_id"),)

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    session_version: Mapped[int]
    host: Mapped[str] = mapped_column(String(253))
    credential_id: Mapped[str] = mapped_column(String(1_364))
    public_key: Mapped[bytes] = mapped_column(LargeBinary)
    sign_count: Mapped[int] = mapped_column(BigInteger)
    name: Mapped[str] = mapped_column(String(60))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    last_used_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)


class RoleGrant(Base):
    """A role of a user on a site. SUPERADMIN on any site reaches every site."""

    __tablename__ = "role_grants"
    __table_args__ = (UniqueConstraint("user_id", "site_id", "role"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), index=True)
    role: Mapped[str] = mapped_column(String(20))


class SignInSession(Base):
    """A browser that is signed in. The cookie holds a random token, this row its SHA-256."""

    __tablename__ = "sign_in_sessions"

    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), index=True)
    host: Mapped[str] = mapped_column(String(253))
    session_version: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    last_seen_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)


class ApiSession(Base):
    """A program that signed in at /v1 for a user. Access tokens name it and live for minutes; the refresh token, of
    which this row holds the SHA-256, is exchanged for its successor at each use (app/domain/sites/api_sessions.py).
    `last_used_at` is when that happened last. `passkey_id` is the passkey that the session is bound to. It is no
    foreign key: a session whose passkey is gone must not become one that needs none."""

    __tablename__ = "api_sessions"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), index=True)
    refresh_hash: Mapped[str] = mapped_column(String(64), unique=True)
    device_id: Mapped[str | None] = mapped_column(String(100))
    device_name: Mapped[str | None] = mapped_column(String(100))
    audience: Mapped[str] = mapped_column(String(20))
    session_version: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    last_used_at: Mapped[datetime] = mapped_column(UtcDateTime)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    ended_because: Mapped[str | None] = mapped_column(String(100))
    passkey_id: Mapped[str | None] = mapped_column(String(36), index=True)


class UserDevice(Base):
    """A device on which a user signed in at /v1. `device_id` is the id that the app gave it and by which sessions name
    it, `id` the one that others see; `last_seen_at` is the time of the latest sign-in or refresh there."""

    __tablename__ = "user_devices"
    __table_args__ = (UniqueConstraint("site_id", "user_id", "device_id"),)

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    device_id: Mapped[str] = mapped_column(String(100))
    name: Mapped[str | None] = mapped_column(String(100))
    first_seen_at: Mapped[datetime] = mapped_column(UtcDateTime)
    last_seen_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)


class UserPasskey(Base):
    """A passkey that unlocks API sessions of a user (app/domain/sites/passkeys.py). `credential_id` is in Base64 for
    addresses, `public_key` in COSE, `device_id` that of the session that registered it; `last_used_at` is the time of
    the registration or the latest unlock."""

    __tablename__ = "user_passkeys"
    __table_args__ = (UniqueConstraint("site_id", "credential_id"), Index(None, "site_id", "user_id"))

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    credential_id: Mapped[str] = mapped_column(String(1_364))
    public_key: Mapped[bytes] = mapped_column(LargeBinary)
    sign_count: Mapped[int] = mapped_column(BigInteger)
    device_id: Mapped[str | None] = mapped_column(String(100))
    name: Mapped[str | None] = mapped_column(String(100))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    last_used_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)


class PersonalToken(Base):
    """The token that a program sends to act as a user on the site (app/domain/sites/personal_tokens.py): its SHA-256,
    and the few characters by which its user recognises it. `last_used_at` is written once an hour."""

    __tablename__ = "personal_tokens"
    __table_args__ = (Index(None, "site_id", "user_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(String(60))
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    beginning: Mapped[str] = mapped_column(String(20))
    session_version: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)
    last_used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    revoked_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class StoredEvent(Base):
    """An event that must be followed up even if the process dies right after its commit. The row is written in the
    transaction of the event and deleted when the follow-up is done."""

    __tablename__ = "stored_events"

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(String(64))
    payload: Mapped[dict[str, Any]] = mapped_column(JsonValue, default=dict)
    attempts: Mapped[int] = mapped_column(default=0)
    error: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    next_try_at: Mapped[datetime] = mapped_column(UtcDateTime)


class SignInFailure(Base):
    """A failed sign-in, counted per account and network or per known device, a refresh or an amount above the limit,
    counted per session, an order, counted per hash of a network, a mail, counted per hash of its recipient, or the
    challenge of a passkey, which is taken once; purged when it no longer counts."""

    __tablename__ = "sign_in_failures"
    __table_args__ = (Index(None, "key", "at"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(String(300))
    at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)


class Setting(Base, ShopConfiguration):
    """A value that differs from the default of its key (app/domain/sites/setting_keys.py)."""

    __tablename__ = "settings"

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    value: Mapped[Any] = mapped_column(JsonValue)


class AuditEntry(Base):
    """An entry of the activity log. `before` and `after` hold only what changed, never a secret; `origin` is an Origin,
    None for what the shop did by itself."""

    __tablename__ = "audit_entries"
    __table_args__ = (
        Index(None, "site_id", "at", "id"),
        Index(None, "site_id", "action", "at", "id"),
        Index(None, "site_id", "subject_type", "subject_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    actor: Mapped[str] = mapped_column(String(100))
    action: Mapped[str] = mapped_column(String(64))
    subject_type: Mapped[str] = mapped_column(String(32))
    subject_id: Mapped[str] = mapped_column(String(120))
    summary: Mapped[str] = mapped_column(String(500))
    before: Mapped[Any | None] = mapped_column(JsonValue)
    after: Mapped[Any | None] = mapped_column(JsonValue)
    origin: Mapped[str | None] = mapped_column(String(16))
