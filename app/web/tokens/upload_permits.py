"""Permits to send a body that is larger than others: signed texts in the URL, so that the web server can check one
before it takes anything of the body."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from itsdangerous import BadData, URLSafeSerializer

from app.config import Config

# Each is followed by the permit.
ADDRESSES = ("/admin/settings/import-export/upload/", "/admin/catalogue/products/import/upload/")
LASTS = timedelta(hours=1)
LONGEST = 300


@dataclass(frozen=True, slots=True)
class UploadPermits:
    key: bytes

    @classmethod
    def of(cls, config: Config) -> UploadPermits:
        return cls(config.key_for("upload-permit"))

    def issue(self, site_id: int, user_id: int, now: datetime) -> str:
        return str(self._serializer().dumps([site_id, user_id, int((now + LASTS).timestamp())]))

    def holder(self, permit: str, now: float) -> tuple[int, int] | None:
        """Return the site and user of a permit that is valid at `now` (seconds since 1970); None for any other text."""
        if len(permit) > LONGEST:
            return None
        try:
            site_id, user_id, ends = self._serializer().loads(permit)
        except (BadData, ValueError, TypeError):
            return None
        return (site_id, user_id) if now < ends else None

    def is_at(self, path: str, now: float) -> bool:
        """Whether a path carries a permit that is valid at `now`."""
        found = (path.removeprefix(address) for address in ADDRESSES if path.startswith(address))
        return any(self.holder(permit, now) is not None for permit in found)

    def _serializer(self) -> URLSafeSerializer:
        return URLSafeSerializer(
            self.key, salt="upload", signer_kwargs={"key_derivation": "hmac", "digest_method": sha256}
        )
