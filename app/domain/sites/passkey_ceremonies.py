"""The two ceremonies of WebAuthn, as they are requested from a browser and verified: registering a passkey, and
answering a challenge with it. Pure.

Source: Web Authentication, level 3, sections 5.1 (JSON forms), 7.1 and 7.2 (what is to be verified).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

ALGORITHMS = (-7, -8, -257)  # ES256, EdDSA; RS256 is that of Windows Hello (COSE).
PUBLIC_KEY = "public-key"
TIMEOUT = 120_000  # Milliseconds for the user.
LONGEST_ID, LONGEST_KEY = 1_023, 1_024  # Bytes. An RSA key of 4,096 bits takes some 540.


@dataclass(frozen=True, slots=True)
class RelyingParty:
    """The shop as browsers know it: `id` is the host, `origin` has the scheme and the port as well."""

    id: str
    origin: str


@dataclass(frozen=True, slots=True)
class PasskeyOwner:
    """The user that a passkey is made for. A device that gets another passkey for the same `handle` replaces the one
    before."""

    handle: bytes
    email: str
    display_name: str


@dataclass(frozen=True, slots=True)
class Credential:
    """A verified passkey: its id in Base64, its public key in COSE, and its counter of signatures, 0 where it has
    none."""

    id: str
    public_key: bytes
    sign_count: int


class Unverified(Exception):
    """The error of a browser's answer that is not verified, with the reason for the log."""


def owner_handle(site_id: int, user_id: int, device: str) -> bytes:
    """Return the handle of a user for one device, from which nothing can be read about either."""
    return hashlib.sha256(f"passkey/{site_id}/{user_id}/{device}".encode()).digest()


def creation_options(
    party: RelyingParty,
    shop_name: str,
    owner: PasskeyOwner,
    challenge: bytes,
    for_sign_in: bool = False,
    known: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the options for `navigator.credentials.create` (PublicKeyCredentialCreationOptionsJSON). A till has one on
    the device itself, which replaces that of the day before. One `for_sign_in` may lie anywhere, such as on a phone or
    a security key, and is found without the user's address; devices with one of the `known` make no second."""
    place = {} if for_sign_in else {"authenticatorAttachment": "platform"}
    return {
        "rp": {"id": party.id, "name": shop_name},
        "user": {"id": encode(owner.handle), "name": owner.email, "displayName": owner.display_name},
        "challenge": encode(challenge),
        "pubKeyCredParams": [{"type": PUBLIC_KEY, "alg": algorithm} for algorithm in ALGORITHMS],
        "timeout": TIMEOUT,
        "excludeCredentials": [{"type": PUBLIC_KEY, "id": credential_id} for credential_id in known],
        "authenticatorSelection": place
        | {
            "residentKey": "required" if for_sign_in else "preferred",
            "requireResidentKey": for_sign_in,
            "userVerification": "required",
        },
        "attestation": "none",
    }


def request_options(party_id: str, credential_id: str | None, challenge: bytes) -> dict[str, Any]:
    """Return the options for `navigator.credentials.get` (PublicKeyCredentialRequestOptionsJSON) with one passkey, or
    with any that the user has for this shop."""
    one = {"type": PUBLIC_KEY, "id": credential_id, "transports": ["internal"]}
    return {
        "challenge": encode(challenge),
        "timeout": TIMEOUT,
        "rpId": party_id,
        "allowCredentials": [one] if credential_id else [],
        "userVerification": "required",
    }


def verify_registration(party: RelyingParty, challenge: bytes, answer: Mapping[str, Any]) -> Credential:
    """Return the passkey of a RegistrationResponseJSON whose user was verified. Raises Unverified."""
    # 25 MB and a tenth of a second, for those who verify.
    from webauthn import verify_registration_response
    from webauthn.helpers.cose import COSEAlgorithmIdentifier

    try:
        verified = verify_registration_response(
            credential=dict(answer),
            expected_challenge=challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            require_user_verification=True,
            supported_pub_key_algs=[COSEAlgorithmIdentifier(algorithm) for algorithm in ALGORITHMS],
        )
    except Exception as error:  # Its parsers raise whatever a malformed answer makes them raise.
        raise Unverified(str(error)) from error
    if len(verified.credential_id) > LONGEST_ID or len(verified.credential_public_key) > LONGEST_KEY:
        raise Unverified("The id or the key of the passkey is too long.")
    return Credential(encode(verified.credential_id), verified.credential_public_key, verified.sign_count)


def verify_assertion(party: RelyingParty, challenge: bytes, answer: Mapping[str, Any], known: Credential) -> int:
    """Return the counter of signatures of an AuthenticationResponseJSON that the known passkey signed after verifying
    its user. Raises Unverified, also when the counter did not grow."""
    from webauthn import verify_authentication_response

    if answer.get("id") != known.id:
        raise Unverified("Another passkey answered.")
    try:
        verified = verify_authentication_response(
            credential=dict(answer),
            expected_challenge=challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            credential_public_key=known.public_key,
            credential_current_sign_count=known.sign_count,
            require_user_verification=True,
        )
    except Exception as error:
        raise Unverified(str(error)) from error
    return verified.new_sign_count


def encode(data: bytes) -> str:
    """Return Base64 for addresses, without padding, as JSON of WebAuthn has it."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
