"""Everything that the shop signs: THE table of purposes, then what is signed for each.

Tokens of the API are JSON Web Tokens, as its specification names them; everything else is a text of itsdangerous. Each
purpose has a salt of its own, so that a text of one purpose is none of another. Cookies of sessions and tokens of forms
are Flask's own; a refresh token is no signed text (app/domain/sites/api_sessions.py).
"""

from __future__ import annotations

import hmac
import secrets
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

import itsdangerous
import jwt
from flask import current_app
from itsdangerous.signer import SigningAlgorithm

from app.config import Config
from app.domain.shared.problems import Unauthenticated
from app.domain.sites import accounts, devices, sign_in_sessions
from app.domain.sites.api_sessions import ApiCaller
from app.domain.sites.models import User
from app.domain.sites.sign_in_sessions import KnownDevice

ALGORITHM = "HS256"
ISSUER = "shop"
LONGEST_JWT = 2_048  # Ours have some 400 characters.
STANDARD_CLAIMS = ("iss", "aud", "sub", "jti", "iat", "exp")
# Addresses at which bodies may be larger than others; each is followed by the permit.
UPLOAD_ADDRESSES = ("/admin/settings/import-export/upload/", "/admin/catalogue/products/import/upload/")


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a text is signed for. It has at most `longest` characters, and holds for `lifetime`, or for ever where that
    is None."""

    salt: str
    longest: int
    lifetime: timedelta | None = None


@dataclass(frozen=True, slots=True)
class TokenKind:
    """A kind of JSON Web Token, which holds for `lifetime` at most (RFC 8725). `typ` and `audience` are those of the
    token, `claims` are its own. Its key is derived for `purpose` alone, from the shop's secret."""

    typ: str
    audience: str
    purpose: str
    lifetime: timedelta
    claims: tuple[str, ...]


ACCESS = TokenKind("at+jwt", "shop-api", "access-tokens", timedelta(minutes=15), ("sid", "roles", "ver"))
PAYMENT = TokenKind("pos-pay+jwt", "pos-reader", "payment-tokens", timedelta(minutes=5), ("sid", "agent", "location"))

DEVICE = Purpose("known-devices", 2_048)  # Each user in it has an end of its own; twenty take some 1,700 characters.
INVITATION = Purpose("invitation", 300, timedelta(days=7))
JOURNEY = Purpose("journey", 4_096)  # The cookie's age is its end.
ORDER = Purpose("order", 120)
PASSKEY_ASSERTION = Purpose("passkey-assertion", 400, timedelta(minutes=5))
PASSKEY_REGISTRATION = Purpose("passkey-registration", 400, timedelta(minutes=5))
PASSWORD_RESET = Purpose("password-reset", 300, timedelta(hours=1))
RECEIPT = Purpose("receipt", 120)
RECEIVED_FILE = Purpose("received-file", 1_000, timedelta(minutes=50))  # An unused file is removed after an hour.
SECOND_FACTOR_SETUP = Purpose("second-factor-setup", 300, timedelta(hours=1))
SECOND_STEP = Purpose("second-step", 300, timedelta(minutes=10))
SESSION_END = Purpose("session-end", 200)  # The session itself ends first.
THEME_PREVIEW = Purpose("theme-preview", 500, timedelta(hours=1))
UPLOAD_PERMIT = Purpose("upload-permit", 300, timedelta(hours=1))


class ShortSignature(SigningAlgorithm):
    """HMAC with SHA-256, of which 144 bits are kept: people type addresses from paper."""

    def get_signature(self, key: bytes, value: bytes) -> bytes:
        return hmac.digest(key, value, "sha256")[:18]


@dataclass(frozen=True, slots=True)
class Signer:
    """The one signer of texts: HMAC with SHA-256, under a key that is derived from the shop's secret and the salt of
    the purpose."""

    key: bytes

    @classmethod
    def of(cls, config: Config) -> Signer:
        return cls(config.key_for("signed-texts"))

    def sign(self, purpose: Purpose, value: Any, now: datetime) -> str:
        """Return a value of JSON as a signed text that stands in addresses and cookies as it is."""
        ends = int((now + purpose.lifetime).timestamp()) if purpose.lifetime else None
        return str(self._serializer(purpose).dumps([ends, value]))

    def read(self, purpose: Purpose, text: str, now: datetime) -> Any:
        """Return the value of a text that was signed for this purpose and still holds; None for any other text."""
        if not 0 < len(text) <= purpose.longest or not text.isascii():
            return None
        try:
            ends, value = self._serializer(purpose).loads(text)
        except (itsdangerous.BadData, ValueError, TypeError):
            return None
        return value if ends is None or now.timestamp() < ends else None

    def sign_as_is(self, purpose: Purpose, site_id: int, value: str) -> str:
        """Return a text that stands in addresses and cookies already, with a short signature, for one site and for
        ever."""
        salt, short = f"{purpose.salt}/{site_id}", ShortSignature()
        signer = itsdangerous.Signer(self.key, salt, key_derivation="hmac", digest_method=sha256, algorithm=short)
        return signer.sign(value).decode()

    def read_as_is(self, purpose: Purpose, site_id: int, text: str) -> str | None:
        """Return the text that was signed for this purpose on this site; None for any other text."""
        value = text.rpartition(".")[0]
        if not value or len(text) > purpose.longest or not text.isascii():
            return None
        # All of the text is compared: Base64 would take other endings of the signature as well.
        return value if hmac.compare_digest(self.sign_as_is(purpose, site_id, value), text) else None

    def _serializer(self, purpose: Purpose) -> itsdangerous.URLSafeSerializer:
        derivation = {"key_derivation": "hmac", "digest_method": sha256}
        return itsdangerous.URLSafeSerializer(self.key, purpose.salt, signer_kwargs=derivation)


