"""An authenticator of WebAuthn in software: makes passkeys of P-256 and signs with them, as a browser and the phone
below it do, or as a forger would."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from webauthn.helpers import base64url_to_bytes

from app.domain.sites.passkey_ceremonies import encode

PRESENT, VERIFIED, WITH_CREDENTIAL = 0x01, 0x04, 0x40
Json = dict[str, Any]


@dataclass
class SoftwareAuthenticator:
    """One passkey. `rp_id` None: that of the options. `counts`: whether it has a counter of signatures."""

    origin: str = "http://localhost"
    rp_id: str | None = None
    verifies_user: bool = True
    counts: bool = True
    sign_count: int = 0
    id: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def create(self, options: Json) -> Json:
        """Return the RegistrationResponseJSON to PublicKeyCredentialCreationOptionsJSON."""
        client_data = self._client_data("webauthn.create", options["challenge"])
        data = self.data_with(self._public_key(), options["rp"]["id"])
        attestation = {"fmt": "none", "attStmt": {}, "authData": data}
        response = {"clientDataJSON": encode(client_data), "attestationObject": encode(cbor2.dumps(attestation))}
        return self._credential(response | {"transports": ["internal"]})

    def get(self, options: Json) -> Json:
        """Return the AuthenticationResponseJSON to PublicKeyCredentialRequestOptionsJSON."""
        self.sign_count += self.counts
        client_data = self._client_data("webauthn.get", options["challenge"])
        data = self._data(options["rpId"])
        signature = self.key.sign(data + hashlib.sha256(client_data).digest(), ec.ECDSA(SHA256()))
        response = {
            "clientDataJSON": encode(client_data),
            "authenticatorData": encode(data),
            "signature": encode(signature),
            "userHandle": None,
        }
        return self._credential(response)

    def data_with(self, public_key: bytes, rp_id: str) -> bytes:
        """Return the authenticator's data of a new passkey with this key, in COSE."""
        return self._data(rp_id, WITH_CREDENTIAL) + bytes(16) + len(self.id).to_bytes(2, "big") + self.id + public_key

    def _credential(self, response: Json) -> Json:
        return {
            "id": encode(self.id),
            "rawId": encode(self.id),
            "type": "public-key",
            "authenticatorAttachment": "platform",
            "clientExtensionResults": {},
            "response": response,
        }

    def _client_data(self, type_: str, challenge: str) -> bytes:
        assert base64url_to_bytes(challenge)
        sent = {"type": type_, "challenge": challenge, "origin": self.origin, "crossOrigin": False}
        return json.dumps(sent).encode()

    def _data(self, rp_id: str, flags: int = 0) -> bytes:
        flags |= PRESENT | (VERIFIED if self.verifies_user else 0)
        digest = hashlib.sha256((self.rp_id or rp_id).encode()).digest()
        return digest + bytes([flags]) + self.sign_count.to_bytes(4, "big")

    def _public_key(self) -> bytes:
        point = self.key.public_key().public_numbers()
        x, y = (number.to_bytes(32, "big") for number in (point.x, point.y))
        return cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y})
