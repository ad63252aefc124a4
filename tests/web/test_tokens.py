"""Texts that the shop signs hold for their purpose and time, and links to receipts open the receipt of one payment of
one site."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.web import tokens
from app.web.tokens import Purpose, Signer, receipt_token, transaction_of_receipt
from tests.factories import WHEN

SIGNER, OTHER_SIGNER = Signer(b"k" * 32), Signer(b"o" * 32)
PURPOSES = [purpose for purpose in vars(tokens).values() if isinstance(purpose, Purpose)]
PAYMENT = str(uuid.UUID(int=7))


def test_each_purpose_has_a_salt_of_its_own() -> None:
    assert len({purpose.salt for purpose in PURPOSES}) == len(PURPOSES) == 14


@pytest.mark.parametrize("purpose", PURPOSES, ids=lambda purpose: purpose.salt)
def test_a_text_is_none_of_another_purpose_or_key(purpose: Purpose) -> None:
    text = SIGNER.sign(purpose, [1, "é"], WHEN)
    assert SIGNER.read(purpose, text, WHEN) == [1, "é"]
    assert OTHER_SIGNER.read(purpose, text, WHEN) is None
    assert not any(SIGNER.read(other, text, WHEN) for other in PURPOSES if other is not purpose)
    assert SIGNER.read_as_is(purpose, 1, text) is None


@pytest.mark.parametrize("purpose", PURPOSES, ids=lambda purpose: purpose.salt)
def test_a_text_ends_with_its_lifetime(purpose: Purpose) -> None:
    text, lifetime = SIGNER.sign(purpose, 1, WHEN), purpose.lifetime or timedelta(days=4_000)
    assert SIGNER.read(purpose, text, WHEN + lifetime - timedelta(seconds=1)) == 1
    assert SIGNER.read(purpose, text, WHEN + lifetime) == (None if purpose.lifetime else 1)


@given(st.text(max_size=400))
def test_no_other_text_is_read(text: str) -> None:
    assert all(SIGNER.read(purpose, text, WHEN) is None for purpose in PURPOSES)
    assert all(SIGNER.read_as_is(purpose, 1, text) is None for purpose in PURPOSES)


def test_a_link_names_its_payment() -> None:
    assert transaction_of_receipt(SIGNER, 1, receipt_token(SIGNER, 1, PAYMENT)) == PAYMENT


def test_another_site_key_or_payment_opens_nothing() -> None:
    token = receipt_token(SIGNER, 1, PAYMENT)
    signature = token.rpartition(".")[2]
    other = receipt_token(SIGNER, 1, str(uuid.UUID(int=8))).rpartition(".")[0]
    assert transaction_of_receipt(SIGNER, 2, token) is None
    assert transaction_of_receipt(OTHER_SIGNER, 1, token) is None
    assert transaction_of_receipt(SIGNER, 1, f"{other}.{signature}") is None
    assert transaction_of_receipt(SIGNER, 1, f"{uuid.UUID(int=8)}.{signature}") is None
    assert transaction_of_receipt(SIGNER, 1, token[:-1]) is None
    assert transaction_of_receipt(SIGNER, 1, token + "A") is None


@given(st.text(max_size=200))
def test_no_other_text_opens_anything(text: str) -> None:
    assert transaction_of_receipt(SIGNER, 1, text) is None
    assert transaction_of_receipt(SIGNER, 1, f"{PAYMENT}.{text}") is None


def test_a_link_stands_in_an_address_as_it_is() -> None:
    for number in range(200):
        token = receipt_token(SIGNER, number, PAYMENT)
        assert token.replace("-", "").replace("_", "").replace(".", "").isalnum() and len(token) < 70