def current_signer() -> Signer:
    return Signer.of(current_app.config["SHOP"])


# JSON Web Tokens.


def key_for(purpose: str) -> bytes:
    """Return the key of the API for a purpose."""
    config: Config = current_app.config["SHOP"]
    return config.key_for(f"v1/{purpose}")


def not_ours() -> Unauthenticated:
    return Unauthenticated("token_invalid", "Send a token of this shop: Authorization: Bearer <token>.")


def issue_jwt(kind: TokenKind, subject: str, claims: Mapping[str, Any], now: datetime, expires_at: datetime) -> str:
    standard = {
        "iss": ISSUER,
        "aud": kind.audience,
        "sub": subject,
        "jti": uuid.uuid4().hex,
        "iat": int(now.timestamp()),
        "exp": int(expires_at.timestamp()),
    }
    return jwt.encode(standard | dict(claims), key_for(kind.purpose), ALGORITHM, headers={"typ": kind.typ})


def read_jwt(kind: TokenKind, token: str) -> dict[str, Any]:
    """Return the claims of a token of this kind, also when its time is over, which the caller compares with the shop's
    clock. Raises Unauthenticated for any other text.

    The header is compared with the one that every token of the kind has before anything is parsed, so that no token can
    name another algorithm, kind or key."""
    key = key_for(kind.purpose)
    header = jwt.encode({}, key, ALGORITHM, headers={"typ": kind.typ}).partition(".")[0]
    if len(token) > LONGEST_JWT or token.partition(".")[0] != header:
        raise not_ours()
    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=[ALGORITHM],
            audience=kind.audience,
            issuer=ISSUER,
            options={"require": [*STANDARD_CLAIMS, *kind.claims], "verify_exp": False, "verify_iat": False},
        )
    except jwt.InvalidTokenError:
        raise not_ours() from None
    return claims


@dataclass(frozen=True, slots=True)
class AccessClaims:
    """The claims of an access token (RFC 9068), which names a session. It opens nothing by itself: every request looks
    the session up. `roles` are those that the user held when it was issued."""

    user_id: int
    session_id: str
    roles: tuple[str, ...]
    expires_at: int

    def is_over(self, now: datetime) -> bool:
        return now.timestamp() >= self.expires_at


def access_token_expiry(caller: ApiCaller, now: datetime) -> datetime:
    return min(now + ACCESS.lifetime, caller.expires_at)


def issue_access_token(caller: ApiCaller, now: datetime) -> str:
    claims = {"sid": caller.session_id, "roles": sorted(caller.roles), "ver": caller.session_version}
    return issue_jwt(ACCESS, str(caller.user_id), claims, now, access_token_expiry(caller, now))


def read_access_token(token: str) -> AccessClaims:
    """Return the claims of an access token, also when its time is over. Raises Unauthenticated for any other text."""
    claims = read_jwt(ACCESS, token)
    return AccessClaims(int(claims["sub"]), claims["sid"], tuple(claims["roles"]), claims["exp"])


# Known devices: what a device stores about the users who signed in on it before, a browser as a cookie, a program as
# its `deviceToken`. It opens nothing: it only says whose failures count for the device alone.


def device_of_token(token: str, email: str, now: datetime) -> str | None:
    """Return the id under which the device with this token is known for the user of the email address; None where it is
    not, or was removed."""
    known = _known_devices(token, now)
    user = accounts.find_user(email) if known else None
    known_id = sign_in_sessions.device_of(known, user, now) if user else None
    return None if user is None or known_id is None or devices.was_removed(user.id, known_id) else known_id


def device_token_with_user(token: str, user: User, now: datetime, listed_as: str = "") -> str:
    """Return the token that the device stores in place of this one after the user has signed in on it. `listed_as` is
    the id of the device in the user's list, empty where it is not listed."""
    known = sign_in_sessions.device_with_user(_known_devices(token, now), user, now, listed_as)
    return current_signer().sign(DEVICE, known, now)


def _known_devices(token: str, now: datetime) -> list[KnownDevice]:
    return [KnownDevice(*device) for device in current_signer().read(DEVICE, token, now) or ()]


# The second step of a sign-in: who gave the right password, and the seed of a second factor that is being set up.


def issue_second_step(user: User, now: datetime) -> str:
    return current_signer().sign(SECOND_STEP, [user.id, user.session_version], now)


