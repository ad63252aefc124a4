"""A file that a user sent and that waits for what to do with it, as a signed text in the address of the next page."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from itsdangerous import BadData, URLSafeTimedSerializer

from app.config import Config

LASTS = 3_000  # Seconds; a file that nothing asked for goes after an hour.
LONGEST = 1_000


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """`file` is its name in the shop's folder, `name` what the user calls it."""

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
        """The file of a text that was issued within the hour; None for any other."""
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
