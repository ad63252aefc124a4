"""Permission to see a theme before shoppers do: a signed text of site, theme and time of expiry."""

from __future__ import annotations

from datetime import datetime, timedelta
from hashlib import sha256

from flask import current_app
from itsdangerous import BadData, URLSafeSerializer

LASTS = timedelta(hours=1)
LONGEST = 500


def preview_token(site_id: int, theme: str, now: datetime) -> str:
    return str(_serializer().dumps([site_id, theme, int((now + LASTS).timestamp())]))


def previewed_theme(token: str, site_id: int, now: datetime) -> str | None:
    """Return the theme that the token shows; None for a token of another site, an expired or a forged one."""
    if not token or len(token) > LONGEST:
        return None
    try:
        token_site, theme, ends = _serializer().loads(token)
    except (BadData, ValueError, TypeError):
        return None
    return str(theme) if token_site == site_id and now.timestamp() < ends else None


def _serializer() -> URLSafeSerializer:
    return URLSafeSerializer(
        current_app.config["SECRET_KEY"],
        salt="theme-preview",
        signer_kwargs={"key_derivation": "hmac", "digest_method": sha256},
    )
