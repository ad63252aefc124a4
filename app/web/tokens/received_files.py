"""Signed tokens for files that a user sent, in the URL of the page on which the user decides what to do with the
file."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from itsdangerous import BadData, URLSafeTimedSerializer

from app.config import Config

LASTS = 3_000  # Seconds; an unused file is removed after an hour.
LONGEST = 1_000


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """A file that a user sent. `file` is its name in the shop's folder, `name` what the user calls it."""

    site_id: int
    user_id: int
    file: str
    name: str


@dataclass(frozen=True, slots=True)
class ReceivedFiles:
    key: bytes

    @classmethod
    def of(cls, config: Config) -> ReceivedFiles:
        return cls(config.key_for("received-file"))

    def issue(self, received: ReceivedFile) -> str:
        sent = [received.site_id, received.user_id, received.file, received.name]
        return str(self._serializer().dumps(sent))

    def read(self, token: str) -> ReceivedFile | None:
        """Return the file of a token that was issued at most LASTS seconds ago; None for any other text."""
        if len(token) > LONGEST:
            return None
        try:
            return ReceivedFile(*self._serializer().loads(token, max_age=LASTS))
        except (BadData, ValueError, TypeError):
            return None

    def _serializer(self) -> URLSafeTimedSerializer:
        return URLSafeTimedSerializer(
            self.key, salt="received", signer_kwargs={"key_derivation": "hmac", "digest_method": sha256}
        )
