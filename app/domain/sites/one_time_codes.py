"""The codes of two-step sign-in: those of an authenticator app (TOTP, RFC 6238: six digits, each for 30 seconds) and
recovery codes. Pure.

An app's key is derived from the shop's own and a random seed. Only the seed is stored, so that the database alone makes
no code.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
import unicodedata
from datetime import datetime

from pyotp import TOTP

STEP = 30  # Seconds.
DIGITS = 6
TOLERANCE = 1  # Steps that the clock of a phone may be fast or slow.
RECOVERY_CODES = 10
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # None looks like another: 16 of them are 79 bits.
RECOVERY_LENGTH, GROUP = 16, 4
_FROM_APP = re.compile(rf"[0-9]{{{DIGITS}}}", re.ASCII)


def new_seed() -> str:
    return secrets.token_hex(20)


def app_key(shop_key: bytes, user_id: int, seed: str) -> str:
    """Return the key that a user's app gets: 160 bits in Base32, as RFC 4226 recommends."""
    derived = hmac.digest(shop_key, f"{user_id}/{seed}".encode(), "sha256")[:20]
    return base64.b32encode(derived).decode()


def grouped_key(key: str) -> str:
    """Return a key in groups of four, for people who type it."""
    return " ".join(key[at : at + GROUP] for at in range(0, len(key), GROUP))


def key_address(key: str, email: str, shop_name: str) -> str:
    """Return the address that apps read from a QR code (otpauth://)."""
    return TOTP(key, digits=DIGITS, interval=STEP).provisioning_uri(name=email, issuer_name=shop_name)


def code_at(key: str, step: int) -> str:
    """Return the code of a step, which is counted from 1970."""
    return TOTP(key, digits=DIGITS, interval=STEP).generate_otp(step)


def step_of(moment: datetime) -> int:
    return int(moment.timestamp()) // STEP


def step_of_code(key: str, code: str, now: datetime, last_step: int) -> int | None:
    """Return the step of a code of these moments that is later than the last one used; None for any other text. A last
    one of the future was dated by a clock that was wrong."""
    if not is_from_app(code):
        return None
    current = step_of(now)
    used = last_step if last_step <= current + TOLERANCE else 0
    steps = [step for step in range(current - TOLERANCE, current + TOLERANCE + 1) if step > used]
    return next((step for step in steps if hmac.compare_digest(code_at(key, step), code)), None)


def plain_code(typed: str) -> str:
    """Return a typed code without the spaces and hyphens that people group it by, in ASCII where it was typed in full
    width."""
    return re.sub(r"[\s-]", "", unicodedata.normalize("NFKC", typed[:100])).lower()


def is_from_app(code: str) -> bool:
    """Whether a code has the form of an app's. Recovery codes are longer."""
    return _FROM_APP.fullmatch(code) is not None


def new_recovery_codes() -> list[str]:
    return ["".join(secrets.choice(LETTERS) for _ in range(RECOVERY_LENGTH)) for _ in range(RECOVERY_CODES)]


def grouped_recovery_code(code: str) -> str:
    return "-".join(code[at : at + GROUP] for at in range(0, len(code), GROUP))


def hash_recovery_code(user_id: int, code: str) -> str:
    """Return the hash that is stored. It needs no slow hash, since nobody chose the code, and no key of the shop: codes
    still work under another SECRET_KEY."""
    return hashlib.sha256(f"recovery-code/{user_id}/{code}".encode()).hexdigest()
