"""Only a passkey that signs for this shop, this challenge and a verified user is taken; whatever else is sent is
refused, and breaks nothing."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import cbor2
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from hypothesis import given
from hypothesis import strategies as st
from webauthn.helpers import base64url_to_bytes

from app.domain.sites.passkey_ceremonies import (
    LONGEST_ID,
    PasskeyOwner,
    RelyingParty,
    Unverified,
    creation_options,
    encode,
    owner_handle,
    request_options,
    verify_assertion,
    verify_registration,
)
from tests.software_authenticator import SoftwareAuthenticator

PARTY = RelyingParty("shop.test", "https://shop.test")
OWNER = PasskeyOwner(owner_handle(1, 2, "phone"), "tilly@shop.test", "Tilly")
CHALLENGE, OTHER = b"c" * 32, b"o" * 32
FINGER = SoftwareAuthenticator(origin=PARTY.origin)
Json = dict[str, Any]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30) | st.binary(max_size=40).map(encode),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=6,
)


def made(finger: SoftwareAuthenticator, challenge: bytes = CHALLENGE) -> Json:
    return finger.create(creation_options(PARTY, "Fern & Fell", OWNER, challenge))


def answered(finger: SoftwareAuthenticator, challenge: bytes = CHALLENGE) -> Json:
    return finger.get(request_options(PARTY.id, encode(finger.id), challenge))


def with_attestation(answer: Json, **changes: object) -> Json:
    response = answer["response"]
    attestation = cbor2.loads(base64url_to_bytes(response["attestationObject"])) | changes
    return answer | {"response": response | {"attestationObject": encode(cbor2.dumps(attestation))}}


KNOWN = verify_registration(PARTY, CHALLENGE, made(FINGER))


def test_a_registered_passkey_signs_in_turn() -> None:
    assert (KNOWN.id, KNOWN.sign_count) == (encode(FINGER.id), 0)
    finger = replace(FINGER)
    for count in (1, 2):
        answer = answered(finger, OTHER)
        assert verify_assertion(PARTY, OTHER, answer, replace(KNOWN, sign_count=count - 1)) == count
        with pytest.raises(Unverified):
            verify_assertion(PARTY, OTHER, answer, replace(KNOWN, sign_count=count))


def test_a_passkey_without_a_counter_signs_as_well() -> None:
    finger = replace(FINGER, counts=False)
    assert [verify_assertion(PARTY, CHALLENGE, answered(finger), KNOWN) for _ in range(2)] == [0, 0]


@pytest.mark.parametrize(
    "changes", [{"origin": "http://shop.test"}, {"rp_id": "evil.test"}, {"verifies_user": False}], ids=str
)
def test_where_and_by_whom_it_is_signed_is_verified(changes: Json) -> None:
    finger = replace(FINGER, **changes)
    with pytest.raises(Unverified):
        verify_registration(PARTY, CHALLENGE, made(finger))
    with pytest.raises(Unverified):
        verify_assertion(PARTY, CHALLENGE, answered(finger), KNOWN)


def test_an_answer_to_another_challenge_is_none() -> None:
    with pytest.raises(Unverified):
        verify_registration(PARTY, CHALLENGE, made(FINGER, OTHER))
    with pytest.raises(Unverified):
        verify_assertion(PARTY, CHALLENGE, answered(replace(FINGER), OTHER), KNOWN)


def test_a_passkey_with_another_id_or_key_is_another() -> None:
    for other in (SoftwareAuthenticator(PARTY.origin), SoftwareAuthenticator(PARTY.origin, id=FINGER.id)):
        with pytest.raises(Unverified):
            verify_assertion(PARTY, CHALLENGE, answered(other), KNOWN)
    with pytest.raises(Unverified):
        verify_assertion(PARTY, CHALLENGE, answered(replace(FINGER)) | {"id": "A"}, KNOWN)


def test_a_passkey_that_no_table_holds_is_refused() -> None:
    longest = SoftwareAuthenticator(PARTY.origin, id=b"i" * LONGEST_ID)
    assert len(verify_registration(PARTY, CHALLENGE, made(longest)).id) == 1_364
    with pytest.raises(Unverified):
        verify_registration(PARTY, CHALLENGE, made(replace(longest, id=b"i" * (LONGEST_ID + 1))))


@pytest.mark.parametrize(("bits", "is_taken"), [(2_048, True), (16_384, False)])
def test_keys_of_windows_are_taken_but_none_of_any_size(bits: int, is_taken: bool) -> None:
    """A long one would keep the server busy at each unlock."""
    number = (rsa.generate_private_key(65_537, 2_048).public_key().public_numbers().n << (bits - 2_048)) | 1
    key = cbor2.dumps({1: 3, 3: -257, -1: number.to_bytes(bits // 8, "big"), -2: b"\x01\x00\x01"})
    data = FINGER.data_with(key, PARTY.id)
    answer = with_attestation(made(FINGER), authData=data)
    if is_taken:
        assert verify_registration(PARTY, CHALLENGE, answer).public_key == key
        return
    with pytest.raises(Unverified):
        verify_registration(PARTY, CHALLENGE, answer)


@pytest.mark.parametrize(
    "key",
    [
        {1: 2, 3: -35, -1: 2, -2: b"x" * 48, -3: b"y" * 48},  # ES384, which was not offered.
        {1: 2, 3: -7, -1: 1, -2: b"x" * 32},
        {1: 3, 3: 5, -1: b"k" * 32},
        {},
    ],
    ids=["not offered", "half a point", "symmetric", "empty"],
)
def test_a_key_that_was_not_offered_is_refused(key: Json) -> None:
    with pytest.raises(Unverified):
        answer = with_attestation(made(FINGER), authData=FINGER.data_with(cbor2.dumps(key), PARTY.id))
        verify_registration(PARTY, CHALLENGE, answer)


@pytest.mark.parametrize("format_", ["packed", "tpm", "apple", "android-key", "android-safetynet", "fido-u2f", "x", 1])
def test_an_attestation_that_says_nothing_is_refused(format_: object) -> None:
    with pytest.raises(Unverified):
        verify_registration(PARTY, CHALLENGE, with_attestation(made(FINGER), fmt=format_))


@pytest.mark.parametrize("sent", [b"\x81" * 50_000, b"\x9f" * 50_000, b"\xbb" + b"\xff" * 8, b"\x5b" + b"\x7f" * 8])
def test_deep_and_endless_attestations_are_refused(sent: bytes) -> None:
    answer = made(FINGER)
    answer["response"]["attestationObject"] = encode(sent)
    with pytest.raises(Unverified):
        verify_registration(PARTY, CHALLENGE, answer)


@given(st.sampled_from(["id", "rawId", "type", "response", "authenticatorAttachment"]), JSON)
def test_whatever_stands_in_an_answer_it_is_verified_or_refused(name: str, value: object) -> None:
    for whole in (made(replace(FINGER)), answered(replace(FINGER))):
        _verified_or_refused(whole | {name: value})


@given(st.sampled_from(["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]), JSON)
def test_whatever_stands_in_a_response_it_is_verified_or_refused(name: str, value: object) -> None:
    for whole in (made(replace(FINGER)), answered(replace(FINGER))):
        _verified_or_refused(whole | {"response": whole["response"] | {name: value}})


def _verified_or_refused(answer: Json) -> None:
    with suppress(Unverified):
        assert verify_registration(PARTY, CHALLENGE, answer) == KNOWN
    with suppress(Unverified):
        assert verify_assertion(PARTY, CHALLENGE, answer, KNOWN) == 1


@given(st.integers(0, 400), st.integers(1, 255))
def test_no_bit_of_what_is_signed_may_differ(place: int, mask: int) -> None:
    answer = answered(replace(FINGER))
    for name in ("clientDataJSON", "authenticatorData", "signature"):
        sent = bytearray(base64url_to_bytes(answer["response"][name]))
        sent[place % len(sent)] ^= mask
        changed = answer | {"response": answer["response"] | {name: encode(bytes(sent))}}
        with pytest.raises(Unverified):
            verify_assertion(PARTY, CHALLENGE, changed, KNOWN)


def test_devices_and_users_have_handles_of_their_own() -> None:
    handles = {owner_handle(*who) for who in ((1, 2, "phone"), (1, 2, "tablet"), (1, 3, "phone"), (2, 2, "phone"))}
    assert len(handles) == 4
    assert {len(handle) for handle in handles} == {32}