def read_second_step(token: str, now: datetime) -> tuple[int, int] | None:
    """Return the id and session version of the user who gave the right password; None for any other text."""
    read = current_signer().read(SECOND_STEP, token, now)
    return (read[0], read[1]) if read else None


def second_factor_key() -> bytes:
    """Return the key that the keys of users' authenticator apps are derived from."""
    config: Config = current_app.config["SHOP"]
    return config.key_for("second-factor")


def issue_second_factor_setup(user_id: int, seed: str, now: datetime) -> str:
    return current_signer().sign(SECOND_FACTOR_SETUP, [user_id, seed], now)


def seed_of_setup(token: str, user_id: int, now: datetime) -> str | None:
    """Return the seed that the user's app was set up with; None for any other text."""
    read = current_signer().read(SECOND_FACTOR_SETUP, token, now)
    return str(read[1]) if read and read[0] == user_id else None


# What ends a session and does nothing else: a till that forgot its tokens, as after a PIN that was wrong too often.


def issue_end_token(session_id: str, now: datetime) -> str:
    return current_signer().sign(SESSION_END, session_id, now)


def session_of_end_token(token: str, now: datetime) -> str | None:
    """Return the id of the session that a token may end; None for any other text."""
    found = current_signer().read(SESSION_END, token, now)
    return found if isinstance(found, str) else None


# Challenges of passkeys: each is the hash of a text that the program sends back, so that none is stored.


def issue_challenge(purpose: Purpose, bound_to: str, now: datetime) -> str:
    """Return a text, another one each time, whose challenge is for what it is bound to alone: a session or the hash of
    a refresh token."""
    return current_signer().sign(purpose, [bound_to, secrets.token_urlsafe(16)], now)


def challenge_of(challenge_token: str) -> bytes:
    return sha256(challenge_token.encode()).digest()


def read_challenge(purpose: Purpose, challenge_token: str, bound_to: str, now: datetime) -> bytes | None:
    """Return the challenge of a text that still holds and is bound to this; None for any other text."""
    read = current_signer().read(purpose, challenge_token, now)
    return challenge_of(challenge_token) if read and read[0] == bound_to else None


# Permits to send a body that is larger than others: in the address, so that the web server can check one before it
# takes anything of the body.


def issue_upload_permit(signer: Signer, site_id: int, user_id: int, now: datetime) -> str:
    return signer.sign(UPLOAD_PERMIT, [site_id, user_id], now)


def holder_of_permit(signer: Signer, permit: str, now: datetime) -> tuple[int, int] | None:
    """Return the site and user of a permit that still holds; None for any other text."""
    holder = signer.read(UPLOAD_PERMIT, permit, now)
    return (holder[0], holder[1]) if holder else None


def has_upload_permit(signer: Signer, path: str, now: datetime) -> bool:
    """Whether a path carries a permit that still holds."""
    permits = (path.removeprefix(address) for address in UPLOAD_ADDRESSES if path.startswith(address))
    return any(holder_of_permit(signer, permit, now) is not None for permit in permits)


# Files that a user sent, in the address of the page on which the user decides what to do with the file.


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """A file that a user sent. `file` is its name in the shop's folder on `machine`, `name` what the user calls it."""

    site_id: int
    user_id: int
    file: str
    name: str
    machine: str = ""


def issue_received_file(received: ReceivedFile, now: datetime) -> str:
    sent = [received.site_id, received.user_id, received.file, received.name, received.machine]
    return current_signer().sign(RECEIVED_FILE, sent, now)


def read_received_file(token: str, now: datetime) -> ReceivedFile | None:
    """Return the file of a token that still holds; None for any other text."""
    sent = current_signer().read(RECEIVED_FILE, token, now)
    return ReceivedFile(*sent) if sent else None


# Previews of a theme, which a browser may see before shoppers do.


def issue_theme_preview(site_id: int, theme: str, now: datetime) -> str:
    return current_signer().sign(THEME_PREVIEW, [site_id, theme], now)


def previewed_theme(token: str, site_id: int, now: datetime) -> str | None:
    """Return the theme that the token shows; None for a token of another site, an expired or a forged one."""
    shown = current_signer().read(THEME_PREVIEW, token, now)
    return str(shown[1]) if shown and shown[0] == site_id else None


# Receipts, whose addresses open the receipt of one payment of one site to everybody who has them.


def receipt_token(signer: Signer, site_id: int, transaction_id: str) -> str:
    return signer.sign_as_is(RECEIPT, site_id, transaction_id)


def transaction_of_receipt(signer: Signer, site_id: int, token: str) -> str | None:
    """Return the id of the payment that a token names; None for a token that was not signed for this site."""
    return signer.read_as_is(RECEIPT, site_id, token)


# Orders, whose addresses in emails and after a look-up open the page of one order of one site.


def order_token(signer: Signer, site_id: int, order_id: str) -> str:
    return signer.sign_as_is(ORDER, site_id, order_id)


def order_of_token(signer: Signer, site_id: int, token: str) -> str | None:
    """Return the id of the order that a token names; None for a token that was not signed for this site."""
    return signer.read_as_is(ORDER, site_id, token)
