"""Any spent refresh token is known as one, and none can be guessed."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.sites.api_sessions import first_token, hash_token, next_token, session_id_in, token_age

KEY, OTHER_KEY = b"k" * 32, b"o" * 32
SESSION = "6f1c2c1e-0b1a-4c55-9d0f-2f4a4b9f5a11"


@given(steps=st.integers(0, 40), back=st.integers(0, 40))
def test_the_age_is_the_number_of_tokens_since(steps: int, back: int) -> None:
    chain = [first_token(SESSION)]
    for _ in range(steps):
        chain.append(next_token(KEY, chain[-1]))
    token = chain[max(0, steps - back)]
    assert token_age(KEY, token, hash_token(chain[-1]), 40) == min(back, steps)


@given(st.text(max_size=100))
def test_a_text_that_was_never_issued_has_no_age(text: str) -> None:
    current = next_token(KEY, first_token(SESSION))
    assert token_age(KEY, text, hash_token(current), 5) is None


def test_a_token_older_than_asked_for_has_no_age() -> None:
    old = first_token(SESSION)
    assert token_age(KEY, old, hash_token(next_token(KEY, next_token(KEY, old))), 1) is None


def test_without_the_key_nobody_makes_the_next_token() -> None:
    token = first_token(SESSION)
    assert next_token(OTHER_KEY, token) != next_token(KEY, token)
    assert next_token(KEY, token) == next_token(KEY, token)


def test_a_short_key_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        next_token(b"k" * 31, first_token(SESSION))


def test_every_token_names_its_session_and_differs() -> None:
    first, again = first_token(SESSION), first_token(SESSION)
    assert first != again
    assert session_id_in(first) == session_id_in(next_token(KEY, first)) == SESSION


@given(
    st.one_of(st.text(max_size=120), st.uuids().map(str), st.from_regex(r"[0-9a-f-]{36}\.[\w-]{43}\n?", fullmatch=True))
)
def test_what_has_not_the_form_of_a_token_names_no_session(text: str) -> None:
    found = session_id_in(text)
    assert found is None or str(uuid.UUID(found)) == found
