"""Links to receipts cannot be guessed, and open the receipt of one payment of one site."""

from __future__ import annotations

import uuid

from hypothesis import given
from hypothesis import strategies as st

from app.domain.pos.receipt_content import receipt_token, transaction_of_token

KEY, OTHER_KEY = b"k" * 32, b"o" * 32
PAYMENT = str(uuid.UUID(int=7))


def test_a_link_names_its_payment() -> None:
    assert transaction_of_token(KEY, 1, receipt_token(KEY, 1, PAYMENT)) == PAYMENT


def test_another_site_key_or_payment_opens_nothing() -> None:
    token = receipt_token(KEY, 1, PAYMENT)
    signature = token.rpartition(".")[2]
    assert transaction_of_token(KEY, 2, token) is None
    assert transaction_of_token(OTHER_KEY, 1, token) is None
    assert transaction_of_token(KEY, 1, f"{uuid.UUID(int=8)}.{signature}") is None
    assert transaction_of_token(KEY, 1, token[:-1]) is None and transaction_of_token(KEY, 1, token + "A") is None


@given(st.text(max_size=200))
def test_no_other_text_opens_anything(text: str) -> None:
    assert transaction_of_token(KEY, 1, text) is None
    assert transaction_of_token(KEY, 1, f"{PAYMENT}.{text}") is None


def test_a_link_stands_in_an_address_as_it_is() -> None:
    for number in range(200):
        token = receipt_token(KEY, number, PAYMENT)
        assert token.replace("-", "").replace("_", "").replace(".", "").isalnum() and len(token) < 70
